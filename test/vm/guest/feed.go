// SPDX-License-Identifier: MIT

package main

import (
	"sync"

	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// A feed is the queue of frames for one call. It has no bound: a command that
// does not read its input must not hold up the port for all the others.
type feed struct {
	mu     sync.Mutex
	cond   *sync.Cond
	frames []agent.Frame
	closed bool
}

func newFeed() *feed {
	f := new(feed)
	f.cond = sync.NewCond(&f.mu)
	return f
}

func (f *feed) put(fr agent.Frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frames = append(f.frames, fr)
	f.cond.Signal()
}

// close makes get return false once the queue is empty.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.cond.Broadcast()
}

func (f *feed) get() (agent.Frame, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.frames) == 0 {
		if f.closed {
			return agent.Frame{}, false
		}
		f.cond.Wait()
	}
	fr := f.frames[0]
	f.frames = f.frames[1:]
	return fr, true
}
