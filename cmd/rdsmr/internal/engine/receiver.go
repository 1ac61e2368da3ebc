// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"time"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/pattern"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// receiver checks numbered messages and acknowledges each.
type receiver struct {
	task
	expected uint64
	acks     []uint64 // to be sent
	msg      []byte
}

func newReceiver(t task) *receiver { return &receiver{task: t} }

func (r *receiver) run(ctx context.Context, stop <-chan struct{}) error {
	stopReader := r.startReader(ctx, wire.HeaderSize+r.params.Size)
	defer r.calls.Stop()
	defer stopReader()
	drain := never
	for {
		again, err := r.acknowledge(ctx)
		if err != nil {
			return err
		}
		if stop == nil && len(r.acks) == 0 {
			return nil
		}
		select {
		case ev := <-r.rd.events:
			err = r.handleAll(ev)
		case <-again:
		case <-stop:
			stop = nil
			drain = time.After(r.timing.Drain)
		case <-drain:
			err = r.errInFlight(len(r.acks))
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

func (r *receiver) acknowledge(ctx context.Context) (<-chan time.Time, error) {
	for len(r.acks) > 0 {
		r.msg = wire.Header{Type: wire.Ack, Session: r.session, Op: r.acks[0]}.Append(r.msg[:0])
		_, retry, err := r.send(ctx, rds.Message{Payload: r.msg})
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && (retry || transient(err)):
			return time.After(time.Millisecond), nil
		case err != nil:
			return nil, err
		}
		r.acks = r.acks[1:]
	}
	return never, nil
}

func (r *receiver) handleAll(ev event) error {
	for {
		if ev.err != nil {
			return ev.err
		}
		if ev.IsMessage() {
			r.handle(ev)
		}
		r.rd.release(ev)
		select {
		case ev = <-r.rd.events:
		default:
			return nil
		}
	}
}

func (r *receiver) handle(ev event) {
	if ev.hdr.Type != wire.Data {
		r.counters.Foreign.Add(1)
		return
	}
	seq := ev.hdr.Op
	switch {
	case seq > r.expected:
		r.lost(seq)
		r.expected = seq + 1
	case seq == r.expected:
		r.expected++
	case seq+1 == r.expected:
		r.counters.Failure(&r.counters.Dup, "task %d: message %d came twice", r.index, seq)
	default:
		r.counters.Failure(&r.counters.Reordered, "task %d: message %d came after %d", r.index, seq, r.expected-1)
	}
	if len(ev.body) != r.params.Size || int(ev.hdr.Length) != r.params.Size {
		r.counters.Failure(&r.counters.DataFailures, "task %d: message %d has %d bytes of payload, want %d", r.index, seq, len(ev.body), r.params.Size)
	} else if off := pattern.Verify(ev.body, r.stream(seq)); off >= 0 {
		r.counters.Failure(&r.counters.DataFailures, "task %d: message %d differs at byte %d", r.index, seq, off)
	}
	r.counters.Served.Add(1)
	r.counters.ServedBytes.Add(int64(len(ev.body)))
	r.acks = append(r.acks, seq)
}

// lost counts the messages from the expected one up to, not including, seq.
func (r *receiver) lost(seq uint64) {
	if seq <= r.expected {
		return
	}
	r.counters.Failure(&r.counters.Lost, "task %d: messages %d to %d did not come", r.index, r.expected, seq-1)
	r.counters.Lost.Add(int64(seq-r.expected) - 1) // Failure counted one
}

func (r *receiver) finish() error { return r.conn.Close() }
