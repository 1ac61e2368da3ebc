// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/pattern"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// answerer accesses the memory that requests announce.
type answerer struct {
	task
	link   *link
	looked <-chan struct{} // the link was looked at
	bufs   []*rds.Buffer
	free   []*rds.Buffer
	queue  []job          // requests that have to be answered
	active map[uint64]job // answers on their way, by token
	failed []failure      // to be reported
	token  uint64
	minTry uint32 // older tries are void
	maxTry uint32 // the newest that came
	loss   loss
	msg    []byte
}

// failure is an operation that the requester has to try again.
type failure struct {
	hdr wire.Header
	why string
}

// job is a request.
type job struct {
	hdr    wire.Header
	cookie rds.Cookie
	buf    *rds.Buffer
}

func (j *job) read() bool { return j.hdr.Flags&wire.FlagRead != 0 }

func newAnswerer(t task, l *link) (*answerer, error) {
	a := &answerer{task: t, link: l, looked: l.watched(), active: map[uint64]job{}}
	for range t.params.Depth {
		b, err := rds.NewBuffer(t.params.Size)
		if err != nil {
			return nil, errors.Join(err, a.closeBuffers())
		}
		a.bufs = append(a.bufs, b)
	}
	a.free = append(a.free, a.bufs...)
	return a, nil
}

func (a *answerer) run(ctx context.Context, stop <-chan struct{}) error {
	stopReader := a.startReader(ctx, smallMessage)
	defer a.calls.Stop()
	defer stopReader()
	drain := never
	for {
		blocked, err := a.work(ctx)
		if err != nil {
			return err
		}
		if stop == nil && len(a.active) == 0 && len(a.queue) == 0 {
			return nil
		}
		again := never
		if blocked {
			again = time.After(time.Millisecond)
		}
		select {
		case ev := <-a.rd.events:
			err = a.handleAll(ev)
		case <-a.looked:
			err = a.watch()
		case <-again:
		case <-stop:
			stop = nil
			drain = time.After(a.timing.Drain)
		case <-drain:
			err = a.errInFlight(len(a.active) + len(a.queue))
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// work sends what can be sent: reports of failure first, the peer waits for
// them to try again. An answer that cannot be sent makes such a report, which
// must leave at once, since no event may ever come to bring work back. While the
// connection is down nothing leaves.
func (a *answerer) work(ctx context.Context) (blocked bool, err error) {
	if a.loss.open {
		return false, nil
	}
	for {
		if blocked, err = a.reportLoss(ctx); blocked || err != nil {
			return blocked, err
		}
		for len(a.failed) > 0 {
			if blocked, err = a.report(ctx); blocked || err != nil {
				return blocked, err
			}
		}
		if len(a.queue) == 0 || len(a.free) == 0 {
			return false, nil
		}
		j := a.queue[0]
		if j.hdr.Try >= a.minTry {
			if blocked, err = a.answer(ctx, j); blocked || err != nil {
				return blocked, err
			}
		} else {
			a.counters.Stale.Add(1)
		}
		a.queue = a.queue[1:]
	}
}

// answer starts the RDMA operation and, in the same message, tells the peer.
func (a *answerer) answer(ctx context.Context, j job) (blocked bool, err error) {
	j.buf = a.free[len(a.free)-1]
	n := int(j.hdr.Length)
	b := j.buf.Bytes()[:n]
	flags := rds.NotifyMe
	if j.read() {
		pattern.FillInverse(b, a.stream(j.hdr.Op))
		flags |= rds.Fence // else the message overtakes the data
	} else {
		pattern.Fill(b, a.stream(j.hdr.Op))
		flags |= rds.ReadWrite
	}
	h := j.hdr
	h.Type = wire.Done
	a.msg = h.Append(a.msg[:0])
	_, retry, err := a.send(ctx, rds.Message{
		Payload: a.msg,
		RDMA: &rds.RDMA{
			Local:  []rds.Segment{{Buffer: j.buf, Length: n}},
			Remote: j.cookie, Flags: flags, Token: a.token,
		},
	})
	switch {
	case err == nil:
		a.free = a.free[:len(a.free)-1]
		a.active[a.token] = j
		a.token++
		return false, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case retry:
		return true, nil
	}
	a.counters.SendErrors.Add(1)
	a.fail(j.hdr, err.Error())
	return false, nil
}

func (a *answerer) fail(h wire.Header, why string) {
	h.Type = wire.Aborted
	a.failed = append(a.failed, failure{h, why})
}

// report reports the first failure.
func (a *answerer) report(ctx context.Context) (blocked bool, err error) {
	if blocked, err = a.tell(ctx, a.failed[0].hdr, a.failed[0].why); blocked || err != nil {
		return blocked, err
	}
	a.failed = a.failed[1:]
	return false, nil
}

// tell sends a message without RDMA, with a reason in its body if it has room.
func (a *answerer) tell(ctx context.Context, h wire.Header, why string) (blocked bool, err error) {
	j, err := json.Marshal(wire.Reason{Text: why})
	if err != nil {
		return false, err
	}
	a.msg = h.Append(a.msg[:0])
	if len(a.msg)+len(j) <= smallMessage {
		a.msg = append(a.msg, j...)
	}
	_, retry, err := a.send(ctx, rds.Message{Payload: a.msg})
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case retry || (err != nil && transient(err)):
		return true, nil
	}
	return false, err
}

func (a *answerer) handleAll(ev event) error {
	for {
		if ev.err != nil {
			return ev.err
		}
		if ev.IsMessage() {
			a.handle(ev)
		}
		for _, c := range ev.Completions {
			a.complete(c)
		}
		a.rd.release(ev)
		select {
		case ev = <-a.rd.events:
		default:
			return nil
		}
	}
}

func (a *answerer) handle(ev event) {
	h := ev.hdr
	if h.Type == wire.Request {
		a.came(h.Try, ev.at)
	}
	switch {
	case h.Type == wire.Resync:
		a.minTry = max(a.minTry, h.Try)
	case h.Type != wire.Request:
		a.counters.Foreign.Add(1)
	case h.Try < a.minTry:
		a.counters.Stale.Add(1)
	case !ev.HasCookie:
		a.fail(h, "the request announced no memory: is the RDS connection over InfiniBand or RoCE?")
	case h.Length < 1 || int(h.Length) > a.params.Size:
		a.fail(h, fmt.Sprintf("request for %d bytes in a session of %d", h.Length, a.params.Size))
	default:
		a.queue = append(a.queue, job{hdr: h, cookie: ev.Cookie})
	}
}

// complete ends an operation. Only now may its buffer be used again.
func (a *answerer) complete(c rds.Completion) {
	j, ok := a.active[c.Token]
	if !ok {
		a.counters.Stale.Add(1)
		return
	}
	delete(a.active, c.Token)
	a.free = append(a.free, j.buf)
	if c.Status != rds.StatusSuccess {
		a.counters.RDMAError(c.Status)
		a.counters.Aborted.Add(1)
		if j.hdr.Try >= a.minTry { // else the requester knows
			a.fail(j.hdr, "RDMA "+c.Status.String())
		}
		return
	}
	a.counters.Served.Add(1)
	a.counters.ServedBytes.Add(int64(j.hdr.Length))
	a.verify(j)
}

// verify checks what an RDMA read brought, and that nothing came besides.
func (a *answerer) verify(j job) {
	b := j.buf.Bytes()[:j.hdr.Length]
	if off := pattern.Verify(b, a.stream(j.hdr.Op)); off >= 0 {
		a.counters.Failure(&a.counters.DataFailures, "task %d operation %d (read %v): local buffer differs at byte %d", a.index, j.hdr.Op, j.read(), off)
	}
	if !j.buf.GuardsIntact() {
		a.counters.Failure(&a.counters.GuardFailures, "task %d operation %d: bytes around the local buffer were overwritten", a.index, j.hdr.Op)
		j.buf.ResetGuards()
	}
}

// finish closes the socket, which ends what is still in flight, and then
// releases the buffers.
func (a *answerer) finish() error { return errors.Join(a.conn.Close(), a.closeBuffers()) }

func (a *answerer) closeBuffers() error {
	var errs []error
	for _, b := range a.bufs {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}
