// SPDX-License-Identifier: MIT

package suite

import (
	"fmt"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/gonl/rds"
	"github.com/rds-ext/rds_ext/internal/wire"
	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/ether"
	"github.com/rds-ext/rds_ext/test/vm/tools/mrprobe/api"
)

// patientRDS are our modules with as many repetitions of a packet as there can
// be, so that one can be held back for some seconds.
func patientRDS() []vm.Module {
	mods := ours()
	mods[1].Params = "rds_ib_retry_count=7"
	return mods
}

// The peer's message invalidates a key before its owner frees it, at the same
// time, and after that: exactly once, without harm to anybody.
func TestMRInvalidateAndFree(t *testing.T) {
	p := boot(t, patientRDS(), patientRDS())
	for _, c := range []struct {
		name  string
		close bool
		flags rds.Flags
	}{
		{"after FREE_MR", false, 0},
		{"after FREE_MR with invalidate", false, rds.Invalidate},
		{"after the close", true, 0},
	} {
		t.Run(c.name, testLateInvalidation(p, c.close, c.flags))
	}
	t.Run("before and during FREE_MR", testRacingInvalidation(p))
}

// invalidates tells the messages of one packet that invalidate a key.
func invalidates(d *wire.Packet) bool { return d.RoCE != nil && d.RoCE.Opcode == wire.SendOnlyInv }

// testLateInvalidation holds the message back that invalidates, until the owner
// has freed the MR, or closed its socket.
func testLateInvalidation(outer *pair, closes bool, flags rds.Flags) func(*testing.T) {
	return func(t *testing.T) {
		p := outer.sub(t)
		p.restartWith(patientRDS())
		owner, peer := p.probe(p.a), p.probe(p.b)
		ownerAddr, peerAddr := owner.open(5000, 4096), peer.open(5001, 4096)
		p.greet(owner, peer, ownerAddr, peerAddr)
		capture := p.capture(fmt.Sprintf("late-%v-%d", closes, flags))

		cookie := owner.mapTo(peerAddr, 4096, rds.UseOnce|rds.ReadWrite, "mapped")
		peer.recv("mapped")
		p.wantFlag(cookie, "remote-invalidate")
		peer.must(api.Request{Op: "poke", Buf: "m", Text: "written"})
		held := p.add(p.env.Link(p.b), ether.FromNode, ether.Rule{
			Name: "held", Do: ether.Drop(),
			Match: wire.Match(invalidates),
		})
		peer.must(peer.write(ownerAddr, cookie, 4096, "late"))
		p.eventually("the RDMA is done and its message under way", func() (bool, string) {
			got := owner.must(api.Request{Op: "peek", Buf: "m", Length: 7}).Text
			return got == "written" && held.Picked() > 0, fmt.Sprintf("memory %q, %d messages held", got, held.Picked())
		})
		if closes {
			owner.must(api.Request{Op: "close", Sock: "s"})
		} else {
			owner.must(owner.free(cookie, flags))
			owner.fails("EINVAL", owner.free(cookie, flags))
		}
		// Dead and unpinned, at once or soon; but not to be used again.
		p.eventually("it is kept aside", func() (bool, string) {
			l := p.pool(p.a)
			return l.Quarantined == 1 && l.PinnedPages == 0 && l.InUse == 0 && l.Invalidating == 0, fmt.Sprintf("%+v", l)
		})
		p.wantPins(p.a, 0)
		if l := p.pool(p.a); l.LocalInvalidations != 1 || l.RemoteInvalidations != 0 {
			t.Errorf("pool: %+v", l)
		}
		// More MRs than there are free ones do not get it.
		if !closes {
			for range 3 {
				c := owner.getMR(4096, 0)
				if rds.Cookie(c).Key()>>8 == rds.Cookie(cookie).Key()>>8 {
					t.Errorf("key %v is given out, %v is kept aside", rds.Cookie(c), rds.Cookie(cookie))
				}
				owner.must(owner.free(c, rds.Invalidate))
			}
		}
		end := "freed"
		if closes {
			end = "orphaned"
		}
		held.Remove()
		if s := peer.status(); s != rds.StatusSuccess {
			t.Errorf("RDMA write: %v", s)
		}
		if !closes {
			owner.recv("late")
		}
		p.wantNothingLeft(p.a, p.b)
		l, s := p.pool(p.a), p.mrStats(p.a)
		if l.RemoteInvalidations != 1 || s[end] < 1 || s["remotely_invalidated"] != 0 || s["invalidate_foreign"] != 0 {
			t.Errorf("pool %+v, counters of MRs: %v", l, s)
		}
		for _, n := range []*vm.Node{p.a, p.b} {
			if c := p.ib(n); c.Ups != 1 || c.State != "up" {
				t.Errorf("%s: %v; want it up all the time", n.Name(), c)
			}
		}
		keys := p.checkKeys(p.trace(capture), addr(p.a))
		if len(keys) != 1 || len(keys[0].Invalidations) != 1 {
			t.Errorf("%d keys on the wire, want one that was invalidated once", len(keys))
		}
	}
}

// wantFlag checks that an MR of a has a flag.
func (p *pair) wantFlag(cookie uint64, flag string) {
	p.Helper()
	m := p.wantState(p.a, cookie, "advertised")
	for _, f := range m.Flags {
		if f == flag {
			return
		}
	}
	p.Errorf("the MR has no flag %s: %+v", flag, m)
}

// testRacingInvalidation has the owner free each MR in the moment in which the
// peer's bytes arrive, or when its message has arrived.
func testRacingInvalidation(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		const rounds = 60
		p := outer.sub(t)
		p.restart()
		owner, peer := p.probe(p.a), p.probe(p.b)
		ownerAddr, peerAddr := owner.open(5000, 4096), peer.open(5001, 4096)
		p.greet(owner, peer, ownerAddr, peerAddr)
		capture := p.capture("racing")
		// Else both would come so close together that the owner never is first.
		p.add(p.env.Link(p.b), ether.FromNode, ether.Rule{
			Name: "jitter", Match: wire.Match(invalidates), Do: ether.Jitter(0, 20*time.Millisecond),
		})
		outcome := map[string]int{}
		for i := range rounds {
			old, fresh := string(rune('a'+i%2)), string(rune('a'+(i+1)%2))
			owner.must(api.Request{Op: "poke", Buf: "m", Text: old})
			peer.must(api.Request{Op: "poke", Buf: "m", Text: fresh})
			cookie := owner.mapTo(peerAddr, 1, rds.UseOnce|rds.ReadWrite, "mapped")
			peer.recv("mapped")
			late := i%3 == 0 // freed when the message is there
			if !late {
				owner.ask(api.Request{
					Op: "race", Sock: "s", Buf: "m", Length: 1, Text: old, Cookie: cookie,
					Flags: uint64(rds.Invalidate) * uint64(i%2), Millis: owner.recvWait(),
				})
			}
			peer.must(peer.write(ownerAddr, cookie, 1, "done"))
			if s := peer.status(); s != rds.StatusSuccess {
				t.Fatalf("RDMA write %d: %v", i, s)
			}
			if late {
				owner.recv("done")
				owner.fails("EINVAL", owner.free(cookie, 0))
				continue
			}
			outcome[owner.answer().Errno]++
			owner.recv("done")
		}
		t.Logf("FREE_MR in the moment of the message: %v", outcome)
		if outcome[""] == 0 || outcome["EINVAL"] == 0 || len(outcome) != 2 {
			t.Errorf("FREE_MR: %v; want it to come first and second, and no other error", outcome)
		}
		p.wantNothingLeft(p.a, p.b)
		s, l := p.mrStats(p.a), p.pool(p.a)
		if s["mapped"] != rounds || s["freed"]+s["remotely_invalidated"] != rounds || s["invalidate_foreign"] != 0 || l.RemoteInvalidations != rounds {
			t.Errorf("pool %+v, counters of MRs: %v", l, s)
		}
		if c := p.ib(p.a); c.Ups != 1 || c.State != "up" {
			t.Errorf("%v; want it up all the time", c)
		}
		keys := p.checkKeys(p.trace(capture), addr(p.a))
		if len(keys) != rounds {
			t.Errorf("%d keys on the wire, want %d", len(keys), rounds)
		}
		for _, k := range keys {
			if len(k.Invalidations) != 1 {
				t.Errorf("key %#x was invalidated %d times", k.RKey, len(k.Invalidations))
			}
		}
	}
}
