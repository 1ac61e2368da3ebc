// SPDX-License-Identifier: MIT

package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rds-ext/rds_ext/test/vm"
)

// kunitModule has the tests of kmod/rds_ext/test/kunit in it.
const kunitModule = "rds_ext_kunit"

// kunitCase matches a case in the source of a suite, and kunitSuite its name.
var (
	kunitCase  = regexp.MustCompile(`(?m)^\tKUNIT_CASE\((\w+)\),$`)
	kunitSuite = regexp.MustCompile(`(?m)^\t\.name = "(\w+)",$`)
)

// kunitSources returns the cases that the sources have, as "suite.case".
func kunitSources(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("../../../kmod/rds_ext/test/kunit/*_test.c")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources of KUnit tests: %v", err)
	}
	cases := map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		name := kunitSuite.FindSubmatch(text)
		list := kunitCase.FindAllSubmatch(text, -1)
		if name == nil || len(list) == 0 {
			t.Fatalf("%s: no suite or no cases in it", f)
		}
		for _, c := range list {
			cases[fmt.Sprintf("%s.%s", name[1], c[1])] = true
		}
	}
	return cases
}

// A kunitResult is what became of one case, with what was said about it.
type kunitResult struct {
	name string // suite.case
	ok   bool
	skip bool
	text []string
}

var (
	ktapSuite = regexp.MustCompile(`^ *# Subtest: (\w+)$`)
	ktapPlan  = regexp.MustCompile(`^ +1\.\.(\d+)$`)
	ktapCase  = regexp.MustCompile(`^ +(not )?ok \d+ (?:- )?(\w+)( # SKIP.*)?$`)
	ktapEnd   = regexp.MustCompile(`^(not )?ok \d+ (?:- )?(\w+)( # SKIP.*)?$`)
)

// parseKTAP reads the results of suites out of a kernel's log, whose other
// messages may stand in between. A suite that does not end, or that had another
// number of cases than it had announced, is an error.
func parseKTAP(lines []string) ([]kunitResult, error) {
	var results []kunitResult
	var text []string
	suite, plan, seen := "", 0, 0
	for _, line := range lines {
		if m := ktapSuite.FindStringSubmatch(line); m != nil {
			if suite != "" {
				return results, fmt.Errorf("suite %s does not end", suite)
			}
			suite, plan, seen, text = m[1], -1, 0, nil
			continue
		}
		if suite == "" {
			continue
		}
		if m := ktapPlan.FindStringSubmatch(line); m != nil && plan < 0 {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				return results, err
			}
			plan = n
			continue
		}
		if m := ktapCase.FindStringSubmatch(line); m != nil {
			results = append(results, kunitResult{name: suite + "." + m[2], ok: m[1] == "", skip: m[3] != "", text: text})
			seen++
			text = nil
			continue
		}
		if m := ktapEnd.FindStringSubmatch(line); m != nil && m[2] == suite {
			if seen != plan {
				return results, fmt.Errorf("suite %s: %d cases of %d", suite, seen, plan)
			}
			suite = ""
			continue
		}
		text = append(text, line)
	}
	if suite != "" {
		return results, fmt.Errorf("suite %s does not end", suite)
	}
	return results, nil
}

// The results are told from the rest of the log, and what is missing is noticed.
func TestParseKTAP(t *testing.T) {
	log := strings.Split(`rdma_rxe: loaded
KTAP version 1
1..2
    KTAP version 1
    # Subtest: one
    1..3
    ok 1 good
infiniband rxe0: something
    # bad: EXPECTATION FAILED at x.c:1
    not ok 2 bad
    ok 3 passed_over # SKIP no device
# one: pass:1 fail:1 skip:1 total:3
not ok 1 one
    # Subtest: two
    1..1
    ok 1 - good
ok 2 - two`, "\n")
	got, err := parseKTAP(log)
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, r := range got {
		text = append(text, fmt.Sprintf("%s %v %v", r.name, r.ok, r.skip))
	}
	want := "one.good true false, one.bad false false, one.passed_over true true, two.good true false"
	if s := strings.Join(text, ", "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
	if len(got[1].text) != 2 {
		t.Errorf("what was said about a failure: %q", got[1].text)
	}
	for _, cut := range []int{6, 10, 12, len(log) - 1} {
		if _, err := parseKTAP(log[:cut]); err == nil {
			t.Errorf("the first %d lines have no end, and that is no error", cut)
		}
	}
	short := append(append([]string{}, log[:9]...), log[10:]...)
	if _, err := parseKTAP(short); err == nil {
		t.Error("a case is missing, and that is no error")
	}
}

// The engine's own files pass their tests inside a kernel, on a soft RoCE device
// that fails on demand: each case that there is in the sources, and no fewer.
func TestKUnit(t *testing.T) {
	if config.Kernel != "debug" {
		t.Skip("only the kernel that checks itself has KUnit: -kernel debug")
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	cfg := *config
	cfg.Modules = []string{"kunit"}
	env := vm.New(t, cfg)
	nodes, err := env.Boot(ctx, vm.Spec{Name: "a", CPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{T: t, ctx: ctx, env: env, a: nodes[0]}
	if err := p.a.Load(ctx, vm.Module{Name: kunitModule, From: vm.Ours}); err != nil {
		t.Fatal(err)
	}
	missing := kunitSources(t)
	// They have run by now. What they print takes its time to get to the log.
	var results []kunitResult
	p.eventually("the results are in the log", func() (bool, string) {
		text, err := os.ReadFile(p.a.ConsoleLog())
		if err != nil {
			t.Fatal(err)
		}
		results, err = parseKTAP(consoleLines(string(text)))
		return err == nil && len(results) >= len(missing), fmt.Sprintf("%d of %d cases, %v", len(results), len(missing), err)
	})
	for _, r := range results {
		if !missing[r.name] {
			t.Errorf("%s: not in the sources, or run twice", r.name)
		}
		delete(missing, r.name)
		t.Run(r.name, func(t *testing.T) {
			switch {
			case r.skip:
				t.Error("it was skipped")
			case !r.ok:
				t.Errorf("it failed:\n%s", strings.Join(r.text, "\n"))
			}
		})
	}
	for name := range missing {
		t.Errorf("%s: it did not run", name)
	}
	if err := p.a.Unload(ctx, kunitModule); err != nil {
		t.Error(err)
	}
}

// printkTime is in front of each line in the log of a kernel's console: when it
// came, and when the kernel says that it printed it.
var printkTime = regexp.MustCompile(`^ *\d+\.\d+ \[ *\d+\.\d+\](?:\[ *[TC]\d+\])? `)

// consoleLines returns the lines of a kernel's console as they were printed.
func consoleLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		lines = append(lines, line[len(printkTime.FindString(line)):])
	}
	return lines
}
