// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestMRRevoke(t *testing.T) {
	for _, tt := range []struct {
		args    string
		prepare func(*fakeControl)
		answer  func(string) (bool, error)
		code    int
		revoked []uint32
		want    string // in what is printed, on either channel
	}{
		{"5", nil, nil, exitOK, []uint32{5}, "revoked: MR 5 of process 4711 oracle on rxe0, 8191 bytes"},
		// Of all, those that have come to their end are left alone.
		{"--all", nil, yes, exitOK, []uint32{5, 6}, "revoked: MR 6"},
		{"--all --yes", nil, nil, exitOK, []uint32{5, 6}, "revoked: MR 6"},
		{"--all", nil, no, exitFailure, nil, "nothing was revoked"},
		{"--all", nil, nobodyThere, exitUsage, nil, "would revoke 2 MRs; add --yes"},
		{"--all --dry-run", nil, nil, exitOK, nil, "would-hit: MR 6"},
		{"--rkey 0x0a12ff00", nil, nil, exitOK, []uint32{5}, "revoked: MR 5"},
		{"--rkey 169017089", nil, nil, exitPermission, nil, "R_Keys are shown to root"},
		{"--older-than 60s", nil, nil, exitOK, []uint32{5}, "revoked: MR 5"},
		{"--pid 4712", nil, nil, exitOK, []uint32{6}, "revoked: MR 6"},
		{"--state revoked", nil, nil, exitFailure, nil, "no MR matches"},
		{"--all --yes", func(f *fakeControl) { f.gone = 5 }, nil, exitOK, []uint32{6}, "gone: MR 5"},
		{"--all --yes", func(f *fakeControl) { f.setErr = errors.New("broken") }, nil, exitFailure, nil, "broken"},
		{"77", nil, nil, exitFailure, nil, "no such MR"},
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
		code := a.run(t.Context(), append([]string{"mr", "revoke"}, strings.Fields(tt.args)...))
		if code != tt.code || !slices.Equal(f.revoked, tt.revoked) || !strings.Contains(out.String(), tt.want) {
			t.Errorf("mr revoke %s: exit code %d, revoked %v, %q; want %d, %v, %q", tt.args, code, f.revoked, out.String(), tt.code, tt.revoked, tt.want)
		}
		if asked != (tt.answer != nil) {
			t.Errorf("mr revoke %s: asked: %v", tt.args, asked)
		}
	}
}
