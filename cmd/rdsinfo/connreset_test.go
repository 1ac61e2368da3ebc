// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestConnReset(t *testing.T) {
	for _, tt := range []struct {
		args    string
		prepare func(*fakeControl)
		answer  func(string) (bool, error)
		code    int
		dropped []uint32
		want    string // in what is printed, on either channel
	}{
		{"1", nil, nil, exitOK, []uint32{1}, "reset: connection 1 192.0.2.1 -> 192.0.2.2 over ib tos 0\n"},
		{"8 1 --yes", nil, nil, exitOK, []uint32{8, 1}, "reset: connection 8"},
		{"--transport tcp", nil, nil, exitOK, []uint32{7}, "reset: connection 7"},
		{"--all --dry-run", nil, nil, exitOK, nil, "would-hit: connection 8"},
		{"--all", nil, yes, exitOK, []uint32{1, 2, 7, 8}, "reset: connection 8"},
		{"--all", nil, no, exitFailure, nil, "nothing was reset"},
		{"--all", nil, nobodyThere, exitUsage, nil, "would reset 4 connections; add --yes"},
		{"--all", nil, func(string) (bool, error) { return false, errors.New("torn cable") }, exitFailure, nil, "torn cable"},
		{"--all --yes", func(f *fakeControl) { f.gone = 2 }, nil, exitOK, []uint32{1, 7, 8}, "gone: connection 2"},
		{"--all --yes --json", func(f *fakeControl) { f.setErr = errors.New("broken") }, nil, exitFailure, nil, "broken"},
	} {
		f := newFake()
		if tt.prepare != nil {
			tt.prepare(f)
		}
		asked := false
		var out bytes.Buffer
		a := fakeApp(f, nil, &out, &out)
		a.ask = func(q string) (bool, error) {
			asked = true
			return tt.answer(q)
		}
		code := a.run(t.Context(), append([]string{"conn", "reset"}, strings.Fields(tt.args)...))
		if code != tt.code || !slices.Equal(f.dropped, tt.dropped) || !strings.Contains(out.String(), tt.want) {
			t.Errorf("conn reset %s: exit code %d, dropped %v, %q; want %d, %v, %q", tt.args, code, f.dropped, out.String(), tt.code, tt.dropped, tt.want)
		}
		if asked != (tt.answer != nil) {
			t.Errorf("conn reset %s: asked: %v", tt.args, asked)
		}
		if asked && !strings.Contains(out.String(), "PEER VERSION") {
			t.Errorf("conn reset %s: asks without showing what it is about: %q", tt.args, out.String())
		}
	}
}

func yes(string) (bool, error)         { return true, nil }
func no(string) (bool, error)          { return false, nil }
func nobodyThere(string) (bool, error) { return false, errNobody }

func TestConfirm(t *testing.T) {
	for in, want := range map[string]bool{
		"y\n": true, "YES\n": true, " yes \n": true, "yes": true,
		"n\n": false, "\n": false, "": false, "no\ny\n": false,
		"what?\ny\n": true, "what?\n": false,
	} {
		var out bytes.Buffer
		got, err := confirm("Sure?", strings.NewReader(in), &out)
		if got != want || err != nil {
			t.Errorf("%q: %v, %v; want %v", in, got, err, want)
		}
		if asks := 1 + strings.Count(in, "?"); strings.Count(out.String(), "Sure? [y/N] ") != asks {
			t.Errorf("%q: asks %q, want that %d times", in, out.String(), asks)
		}
	}
}

// A test has no terminal, nor has a script.
func TestAskNobody(t *testing.T) {
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	})
	var asked bytes.Buffer
	if _, err := askTerminal(in, &asked)("Sure?"); !errors.Is(err, errNobody) || asked.Len() != 0 {
		t.Errorf("%v, %q", err, asked.String())
	}
}
