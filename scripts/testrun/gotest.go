// SPDX-License-Identifier: MIT

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// event is a line of the output of go test -json; see go doc test2json.
type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Elapsed     float64
	Output      string
	FailedBuild string
}

// outputLimit is how many lines of one failed test are shown.
const outputLimit = 200

// goTests collects the events of a run.
type goTests struct {
	tally
	output   map[string]*strings.Builder
	outcome  map[string]string
	order    []string
	parents  map[string]bool
	hasFails map[string]bool
}

// parseGo counts the tests that have no subtests: a parent's outcome is that of
// its children, and would count them twice. A parent that fails by itself counts.
func parseGo(r io.Reader, progress func(string)) (tally, error) {
	g := goTests{
		output:   map[string]*strings.Builder{},
		outcome:  map[string]string{},
		parents:  map[string]bool{},
		hasFails: map[string]bool{},
	}
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, 16<<20)
	for scanner.Scan() {
		var e event
		if err := json.Unmarshal(scanner.Bytes(), &e); err != nil {
			// go itself speaks plain text, on what keeps it from running at all.
			g.write("go", scanner.Text()+"\n")
			continue
		}
		g.take(e, progress)
	}
	g.finish()
	return g.tally, scanner.Err()
}

func (g *goTests) write(key, text string) {
	b := g.output[key]
	if b == nil {
		b = &strings.Builder{}
		g.output[key] = b
	}
	b.WriteString(text)
}

func (g *goTests) take(e event, progress func(string)) {
	key := e.Package
	if e.Test != "" {
		key += " " + e.Test
	}
	switch e.Action {
	case "build-output":
		g.write(e.ImportPath, e.Output)
	case "output":
		g.write(key, e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			g.endPackage(e)
			return
		}
		g.outcome[key] = e.Action
		g.order = append(g.order, key)
		if parent := strings.LastIndexByte(key, '/'); parent > strings.IndexByte(key, ' ') {
			g.parents[key[:parent]] = true
			if e.Action == "fail" {
				g.hasFails[key[:parent]] = true
			}
		} else {
			progress(fmt.Sprintf("%s %s (%.1f s)", e.Action, e.Test, e.Elapsed))
		}
		if e.Action == "fail" {
			g.hasFails[e.Package] = true
		}
	}
}

// endPackage counts a package that failed without a failed test: one that does
// not build, or panicked, or ran out of time.
func (g *goTests) endPackage(e event) {
	if e.Action != "fail" || g.hasFails[e.Package] {
		return
	}
	text := g.text(e.Package)
	if e.FailedBuild != "" {
		text = g.text(e.FailedBuild) + text
	}
	g.fail(e.Package, "%s", text)
}

// finish turns outcomes into counts, once it is known which tests are parents.
func (g *goTests) finish() {
	for _, key := range g.order {
		outcome := g.outcome[key]
		if g.parents[key] && (outcome != "fail" || g.hasFails[key]) {
			continue
		}
		switch outcome {
		case "pass":
			g.passed++
		case "skip":
			g.skipped = append(g.skipped, key)
		case "fail":
			g.fail(key, "%s", g.text(key))
		}
	}
	if text := g.text("go"); text != "" && g.passed+len(g.failed) == 0 {
		g.fail("go test", "%s", text)
	}
}

func (g *goTests) text(key string) string {
	b := g.output[key]
	if b == nil {
		return ""
	}
	return lastLines(b.String(), outputLimit) + "\n"
}
