// SPDX-License-Identifier: MIT

// Package stats counts what happens in a session and turns it into reports.
package stats

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/rds-ext/rds_ext/gonl/rds"
)

// Counters are the counts of one side of a session. All tasks of the side share
// them; reading them at any time is fine.
type Counters struct {
	Ops, Bytes           atomic.Int64 // finished requests of this side
	Reads, Writes        atomic.Int64 // the same by direction, RDMA only
	Served, ServedBytes  atomic.Int64 // requests of the peer answered by this side
	DataFailures         atomic.Int64 // payload differs
	GuardFailures        atomic.Int64 // bytes around a buffer overwritten
	Lost, Dup, Reordered atomic.Int64 // messages, mode msg
	Mapped, Held         atomic.Int64 // memory regions
	Aborted, Retried     atomic.Int64 // attempts that failed; attempts made again
	Stale                atomic.Int64 // answers and requests of attempts given up
	Stalls               atomic.Int64 // times a task gave up all its attempts
	Resets               atomic.Int64 // connection resets
	SendErrors           atomic.Int64 // sendmsg failed and was tried again
	Foreign              atomic.Int64 // messages of somebody else

	rdmaErrors [5]atomic.Int64 // by status

	mu    sync.Mutex
	first string
}

// RDMAError counts the completion of an operation that failed.
func (c *Counters) RDMAError(s rds.Status) {
	if s < 0 || int(s) >= len(c.rdmaErrors) {
		s = rds.StatusOtherError
	}
	c.rdmaErrors[s].Add(1)
}

// Failure counts a failed verification in n and keeps the text if it is the
// first: the later ones usually follow from it.
func (c *Counters) Failure(n *atomic.Int64, format string, args ...any) {
	n.Add(1)
	c.mu.Lock()
	if c.first == "" {
		c.first = fmt.Sprintf(format, args...)
	}
	c.mu.Unlock()
}

// VerifyFailures returns everything that verification found.
func (c *Counters) VerifyFailures() int64 {
	return c.DataFailures.Load() + c.GuardFailures.Load() + c.Lost.Load() + c.Dup.Load() + c.Reordered.Load()
}

// Result is a snapshot of Counters, as sent to the peer and printed.
type Result struct {
	Ops            int64            `json:"ops"`
	Bytes          int64            `json:"bytes"`
	Reads          int64            `json:"reads"`
	Writes         int64            `json:"writes"`
	Served         int64            `json:"served"`
	ServedBytes    int64            `json:"served_bytes"`
	VerifyFailures int64            `json:"verify_failures"`
	DataFailures   int64            `json:"data_failures"`
	GuardFailures  int64            `json:"guard_failures"`
	Lost           int64            `json:"lost"`
	Duplicated     int64            `json:"duplicated"`
	Reordered      int64            `json:"reordered"`
	MRsMapped      int64            `json:"mrs_mapped"`
	MRsHeld        int64            `json:"mrs_held"`
	Resets         int64            `json:"resets"`
	Aborted        int64            `json:"aborted"`
	Retried        int64            `json:"retried"`
	Stale          int64            `json:"stale"`
	Stalls         int64            `json:"stalls"`
	SendErrors     int64            `json:"send_errors"`
	Foreign        int64            `json:"foreign"`
	RDMAErrors     map[string]int64 `json:"rdma_errors,omitempty"`
	FirstFailure   string           `json:"first_failure,omitempty"`

	// Calls are the system calls that this side's tasks made on their sockets
	// while they had work to do; those of the Go runtime are not among them.
	Calls CallCounts `json:"calls,omitempty"`

	// Sent has the number of messages each task sent, mode msg: the receiver
	// finds out with it what was lost at the end.
	Sent []uint64 `json:"sent,omitempty"`
}

// Result takes the snapshot.
func (c *Counters) Result() Result {
	r := Result{
		Ops: c.Ops.Load(), Bytes: c.Bytes.Load(), Reads: c.Reads.Load(), Writes: c.Writes.Load(),
		Served: c.Served.Load(), ServedBytes: c.ServedBytes.Load(),
		VerifyFailures: c.VerifyFailures(), DataFailures: c.DataFailures.Load(), GuardFailures: c.GuardFailures.Load(),
		Lost: c.Lost.Load(), Duplicated: c.Dup.Load(), Reordered: c.Reordered.Load(),
		MRsMapped: c.Mapped.Load(), MRsHeld: c.Held.Load(), Resets: c.Resets.Load(),
		Aborted: c.Aborted.Load(), Retried: c.Retried.Load(), Stale: c.Stale.Load(), Stalls: c.Stalls.Load(),
		SendErrors: c.SendErrors.Load(), Foreign: c.Foreign.Load(),
	}
	for i := range c.rdmaErrors {
		if n := c.rdmaErrors[i].Load(); n > 0 {
			if r.RDMAErrors == nil {
				r.RDMAErrors = map[string]int64{}
			}
			r.RDMAErrors[rds.Status(i).String()] = n
		}
	}
	c.mu.Lock()
	r.FirstFailure = c.first
	c.mu.Unlock()
	return r
}
