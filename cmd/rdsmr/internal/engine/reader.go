// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"net/netip"
	"time"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/stats"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// event is something a socket received.
type event struct {
	rds.Received
	hdr  wire.Header // if it is a message
	body []byte
	at   time.Time
	err  error // the socket failed; nothing comes after this

	buf []byte
}

// reader receives for a task. It stamps the time before the task gets to see
// the event, so a busy task does not make answers look late.
type reader struct {
	conn     Conn
	peer     netip.AddrPort // messages of others are dropped; the zero value takes all
	session  uint64         // 0 takes all
	size     int            // of the largest message
	counters *stats.Counters

	events chan event
	free   chan []byte
}

// newReader prepares for up to n events that nobody has taken yet. n should be
// what the peer can send without an answer: the task must be free to block in
// a send without its own socket becoming congested.
func newReader(conn Conn, peer netip.AddrPort, session uint64, size, n int, c *stats.Counters) *reader {
	return &reader{
		conn: conn, peer: peer, session: session, size: size, counters: c,
		events: make(chan event, n), free: make(chan []byte, n),
	}
}

// run receives until ctx is done or the socket fails.
func (r *reader) run(ctx context.Context) {
	for {
		ev, ok := r.next(ctx)
		if !ok {
			continue
		}
		select {
		case r.events <- ev:
		case <-ctx.Done():
			return
		}
		if ev.err != nil {
			return
		}
	}
}

func (r *reader) next(ctx context.Context) (event, bool) {
	buf := r.buffer()
	got, err := r.conn.Receive(ctx, buf)
	ev := event{Received: got, at: time.Now(), err: err, buf: buf}
	if err != nil || !got.IsMessage() {
		return ev, true
	}
	ev.hdr, ev.body, err = wire.Parse(buf[:got.N])
	if err != nil || got.Truncated || (r.peer.IsValid() && got.From != r.peer) ||
		(r.session != 0 && ev.hdr.Session != r.session) {
		r.counters.Foreign.Add(1)
		r.release(ev)
		return event{}, false
	}
	return ev, true
}

func (r *reader) buffer() []byte {
	select {
	case b := <-r.free:
		return b
	default:
		return make([]byte, r.size)
	}
}

// release gives an event's memory back.
func (r *reader) release(ev event) {
	select {
	case r.free <- ev.buf:
	default:
	}
}
