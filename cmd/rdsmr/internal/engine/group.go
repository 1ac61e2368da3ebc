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
	cut     int   // tasks that ended only because they were cancelled
}

// errCut stands for the context's own error, which says nothing to a user.
var errCut = errors.New("a task was stopped before it had finished")

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
			if errors.Is(err, context.Canceled) {
				err = errCut
			}
			g.results <- taskResult{i, errors.Join(err, r.finish())}
		}()
	}
	return g
}

// take notes a result that was received from results.
func (g *group) take(r taskResult) error {
	g.done[r.index] = true
	g.left--
	if errors.Is(r.err, errCut) {
		g.cut++
	}
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
// error of any. Tasks that had to be cancelled are an error of their own, since
// neither a slow machine nor a wedged connection makes a task fail by itself.
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
				return g.overdue(limit)
			}
			killed = true
			t.Reset(killPatience)
		}
	}
	g.cancel()
	if killed && g.cut > 0 {
		return g.overdue(limit)
	}
	return g.err
}

// overdue is the error of wait when tasks did not end by themselves in time.
func (g *group) overdue(limit time.Duration) error {
	err := fmt.Errorf("%d task(s) did not end within %v: either this machine or the peer is too slow for this size, depth and number of tasks "+
		"(try a smaller --depth or --tasks, or a longer --drain-timeout), or the RDS connection is wedged (look for hung tasks in the kernel log)", g.left+g.cut, limit)
	if g.err == nil || errors.Is(g.err, errCut) {
		return err
	}
	return errors.Join(g.err, err)
}
