// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"fmt"
	"time"
)

// check looks whether answers are overdue.
func (r *requester) check(ctx context.Context, now time.Time) error {
	if len(r.flying) == 0 && len(r.waiting) == 0 {
		r.lastDone, r.lastAnswer = now, now
		return nil
	}
	limit := r.timing.Peer
	if !r.anyDone {
		limit = r.timing.Connect // what never worked is no outage
	}
	if now.Sub(r.lastDone) > limit {
		return r.errPeerSilent("no operation succeeded", limit, r.lastErr)
	}
	if len(r.flying) == 0 {
		return nil
	}
	// The link's state is some 100 ms old: what was sent meanwhile may well be
	// on its way over a connection that is up again.
	quiet := now.Sub(r.lastAnswer)
	down := r.link.downSince()
	switch {
	case quiet > r.timing.Stall:
	case down.IsZero() || down.Equal(r.handled) || min(quiet, now.Sub(down)) <= r.timing.Down:
		return nil
	}
	r.handled = down
	return r.recover(ctx, now)
}

// recover gives up every try in flight. Requests that have not reached the peer
// are taken out of the kernel's queues, those that have are declared void, and
// their regions are taken back, so nothing can touch a buffer that is reused.
func (r *requester) recover(ctx context.Context, now time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.counters.Stalls.Add(1)
	r.lastAnswer = now
	if err := r.conn.CancelSentTo(r.peer); err != nil {
		return fmt.Errorf("task %d: %w", r.index, err)
	}
	if err := r.giveUp(r.nextTry); err != nil {
		return err
	}
	r.resync = true
	r.recovered = time.Now()
	return nil
}

// giveUp ends the tries in flight that are older than one; their operations are tried
// again.
func (r *requester) giveUp(before uint32) error {
	for try, s := range r.flying {
		if try >= before {
			continue
		}
		delete(r.flying, try)
		if err := r.again(s); err != nil {
			return err
		}
	}
	return nil
}
