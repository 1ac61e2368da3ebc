// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/pattern"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/stats"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// requester registers memory, asks the peer to access it, and checks it.
type requester struct {
	task
	source       *source
	link         *link
	registration Registration

	slots   []*slot
	free    []*slot          // no operation
	waiting []*slot          // an operation that has to be sent (again)
	flying  map[uint32]*slot // sent, by try
	ledger  *ledger
	nextOp  uint64
	nextTry uint32
	resync  bool // the peer must hear that older tries are void
	msg     []byte

	lastDone   time.Time // last success
	anyDone    bool
	lastAnswer time.Time // last answer of any kind
	handled    time.Time // start of the down time that was recovered from
	recovered  time.Time // last recovery
	lastErr    error

	times stats.Times
}

// slot is a buffer and the operation on it.
type slot struct {
	buf        *rds.Buffer
	op         uint64
	try        uint32
	cookie     rds.Cookie
	registered bool      // by GET_MR: cookie is good, whatever becomes of the request
	start      time.Time // of the first try
}

func (s *slot) segment() rds.Segment { return rds.Segment{Buffer: s.buf, Length: s.buf.Len()} }

func newRequester(t task, src *source, l *link, g Registration) (*requester, error) {
	r := &requester{
		task: t, source: src, link: l, registration: g,
		flying: map[uint32]*slot{}, ledger: newLedger(t.conn, t.counters),
		times: stats.NewTimes(), nextTry: 1,
	}
	for range t.params.Depth {
		b, err := rds.NewBuffer(t.params.Size)
		if err != nil {
			return nil, errors.Join(err, r.closeBuffers())
		}
		s := &slot{buf: b}
		r.slots = append(r.slots, s)
		r.free = append(r.free, s)
	}
	return r, nil
}

func (r *requester) run(ctx context.Context, stop <-chan struct{}) error {
	stopReader := r.startReader(ctx, smallMessage)
	defer r.calls.Stop()
	defer stopReader()
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	now := time.Now()
	r.lastDone, r.lastAnswer = now, now
	drain := never
	for {
		if stop != nil {
			r.start()
		}
		blocked, err := r.sendWaiting(ctx)
		if err != nil {
			return err
		}
		if stop == nil && len(r.flying) == 0 && len(r.waiting) == 0 {
			return nil
		}
		again := never
		if blocked {
			again = time.After(5 * time.Millisecond)
		}
		select {
		case ev := <-r.rd.events:
			err = r.handleAll(ev)
		case <-ticks.C:
			err = r.check(ctx, time.Now())
		case <-again:
		case <-stop:
			stop = nil
			drain = time.After(r.timing.Drain)
		case <-drain:
			err = r.errInFlight(len(r.flying) + len(r.waiting))
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// start puts new operations on free slots.
func (r *requester) start() {
	for len(r.free) > 0 && r.source.take() {
		s := r.free[len(r.free)-1]
		r.free = r.free[:len(r.free)-1]
		s.op, s.start = r.nextOp, time.Time{}
		r.nextOp++
		r.waiting = append(r.waiting, s)
	}
}

// sendWaiting sends requests until one cannot be sent now.
func (r *requester) sendWaiting(ctx context.Context) (blocked bool, err error) {
	for len(r.waiting) > 0 {
		if blocked, err = r.sendResync(ctx); blocked || err != nil {
			return blocked, err
		}
		// Linux can crash when memory is registered at the moment at which a
		// connection is torn down, and letting go of our regions is what lets
		// it be torn down: do not register before it is up again.
		if !r.link.upSince(r.recovered) {
			return true, nil
		}
		s := r.waiting[0]
		if blocked, err = r.sendRequest(ctx, s); blocked || err != nil {
			return blocked, err
		}
		r.waiting = r.waiting[1:]
	}
	return false, nil
}

// sendRequest makes one try of an operation.
func (r *requester) sendRequest(ctx context.Context, s *slot) (blocked bool, err error) {
	if s.start.IsZero() {
		s.start = time.Now()
	}
	if !s.registered {
		r.prepare(s)
		if r.registration.GetMR {
			if err := r.getMR(s); err != nil {
				return r.sendFailed(ctx, false, err)
			}
		}
	}
	h := wire.Header{Type: wire.Request, Session: r.session, Op: s.op, Try: r.nextTry, Length: uint32(s.buf.Len())}
	if isRead(r.params.Mode, s.op) {
		h.Flags |= wire.FlagRead
	}
	r.msg = h.Append(r.msg[:0])
	sent, retry, err := r.send(ctx, r.message(s))
	if err != nil {
		return r.sendFailed(ctx, retry, err)
	}
	if !s.registered {
		s.cookie = sent.Cookie
		r.ledger.mapped(s.cookie)
	}
	s.try = r.nextTry
	r.nextTry++
	if len(r.flying) == 0 {
		r.lastAnswer = time.Now() // nobody owed an answer before
	}
	r.flying[s.try] = s
	r.times.Sendmsg.Record(sent.Elapsed)
	return false, nil
}

// sendFailed decides whether a send is worth another attempt. check ends it
// when there has been no success for too long.
func (r *requester) sendFailed(ctx context.Context, retry bool, err error) (blocked bool, _ error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if retry || transient(err) {
		if !retry {
			r.counters.SendErrors.Add(1)
		}
		r.lastErr = err
		return true, nil
	}
	return false, err
}

func (r *requester) sendResync(ctx context.Context) (blocked bool, err error) {
	if !r.resync {
		return false, nil
	}
	r.msg = wire.Header{Type: wire.Resync, Session: r.session, Try: r.nextTry}.Append(r.msg[:0])
	if _, retry, err := r.send(ctx, rds.Message{Payload: r.msg}); err != nil {
		return r.sendFailed(ctx, retry, err)
	}
	r.resync = false
	return false, nil
}

// prepare fills the buffer: with the payload if the peer reads it, else with
// what cannot be mistaken for the payload.
func (r *requester) prepare(s *slot) {
	if isRead(r.params.Mode, s.op) {
		pattern.Fill(s.buf.Bytes(), r.stream(s.op))
	} else {
		pattern.FillInverse(s.buf.Bytes(), r.stream(s.op))
	}
}

// handleAll handles an event and all others that have arrived meanwhile.
func (r *requester) handleAll(ev event) error {
	for {
		err := ev.err
		if err == nil && ev.IsMessage() {
			err = r.handle(ev)
		}
		r.rd.release(ev)
		if err != nil {
			return err
		}
		select {
		case ev = <-r.rd.events:
		default:
			return nil
		}
	}
}

func (r *requester) handle(ev event) error {
	if ev.hdr.Type == wire.Resync {
		// The peer has given these tries up.
		r.lastAnswer, r.lastErr = ev.at, abortReason(ev)
		return r.giveUp(ev.hdr.Try)
	}
	if ev.hdr.Type != wire.Done && ev.hdr.Type != wire.Aborted {
		r.counters.Foreign.Add(1)
		return nil
	}
	r.lastAnswer = ev.at
	s := r.flying[ev.hdr.Try]
	if s == nil || s.op != ev.hdr.Op {
		r.counters.Stale.Add(1)
		return nil
	}
	delete(r.flying, s.try)
	if ev.hdr.Type == wire.Aborted {
		r.lastErr = abortReason(ev)
		return r.again(s)
	}
	r.lastDone, r.anyDone = ev.at, true
	end, err := r.release(s, ev.at)
	if err != nil {
		return err
	}
	r.times.Latency.Record(end.Sub(s.start))
	r.verify(s)
	r.count(s)
	r.free = append(r.free, s)
	return nil
}

func abortReason(ev event) error {
	var why wire.Reason
	if err := json.Unmarshal(ev.body, &why); err != nil || why.Text == "" {
		return errors.New("peer: aborted")
	}
	return fmt.Errorf("peer: %s", why.Text)
}

// again takes the slot's region back and queues its operation for another try.
func (r *requester) again(s *slot) error {
	if err := r.ledger.abort(s.cookie); err != nil {
		return err
	}
	s.registered = false
	r.counters.Aborted.Add(1)
	r.checkGuards(s)
	r.counters.Retried.Add(1)
	r.waiting = append(r.waiting, s)
	return nil
}

// verify checks the buffer after the peer's access. After a read it must be as
// it was.
func (r *requester) verify(s *slot) {
	if off := pattern.Verify(s.buf.Bytes(), r.stream(s.op)); off >= 0 {
		r.counters.Failure(&r.counters.DataFailures, "task %d operation %d (read %v): buffer differs at byte %d",
			r.index, s.op, isRead(r.params.Mode, s.op), off)
	}
	r.checkGuards(s)
}

func (r *requester) checkGuards(s *slot) {
	if !s.buf.GuardsIntact() {
		r.counters.Failure(&r.counters.GuardFailures, "task %d operation %d: bytes around the buffer were overwritten", r.index, s.op)
		s.buf.ResetGuards()
	}
}

func (r *requester) count(s *slot) {
	r.counters.Ops.Add(1)
	r.counters.Bytes.Add(int64(s.buf.Len()))
	if isRead(r.params.Mode, s.op) {
		r.counters.Reads.Add(1)
	} else {
		r.counters.Writes.Add(1)
	}
}

// finish looks for regions that are still held and releases the buffers.
func (r *requester) finish() error {
	err := r.ledger.close()
	return errors.Join(err, r.conn.Close(), r.closeBuffers())
}

func (r *requester) closeBuffers() error {
	var errs []error
	for _, s := range r.slots {
		errs = append(errs, s.buf.Close())
	}
	return errors.Join(errs...)
}
