// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/pattern"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/stats"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// task is what all four kinds of task have in common.
type task struct {
	conn     Conn
	peer     netip.AddrPort
	session  uint64
	index    int
	dir      uint64 // 0: requests of the side that opened the session; 1: of the other
	params   *wire.Params
	timing   *Timing
	counters *stats.Counters
	calls    *stats.Calls // of conn
	rd       *reader
}

// runner is a task that can be run. run returns when stop is closed and nothing
// is in flight, or with an error. finish then checks and releases what the task
// has; it is called once, also after an error, and not if run never returned.
type runner interface {
	run(ctx context.Context, stop <-chan struct{}) error
	finish() error
}

// smallMessage is more than any message between tasks needs, less payload.
const smallMessage = 512

// startReader runs the reader until the returned function is called.
func (t *task) startReader(ctx context.Context, size int) (stop func()) {
	t.rd = newReader(t.conn, t.peer, t.session, size, 4*t.params.Depth+64, t.counters)
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.rd.run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// stream returns the payload of an operation.
func (t *task) stream(op uint64) pattern.Stream {
	return pattern.Stream{Seed: t.params.Seed, Task: t.dir<<32 | uint64(t.index), Op: op}
}

// isRead says in which direction an operation goes; both sides must agree.
func isRead(m wire.Mode, op uint64) bool {
	return m == wire.ModeRead || (m == wire.ModeBoth && op%2 == 1)
}

// send sends with the patience that a task has. retry says that the message was
// not sent and should be sent again later; a non-nil error is final.
func (t *task) send(ctx context.Context, m rds.Message) (sent rds.Sent, retry bool, err error) {
	c, cancel := context.WithTimeout(ctx, sendPatience)
	defer cancel()
	m.To = t.peer
	sent, err = t.conn.Send(c, m)
	if err == nil {
		return sent, false, nil
	}
	if ctx.Err() != nil {
		return rds.Sent{}, false, ctx.Err()
	}
	return rds.Sent{}, errors.Is(err, context.DeadlineExceeded), err
}

// transient reports whether sendmsg may succeed later although it failed now: a
// registration on a connection that is just being torn down, or that found no
// memory or no free region.
func transient(err error) bool {
	for _, e := range []unix.Errno{
		unix.ENOMEM, unix.EBUSY, unix.EINVAL, unix.ENODEV, unix.EIO, unix.ENETUNREACH,
		unix.ENOTCONN, unix.ECONNRESET, unix.EAGAIN, unix.ENOBUFS,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// errPeerSilent says that the peer is gone.
func (t *task) errPeerSilent(what string, limit time.Duration, last error) error {
	err := fmt.Errorf("task %d: %s within %v: peer %v or its network is gone", t.index, what, limit, t.peer)
	if last != nil {
		err = fmt.Errorf("%w; last: %w", err, last)
	}
	return err
}

// errInFlight says that the end did not come.
func (t *task) errInFlight(n int) error {
	return fmt.Errorf("task %d did not finish within the drain time: %d operations were still in flight %v after the end: the peer or the connection is too slow or stuck (see --drain-timeout)", t.index, n, t.timing.Drain)
}

// never is a channel for a select case that is off.
var never <-chan time.Time
