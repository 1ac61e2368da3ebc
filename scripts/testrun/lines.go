// SPDX-License-Identifier: MIT

package main

import (
	"bufio"
	"io"
	"strings"
)

// parseLines counts lines of the forms "ok NAME" and "PASS NAME", "not ok NAME"
// and "FAIL NAME". Other lines before a failed test belong to it.
func parseLines(r io.Reader, progress func(string)) (tally, error) {
	var t tally
	var before strings.Builder
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		line := scanner.Text()
		switch name, passed := outcome(line); {
		case name == "":
			before.WriteString(line + "\n")
			continue
		case passed:
			t.passed++
		default:
			t.fail(name, "%s", lastLines(before.String(), outputLimit))
		}
		progress(line)
		before.Reset()
	}
	return t, scanner.Err()
}

// outcome returns the name of the test that line is about, or "".
func outcome(line string) (name string, passed bool) {
	for _, prefix := range []string{"ok ", "PASS "} {
		if name, found := strings.CutPrefix(line, prefix); found {
			return name, true
		}
	}
	for _, prefix := range []string{"not ok ", "FAIL "} {
		if name, found := strings.CutPrefix(line, prefix); found {
			return name, false
		}
	}
	return "", false
}

// parseStatus takes the command for one test, which its exit status decides. Its
// output is its progress.
func parseStatus(r io.Reader, progress func(string)) (tally, error) {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		progress(scanner.Text())
	}
	return tally{whole: true}, scanner.Err()
}
