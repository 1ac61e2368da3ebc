// SPDX-License-Identifier: MIT

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rds-ext/rds_ext/test/vm"
)

func TestPrefixer(t *testing.T) {
	var out strings.Builder
	p := &prefixer{w: &out, prefix: "a| "}
	for _, s := range []string{"one\ntw", "o\nthree\n", "rest"} {
		if n, err := p.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	if err := p.flush(); err != nil {
		t.Fatal(err)
	}
	if want := "a| one\na| two\na| three\na| rest\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestScript(t *testing.T) {
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte("a: x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{file}, {"a: x"}, {"a: x", "b: y"}} {
		sc, err := script(args)
		if err != nil {
			t.Fatal(err)
		}
		if !sc.Scan() || sc.Text() != "a: x" {
			t.Errorf("%q: first line %q", args, sc.Text())
		}
	}
	if _, err := script([]string{file + "-missing"}); err == nil {
		t.Error("a script that is not there: no error")
	}
}

func TestBadLines(t *testing.T) {
	r := &runner{nodes: map[string]*vm.Node{"a": nil}, background: make(map[string]*vm.Cmd), out: &strings.Builder{}}
	for line, want := range map[string]string{
		"c: x": `no node "c"`, "a:": "no command", "nonsense x": "neither", "wait a": "usage: wait NODE REGEXP",
		"wait a x": "no background command", "ping a c": `no node "c"`, "sleep x": "x", "drop a": "usage: drop", "get c x y": `no node "c"`,
	} {
		if err := r.line(t.Context(), line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
	for _, line := range []string{"", "  # comment"} {
		if err := r.line(t.Context(), line); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestModuleSet(t *testing.T) {
	for _, name := range []string{"stock", "patched", "ours", "none"} {
		if _, err := moduleSet(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := moduleSet("other"); err == nil {
		t.Error("unknown set: no error")
	}
}
