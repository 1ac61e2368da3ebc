// SPDX-License-Identifier: MIT

package stats

import (
	"maps"
	"sync/atomic"
	"time"

	"github.com/rds-ext/rds_ext/gonl/rds"
)

// Calls counts the system calls of a socket. The zero value is ready; its
// methods can be called at any time.
type Calls struct {
	kinds   [16]kindCalls
	stopped atomic.Bool
}

type kindCalls struct {
	made atomic.Int64
	last atomic.Int64 // nanoseconds
}

// Note counts a call; it is the socket's rds.Config.OnCall.
func (c *Calls) Note(k rds.Call) {
	e := &c.kinds[k.Kind]
	e.last.Store(int64(k.Elapsed))
	if !c.stopped.Load() {
		e.made.Add(1)
	}
}

// Stop ends the counting: what follows is no part of the work.
func (c *Calls) Stop() { c.stopped.Store(true) }

// Last returns how long the last call of a kind took, 0 if there was none.
func (c *Calls) Last(k rds.CallKind) time.Duration {
	return time.Duration(c.kinds[k].last.Load())
}

// Snapshot returns how many calls of each kind were made, without the kinds of
// which there were none.
func (c *Calls) Snapshot() CallCounts {
	m := CallCounts{}
	for _, k := range rds.CallKinds() {
		if n := c.kinds[k].made.Load(); n > 0 {
			m[k.String()] = n
		}
	}
	return m
}

// CallCounts has numbers of system calls by the name of the call.
type CallCounts map[string]int64

// Add returns the sums of both.
func (c CallCounts) Add(o CallCounts) CallCounts {
	sum := maps.Clone(c)
	if sum == nil {
		sum = CallCounts{}
	}
	for k, n := range o {
		sum[k] += n
	}
	return sum
}

// Total returns the number of all calls.
func (c CallCounts) Total() (n int64) {
	for _, k := range c {
		n += k
	}
	return n
}
