// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/stats"
)

// link watches the RDS connection to the peer's host.
//
// Requesters must know when it has been down for a while: stock Linux finishes
// tearing an InfiniBand connection down only when every region that was registered
// on it has been released, so a requester that waits for answers with its regions in
// hand would wait for a reconnect that waits for the requester. Answerers must know
// of each loss (see [loss]).
type link struct {
	conn        Conn
	local, peer netip.Addr
	tos         uint8
	counters    *stats.Counters

	base     uint64       // resets before the session
	downFrom atomic.Int64 // Unix nanoseconds, 0 while up
	lastUp   atomic.Int64 // when it was last seen up
	lost     atomic.Int64 // how often it was seen to go down, or to have been reset

	looked []chan struct{} // of those who want to know of each look; not changed while it runs
}

const (
	linkPoll     = 100 * time.Millisecond
	resetCounter = "conn_reset"
)

func newLink(conn Conn, peer netip.Addr, tos uint8, c *stats.Counters) (*link, error) {
	l := &link{conn: conn, local: conn.LocalAddr().Addr(), peer: peer, tos: tos, counters: c}
	m, err := conn.Counters()
	if err != nil {
		return nil, err
	}
	l.base = m[resetCounter]
	l.lastUp.Store(time.Now().UnixNano()) // the peer has just answered
	return l, nil
}

// run watches until ctx is done.
func (l *link) run(ctx context.Context) {
	t := time.NewTicker(linkPoll)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			l.poll(time.Now())
			for _, c := range l.looked {
				select {
				case c <- struct{}{}:
				default: // has not seen to the last one yet
				}
			}
		case <-ctx.Done():
			return
		}
	}
}

// watched returns a channel that has something after each look. To be called before
// run.
func (l *link) watched() <-chan struct{} {
	c := make(chan struct{}, 1)
	l.looked = append(l.looked, c)
	return c
}

// poll looks once. Without an answer the connection counts as up: tasks have
// their stall limit besides.
func (l *link) poll(now time.Time) {
	up, err := Connected(l.conn, l.local, l.peer, l.tos)
	switch {
	case up || err != nil:
		l.downFrom.Store(0)
		l.lastUp.Store(now.UnixNano())
	case l.downFrom.Load() == 0:
		l.downFrom.Store(now.UnixNano())
		l.lost.Add(1)
	}
	// The counter is the host's, of all connections: RDS has none for a single
	// one, and a look at the state now and then misses a quick reset.
	if m, err := l.conn.Counters(); err == nil && m[resetCounter] >= l.base {
		n := int64(m[resetCounter] - l.base)
		if l.counters.Resets.Swap(n) != n {
			l.lost.Add(1)
		}
	}
}

// losses returns a number that is another one after each loss of the connection.
// It may change more than once for one loss, and for a loss of another connection
// of this host.
func (l *link) losses() int64 { return l.lost.Load() }

// downSince returns since when the connection is down, or the zero time.
func (l *link) downSince() time.Time {
	if n := l.downFrom.Load(); n != 0 {
		return time.Unix(0, n)
	}
	return time.Time{}
}

// upSince reports whether the connection is up, and was seen up after t.
func (l *link) upSince(t time.Time) bool {
	return l.downFrom.Load() == 0 && l.lastUp.Load() > t.UnixNano()
}

// Connected reports whether there is a working connection of the type of service.
// The kernel tells only of IPv4 connections of which type they are.
func Connected(c Conn, local, peer netip.Addr, tos uint8) (bool, error) {
	cs, err := c.Connections()
	if err != nil {
		return false, err
	}
	for _, k := range cs {
		if k.Connected && k.Local == local.WithZone("") && k.Peer == peer.WithZone("") && (k.TOS == tos || k.Peer.Is6()) {
			return true, nil
		}
	}
	return false, nil
}
