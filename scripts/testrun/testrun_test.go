// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

func noProgress(string) {}

func parse(t *testing.T, p parser, text string) tally {
	t.Helper()
	got, err := p(strings.NewReader(text), noProgress)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func failures(t tally) string {
	var names []string
	for _, f := range t.failed {
		names = append(names, f.name)
	}
	return strings.Join(names, ",")
}

func TestParseGo(t *testing.T) {
	tests := []struct {
		name, text      string
		passed, skipped int
		failed, output  string
	}{{
		name: "leaves are counted, parents are not",
		text: `{"Action":"pass","Package":"p","Test":"A/x"}
{"Action":"pass","Package":"p","Test":"A/y"}
{"Action":"pass","Package":"p","Test":"A"}
{"Action":"skip","Package":"p","Test":"B"}
{"Action":"pass","Package":"p"}`,
		passed: 2, skipped: 1,
	}, {
		name: "a failed leaf counts once and brings its output",
		text: `{"Action":"output","Package":"p","Test":"A/x","Output":"why\n"}
{"Action":"fail","Package":"p","Test":"A/x"}
{"Action":"pass","Package":"p","Test":"A/y"}
{"Action":"fail","Package":"p","Test":"A"}
{"Action":"fail","Package":"p"}`,
		passed: 1, failed: "p A/x", output: "why",
	}, {
		name: "a parent that fails by itself counts",
		text: `{"Action":"pass","Package":"p","Test":"A/x"}
{"Action":"output","Package":"p","Test":"A","Output":"leak\n"}
{"Action":"fail","Package":"p","Test":"A"}
{"Action":"fail","Package":"p"}`,
		passed: 1, failed: "p A", output: "leak",
	}, {
		name: "a package that does not build",
		text: `{"Action":"build-output","ImportPath":"p [p.test]","Output":"undefined: x\n"}
{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}`,
		failed: "p", output: "undefined: x",
	}, {
		name: "a test that never ended",
		text: `{"Action":"run","Package":"p","Test":"A"}
{"Action":"output","Package":"p","Output":"panic: timed out\n"}
{"Action":"fail","Package":"p"}`,
		failed: "p", output: "timed out",
	}, {
		name:   "the same name in two packages",
		text:   `{"Action":"pass","Package":"p","Test":"A"}` + "\n" + `{"Action":"pass","Package":"q/r","Test":"A"}`,
		passed: 2,
	}, {
		name:   "go speaks plain text",
		text:   "no required module provides package",
		failed: "go test", output: "no required module",
	}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := parse(t, parseGo, test.text)
			if got.passed != test.passed || len(got.skipped) != test.skipped || failures(got) != test.failed {
				t.Fatalf("got %d passed, %d skipped, failed %q", got.passed, len(got.skipped), failures(got))
			}
			if test.failed != "" && !strings.Contains(got.failed[0].output, test.output) {
				t.Errorf("output %q lacks %q", got.failed[0].output, test.output)
			}
		})
	}
}

func TestParseLines(t *testing.T) {
	got := parse(t, parseLines, "ok one\nPASS two\nreason\nnot ok three\nFAIL four\n4 passed, 2 failed\n")
	if got.passed != 2 || failures(got) != "three,four" {
		t.Fatalf("got %d passed, failed %q", got.passed, failures(got))
	}
	if got.failed[0].output != "reason" || got.failed[1].output != "" {
		t.Errorf("outputs %q and %q", got.failed[0].output, got.failed[1].output)
	}
}

// TestStep runs real commands: each way to fail must be seen, whatever the
// command itself says.
func TestStep(t *testing.T) {
	tests := []struct {
		name, script string
		parse        parser
		limit        time.Duration
		passed       int
		failed       string
	}{
		{"passes", "echo ok a", parseLines, time.Minute, 1, ""},
		{"fails", "echo ok a; echo not ok b; exit 1", parseLines, time.Minute, 1, "b"},
		{"fails in spite of its status", "echo not ok b", parseLines, time.Minute, 0, "b,step"},
		{"no test", "true", parseLines, time.Minute, 0, "step"},
		{"status only", "true", parseStatus, time.Minute, 1, ""},
		{"bad status only", "exit 3", parseStatus, time.Minute, 0, "step"},
		{"bad status behind passes", "echo ok a; exit 3", parseLines, time.Minute, 1, "step"},
		{"no such command", "", parseStatus, time.Minute, 0, "step"},
		{"too slow, with a child", "echo ok a; sleep 600 & wait", parseLines, 200 * time.Millisecond, 1, "step"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := step{name: "step", parse: test.parse, limit: test.limit,
				argv: []string{"sh", "-c", test.script}}
			if test.script == "" {
				s.argv = []string{"/nonexistent/command"}
			}
			var out bytes.Buffer
			r := s.run(context.Background(), t.TempDir(), &out)
			if r.passed != test.passed || failures(r.tally) != test.failed {
				t.Fatalf("got %d passed, failed %q\n%s", r.passed, failures(r.tally), out.String())
			}
		})
	}
}

func TestSummarize(t *testing.T) {
	good := result{name: "a", tally: tally{passed: 2}}
	bad := result{name: "b", tally: tally{failed: []failure{{name: "x"}}}}
	tests := []struct {
		name    string
		results []result
		ok      bool
		last    string
	}{
		{"all passed", []result{good}, true, "2 passed, 0 failed"},
		{"one failed", []result{good, bad}, false, "2 passed, 1 failed"},
		{"nothing ran", nil, false, "0 passed, 0 failed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			if ok := summarize(&out, test.results); ok != test.ok {
				t.Errorf("summarize = %v", ok)
			}
			if !strings.HasSuffix(out.String(), "\n"+test.last+"\n") {
				t.Errorf("last line of %q is not %q", out.String(), test.last)
			}
		})
	}
}
