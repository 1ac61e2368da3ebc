// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rds-ext/rds_ext/gonl"
)

// looks is an output that ends the watch at the given number of writes.
type looks struct {
	bytes.Buffer
	left   int
	cancel func()
}

func (l *looks) Write(b []byte) (int, error) {
	if l.left--; l.left == 0 {
		l.cancel()
	}
	return l.Buffer.Write(b)
}

func watched(t *testing.T, f *fakeControl, args string) (code int, out, errs string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := &looks{left: 3, cancel: cancel}
	var stderr strings.Builder
	code = fakeApp(f, newFakeInfo(), l, &stderr).run(ctx, strings.Fields(args))
	return code, l.String(), stderr.String()
}

func TestWatch(t *testing.T) {
	for _, args := range []string{
		"conn --watch=100ms", "mr -w=100ms", "pool --watch=100ms", "exthdr --watch=100ms",
		"sock --watch=100ms", "queue --watch=100ms", "stats --watch=100ms",
	} {
		code, out, errs := watched(t, newFake(), args)
		if code != exitOK || errs != "" || strings.Count(out, ", every 100ms\n\n") != 3 || strings.Contains(out, clearScreen) {
			t.Errorf("%s: exit code %d, %q, %q", args, code, errs, out)
		}
		code, out, errs = watched(t, newFake(), args+" --json")
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if code != exitOK || errs != "" || len(lines) != 3 {
			t.Fatalf("%s --json: exit code %d, %q, %q", args, code, errs, out)
		}
		for _, line := range lines {
			var v watchView
			if err := json.Unmarshal([]byte(line), &v); err != nil || v.Time.IsZero() || len(v.Data) < 10 {
				t.Errorf("%s --json: %v: %q", args, err, line)
			}
		}
	}
}

// A list that keeps changing is shown, and what is missing said; anything else
// ends the watch.
func TestWatchErrors(t *testing.T) {
	f := newFake()
	f.err = fmt.Errorf("changing: %w", gonl.ErrPartial)
	code, out, errs := watched(t, f, "conn --watch=100ms")
	if code != exitOK || strings.Count(errs, "rdsinfo: changing") != 3 || strings.Count(out, "PEER VERSION") != 3 {
		t.Errorf("exit code %d, %q, %q", code, errs, out)
	}
	f.err = errors.New("broken")
	code, out, errs = watched(t, f, "conn --watch=100ms")
	if code != exitFailure || errs != "rdsinfo: broken\n" || out != "" {
		t.Errorf("exit code %d, %q, %q", code, errs, out)
	}
}
