// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"time"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/pattern"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/stats"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// sender sends numbered messages. It never sends one again: RDS promises to
// deliver each once and in order, and this is what the receiver checks.
type sender struct {
	task
	source *source

	msg     []byte
	next    uint64               // number of the next message
	flying  map[uint64]time.Time // sent and not acknowledged
	pending bool                 // msg has been built and not been sent
	lastAck time.Time
	lastErr error

	times stats.Times
}

func newSender(t task, src *source) *sender {
	return &sender{
		task: t, source: src, flying: map[uint64]time.Time{}, times: stats.NewTimes(),
	}
}

func (s *sender) run(ctx context.Context, stop <-chan struct{}) error {
	stopReader := s.startReader(ctx, smallMessage)
	defer s.calls.Stop()
	defer stopReader()
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	s.lastAck = time.Now()
	drain := never
	for {
		again, err := s.fill(ctx, stop == nil)
		if err != nil {
			return err
		}
		if stop == nil && len(s.flying) == 0 && !s.pending {
			return nil
		}
		select {
		case ev := <-s.rd.events:
			err = s.handleAll(ev)
		case now := <-ticks.C:
			err = s.check(now)
		case <-again:
		case <-stop:
			stop = nil
			// Messages are not dropped in the middle of an outage: give them
			// the time in which the peer may be silent, too.
			drain = time.After(max(s.timing.Drain, s.timing.Peer))
		case <-drain:
			err = s.errInFlight(len(s.flying))
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// fill sends until depth messages are in flight. It returns a channel that
// tells when to come again, if it could not send.
func (s *sender) fill(ctx context.Context, stopping bool) (<-chan time.Time, error) {
	for len(s.flying) < s.params.Depth {
		if !s.pending {
			if stopping || !s.source.take() {
				break
			}
			s.build()
		}
		start := time.Now()
		sent, retry, err := s.send(ctx, rds.Message{Payload: s.msg})
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if !retry && !transient(err) {
				return nil, err
			}
			s.lastErr = err
			return time.After(time.Millisecond), nil
		}
		if len(s.flying) == 0 {
			s.lastAck = start
		}
		s.pending = false
		s.times.Sendmsg.Record(sent.Elapsed)
		s.flying[s.next] = start
		s.next++
	}
	return never, nil
}

func (s *sender) build() {
	h := wire.Header{Type: wire.Data, Session: s.session, Op: s.next, Length: uint32(s.params.Size)}
	if s.msg == nil {
		s.msg = make([]byte, wire.HeaderSize+s.params.Size)
	}
	h.Append(s.msg[:0])
	pattern.Fill(s.msg[wire.HeaderSize:], s.stream(s.next))
	s.pending = true
}

func (s *sender) handleAll(ev event) error {
	for {
		if ev.err != nil {
			return ev.err
		}
		if ev.IsMessage() {
			s.handle(ev)
		}
		s.rd.release(ev)
		select {
		case ev = <-s.rd.events:
		default:
			return nil
		}
	}
}

func (s *sender) handle(ev event) {
	start, ok := s.flying[ev.hdr.Op]
	if ev.hdr.Type != wire.Ack || !ok {
		s.counters.Foreign.Add(1)
		return
	}
	delete(s.flying, ev.hdr.Op)
	s.lastAck = ev.at
	s.times.Latency.Record(ev.at.Sub(start))
	s.counters.Ops.Add(1)
	s.counters.Bytes.Add(int64(s.params.Size))
}

func (s *sender) check(now time.Time) error {
	if len(s.flying) == 0 && !s.pending {
		s.lastAck = now
		return nil
	}
	if now.Sub(s.lastAck) > s.timing.Peer {
		return s.errPeerSilent("no message was acknowledged", s.timing.Peer, s.lastErr)
	}
	return nil
}

func (s *sender) finish() error { return s.conn.Close() }
