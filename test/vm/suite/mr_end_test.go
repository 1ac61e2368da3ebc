// SPDX-License-Identifier: MIT

package suite

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/gonl/rds"
	"github.com/rds-ext/rds_ext/test/vm/tools/mrprobe/api"
)

// Sockets that are closed, and processes that are killed, in the middle of RDMA:
// whatever they had mapped ends, and nobody has to wait for a peer.
func TestMROwnerGoes(t *testing.T) {
	p := boot(t, ours(), ours())
	t.Run("close", testOwnerCloses(p))
	t.Run("kill", testOwnerIsKilled(p))
	t.Run("resets", testResetsUnderRDMA(p))
}

// A socket is closed with many MRs, of all kinds: they are invalidated together.
func testOwnerCloses(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		const plain, offered = 64, 8
		p := outer.sub(t)
		owner, peer := p.probe(p.a), p.probe(p.b)
		ownerAddr, peerAddr := owner.open(5000, 16*4096), peer.open(5001, 4096)
		p.greet(owner, peer, ownerAddr, peerAddr)
		owner.must(api.Request{Op: "getmr", Sock: "s", Buf: "m", Length: 16 * 4096, Flags: uint64(rds.ReadWrite), Count: plain})
		var cookie uint64
		for range offered {
			cookie = owner.mapTo(peerAddr, 4096, rds.UseOnce|rds.ReadWrite, "mapped")
			peer.recv("mapped")
		}
		if l := p.pool(p.a); l.InUse != plain+offered || l.PinnedPages != 16*plain+offered {
			t.Errorf("%d MRs of 16 pages and %d of one: pool %+v", plain, offered, l)
		}
		owner.must(api.Request{Op: "close", Sock: "s"})
		// At once: closing waits for the pages.
		if l := p.pool(p.a); l.PinnedPages != 0 || l.InUse != 0 || l.Invalidating != 0 {
			t.Errorf("after the close: pool %+v", l)
		}
		p.wantPins(p.a, 0)
		l := p.pool(p.a)
		if l.LocalInvalidations != plain+offered || l.InvalidationChains >= l.LocalInvalidations/2 {
			t.Errorf("%d local invalidations in %d chains, want %d in much fewer", l.LocalInvalidations, l.InvalidationChains, plain+offered)
		}
		if s := p.mrStats(p.a); s["orphaned"] != plain+offered || !s.balanced() {
			t.Errorf("counters of MRs: %v", s)
		}
		// What the peer may still invalidate is kept aside, until it uses one of
		// the dead keys and loses the connection.
		if l.Quarantined != offered {
			t.Errorf("%d MRs are kept aside, want %d", l.Quarantined, offered)
		}
		if !peer.refused(ownerAddr, cookie) {
			t.Error("the peer has written to memory of a closed socket")
		}
		p.wantNothingLeft(p.a, p.b)
	}
}

// A process is killed while its peer reads from and writes to its memory.
func testOwnerIsKilled(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		p := outer.sub(t)
		p.restart()
		server := p.serve(p.b)
		for range 3 {
			before := p.mrStats(p.a)
			cmd := p.start(p.a, "2>ops", stressArgsLoud(p.a, p.b, "--mode", "both", "--size", "64k", "--time", "5m", "--depth", "16", "--tasks", "2", "--duplex", "--connect-timeout", "1m")...)
			p.eventually("MRs are used", func() (bool, string) {
				d := p.mrStats(p.a).since(before)
				return d["remotely_invalidated"]+d["released"] > 20, d.String()
			})
			if _, err := cmd.Stop(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			p.eventually("no page is pinned on "+p.a.Name(), func() (bool, string) {
				l := p.pool(p.a)
				return l.PinnedPages == 0 && l.InUse == 0 && l.Invalidating == 0, fmt.Sprintf("%+v", l)
			})
		}
		if s := p.mrStats(p.a); s["orphaned"] == 0 {
			t.Errorf("three processes were killed, and no MR was orphaned: %v", s)
		}
		// The server, too, goes without saying goodbye.
		if _, err := server.Stop(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		// A message that would have used a lease may have died with its sender;
		// the lease then lasts as long as the connection.
		owner, peer := p.probe(p.a), p.probe(p.b)
		ownerAddr := owner.open(5000, 4096)
		peer.open(5001, 4096)
		peer.refused(ownerAddr, 0x12345678)
		p.wantNothingLeft(p.a, p.b)
		server = p.serve(p.b)
		p.stress(p.a, p.b, "--mode", "both", "--count", "50", "--connect-timeout", "1m")
		p.stop(server)
		p.wantNothingLeft(p.a, p.b)
	}
}

// The connection is lost again and again, by operations that are refused and by a
// link that is cut, while use-once MRs come and go.
func testResetsUnderRDMA(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		const resets = 8
		p := outer.sub(t)
		p.restart()
		server := p.serve(p.b)
		cmd := p.start(p.a, "2>ops", stressArgsLoud(p.a, p.b, "--mode", "both", "--time", "5m", "--depth", "16", "--peer-timeout", "2m")...)
		owner, peer := p.probe(p.a), p.probe(p.b)
		ownerAddr := owner.open(5000, 4096)
		peer.open(5001, 4096)
		held := owner.getMR(4096, rds.ReadWrite)
		for range resets {
			before := p.ib(p.a)
			done := p.mrStats(p.a)
			peer.refused(ownerAddr, 0x12345678)
			p.eventually("the connection comes back, and RDMA with it", func() (bool, string) {
				c, d := p.ib(p.a), p.mrStats(p.a).since(done)
				return c.Ups > before.Ups && c.State == "up" && d["remotely_invalidated"]+d["released"] > 10, fmt.Sprintf("%v; %v", c, d)
			})
		}

		before := p.ib(p.a)
		p.env.Link(p.b).Cut()
		p.eventually("the connection goes down", func() (bool, string) {
			c := p.ib(p.a)
			return c.Downs > before.Downs, c.String()
		})
		// No connection, and still MRs can be made and freed; none waits for a peer.
		start := time.Now()
		for range 20 {
			owner.must(owner.free(owner.getMR(4096, rds.ReadWrite), rds.Invalidate))
		}
		if d := time.Since(start); d > waitLimit/2 {
			t.Errorf("20 MRs without a connection took %v", d)
		}
		p.eventually("all leases have ended", func() (bool, string) {
			l := p.pool(p.a)
			return l.Quarantined == 0 && l.Invalidating == 0, fmt.Sprintf("%+v", l)
		})
		p.env.Link(p.b).Restore()
		done := p.mrStats(p.a)
		p.eventually("RDMA goes on", func() (bool, string) {
			d := p.mrStats(p.a).since(done)
			return d["remotely_invalidated"] > 10, d.String()
		})

		r := p.verdict(p.stop(cmd).Stdout)
		if r.Resets < resets {
			t.Errorf("rdsmr has seen %d resets, want %d at least", r.Resets, resets)
		}
		p.stop(server)
		// An MR outlives its connection, and needs no new registration.
		p.wantState(p.a, held, "mapped")
		g := &getMRPair{pair: p, owner: owner, peer: peer, ownerAddr: ownerAddr, peerAddr: peerOf(p, 5001)}
		g.reconnect()
		peer.must(peer.write(ownerAddr, held, 4096, "done"))
		if s := peer.status(); s != rds.StatusSuccess {
			t.Errorf("RDMA write to an MR that has seen %d connections: %v", resets, s)
		}
		owner.recv("done")
		owner.must(owner.free(held, rds.Invalidate))
		// A request that came again after a reset may never be answered over this
		// connection; its lease lasts as long as that.
		peer.refused(ownerAddr, 0x12345678)
		p.wantNothingLeft(p.a, p.b)
	}
}

// peerOf is the address of a socket of b.
func peerOf(p *pair, port uint16) string { return fmt.Sprintf("%s:%d", p.b.IP(), port) }
