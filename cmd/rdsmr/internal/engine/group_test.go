// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// fakeRunner is a task that ends as told.
type fakeRunner struct {
	body func(ctx context.Context, stop <-chan struct{}) error
	end  error
}

func (f fakeRunner) run(ctx context.Context, stop <-chan struct{}) error { return f.body(ctx, stop) }
func (f fakeRunner) finish() error                                       { return f.end }

// TestGroupWait: what a user reads of tasks that do not end is what happened,
// what may be the reason, and what to try, and never the context's error.
func TestGroupWait(t *testing.T) {
	release := make(chan struct{})
	slow := func(ctx context.Context, _ <-chan struct{}) error { <-ctx.Done(); return ctx.Err() }
	hung := func(context.Context, <-chan struct{}) error { <-release; return nil }
	good := func(context.Context, <-chan struct{}) error { return nil }
	overdue := []string{"did not end within 3s", "too slow", "wedged", "--depth", "--drain-timeout"}
	for name, tt := range map[string]struct {
		tasks []runner
		want  []string // nothing: no error
		took  time.Duration
	}{
		"good":        {[]runner{fakeRunner{body: good}}, nil, 0},
		"slow":        {[]runner{fakeRunner{body: slow}, fakeRunner{body: good}}, append(overdue, "1 task(s)"), 3 * time.Second},
		"hung":        {[]runner{fakeRunner{body: hung}, fakeRunner{body: slow}}, append(overdue, "2 task(s)"), 8 * time.Second},
		"other error": {[]runner{fakeRunner{body: good, end: errors.New("broken")}}, []string{"broken"}, 0},
		"both":        {[]runner{fakeRunner{body: good, end: errors.New("broken")}, fakeRunner{body: slow}}, append(overdue, "broken"), 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release = make(chan struct{})
				defer close(release)
				start := time.Now()
				g := startGroup(t.Context(), nil, tt.tasks)
				err := g.wait(3 * time.Second)
				if (err != nil) != (tt.want != nil) || time.Since(start) != tt.took {
					t.Fatalf("%v after %v, want %q after %v", err, time.Since(start), tt.want, tt.took)
				}
				for _, w := range tt.want {
					if !strings.Contains(err.Error(), w) {
						t.Errorf("%q does not say %q", err, w)
					}
				}
				if err != nil && strings.Contains(err.Error(), "context") {
					t.Errorf("%q", err)
				}
			})
		})
	}
}
