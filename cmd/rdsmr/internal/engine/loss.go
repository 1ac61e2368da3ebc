// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
)

// loss is how an answerer deals with a connection that was lost. RDS drops each
// RDMA message that was on its way then, and says so, most of the time; but those
// that had not been transmitted yet it keeps, and transmits them over the next
// connection. By then the requester may have taken its memory back, and an access
// to memory that is gone costs that connection, too: one for each message.
//
// So what is queued is cancelled while the connection is down, and nothing new is
// sent. When it is up again the requester is told which tries all that was the end
// of. This comes behind everything that was sent before, so that a try whose answer
// has arrived is none of them. Tries made over the new connection are none, either:
// their memory need not be registered again.
type loss struct {
	handled int64     // losses of the link that were dealt with
	open    bool      // the connection is down, and nothing may leave
	from    time.Time // when that was found: what had come by then is void
	since   time.Time // when the queue had been emptied
	void    uint32    // while open, tries below this one are void
	below   uint32    // to be told: tries below this one are void; 0 for nothing
}

// watch looks whether the connection was lost, or is back.
func (a *answerer) watch() error {
	if n := a.link.losses(); n != a.loss.handled {
		a.loss.handled = n
		switch {
		case a.loss.open:
		case a.link.downSince().IsZero():
			a.void(a.pending())
		default:
			a.loss.open, a.loss.from, a.loss.void = true, time.Now(), a.maxTry+1
			if err := a.conn.CancelSentTo(a.peer); err != nil {
				return fmt.Errorf("task %d: %w", a.index, err)
			}
			a.loss.since = time.Now()
		}
	}
	// Buffers of what was cancelled may be written to until the queue pair of the
	// old connection is gone, which it is once the next one is up.
	if a.loss.open && a.link.upSince(a.loss.since) {
		a.loss.open = false
		a.reclaim()
		a.void(a.loss.void)
	}
	return nil
}

// reclaim takes the buffers back of what the kernel has not told the end of, and may
// never tell.
func (a *answerer) reclaim() {
	for token, j := range a.active {
		delete(a.active, token)
		a.free = append(a.free, j.buf)
		a.counters.Aborted.Add(1)
	}
}

// came notes a request that was received at some time.
func (a *answerer) came(try uint32, at time.Time) {
	a.maxTry = max(a.maxTry, try)
	if a.loss.open && !at.After(a.loss.from) {
		a.loss.void = max(a.loss.void, try+1)
	}
}

// pending returns the oldest try that is still to be answered, or that the kernel
// has not told the end of. Those before it were answered, in messages that a loss may
// have taken: RDS tells of the RDMA, and not whether the message behind it arrived.
func (a *answerer) pending() uint32 {
	try := a.maxTry + 1
	for _, j := range a.queue {
		try = min(try, j.hdr.Try)
	}
	for _, j := range a.active {
		try = min(try, j.hdr.Try)
	}
	return try
}

// void gives up the tries below one.
func (a *answerer) void(below uint32) {
	a.minTry = max(a.minTry, below)
	a.failed = slices.DeleteFunc(a.failed, func(f failure) bool { return f.hdr.Try < below })
	if below > 1 { // 1 is the first
		a.loss.below = max(a.loss.below, below)
	}
}

// reportLoss tells the requester what was void, if there is something to tell.
func (a *answerer) reportLoss(ctx context.Context) (blocked bool, err error) {
	if a.loss.below == 0 {
		return false, nil
	}
	h := wire.Header{Type: wire.Resync, Session: a.session, Try: a.loss.below}
	if blocked, err = a.tell(ctx, h, "the RDS connection was lost"); blocked || err != nil {
		return blocked, err
	}
	a.loss.below = 0
	return false, nil
}
