// SPDX-License-Identifier: MIT

package suite

import (
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/internal/wire"
	"github.com/rds-ext/rds_ext/test/vm/ether"
)

// Both sides of a connection lose it at the same moment, and both connect again. They
// do not refuse each other over and over: 60-connect-in-turn.
func TestBothConnect(t *testing.T) {
	const (
		rounds = 8
		// Of both sides together. Without the fix, ten were measured.
		limit = 3
	)
	p := boot(t, ours(), ours())
	owner, peer := p.probe(p.a), p.probe(p.b)
	ownerAddr, peerAddr := owner.open(5000, 4096), peer.open(5001, 4096)
	p.greet(owner, peer, ownerAddr, peerAddr)
	capture := p.capture("turns")
	for i := range rounds {
		// An answer that refuses an RDMA operation breaks the queue pairs of both.
		start := time.Now()
		if !peer.refused(ownerAddr, 0x12345678) {
			t.Fatal("a key that nobody has given out was accepted")
		}
		p.sync(peer, owner, ownerAddr)
		p.sync(owner, peer, peerAddr)
		t.Logf("round %d: %v until messages went both ways again", i+1, time.Since(start).Round(time.Millisecond))
	}
	requests, rejects := p.attempts(capture)
	t.Logf("%d connections took %d requests, of which %d were rejected", rounds, requests, rejects)
	if requests < rounds {
		t.Errorf("the capture shows %d requests for %d connections", requests, rounds)
	}
	if rejects > limit*rounds {
		t.Errorf("%d requests were rejected for %d connections, want %d for each at most", rejects, rounds, limit)
	}
}

// attempts counts the requests to connect, and those that were rejected.
func (p *pair) attempts(c *ether.Capture) (requests, rejects int) {
	p.Helper()
	for _, e := range p.trace(c).CM {
		switch e.CM.Type {
		case wire.CMReq:
			requests++
		case wire.CMRej:
			rejects++
		}
	}
	return requests, rejects
}
