// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// group is a set of running tasks.
type group struct {
	cancel  context.CancelFunc
	results chan taskResult
	done    []bool
	left    int
	err     error // the first
}

type taskResult struct {
	index int
	err   error
}

// startGroup runs each runner and then its finish.
func startGroup(ctx context.Context, stop <-chan struct{}, rs []runner) *group {
	ctx, cancel := context.WithCancel(ctx)
	g := &group{cancel: cancel, results: make(chan taskResult, len(rs)), done: make([]bool, len(rs)), left: len(rs)}
	for i, r := range rs {
		go func() {
			err := r.run(ctx, stop)
			g.results <- taskResult{i, errors.Join(err, r.finish())}
		}()
	}
	return g
}

// take notes a result that was received from results.
func (g *group) take(r taskResult) error {
	g.done[r.index] = true
	g.left--
	if g.err == nil && r.err != nil {
		g.err = r.err
	}
	return r.err
}

// ended reports whether a task has ended, so that its data may be read.
func (g *group) ended(i int) bool { return g.done[i] }

// killPatience is for tasks whose context was cancelled. Only a system call
// that does not return can take longer.
const killPatience = 5 * time.Second

// wait waits for all tasks, cancels them after limit, and returns the first
// error of any.
func (g *group) wait(limit time.Duration) error {
	t := time.NewTimer(limit)
	defer t.Stop()
	killed := false
	for g.left > 0 {
		select {
		case r := <-g.results:
			// Keeps the first error; others follow from it.
			_ = g.take(r)
		case <-t.C:
			g.cancel()
			if killed {
				return errors.Join(g.err, fmt.Errorf("%d task(s) hang in the kernel: the RDS connection may be wedged, see the kernel log", g.left))
			}
			killed = true
			t.Reset(killPatience)
		}
	}
	g.cancel()
	return g.err
}
