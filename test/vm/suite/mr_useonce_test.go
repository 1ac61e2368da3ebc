// SPDX-License-Identifier: MIT

package suite

import (
	"strings"
	"testing"

	"github.com/rds-ext/rds_ext/gonl/rds"
	"github.com/rds-ext/rds_ext/internal/wire"
	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/tools/mrprobe/api"
)

// Use-once MRs over a connection on which remote invalidation is agreed, and on
// one on which either side leaves it out.
func TestMRUseOnce(t *testing.T) {
	const depth, count = 8, 300
	p := boot(t, ours(), ours())
	work := func(p *pair, name string) (tr *wire.Trace, ops int64) {
		server := p.serve(p.b)
		capture := p.capture(name)
		// Both sides know each other before the first key leaves.
		p.stress(p.a, p.b, "--mode", "msg", "--count", "20", "--duplex")
		r := p.stress(p.a, p.b, "--mode", "both", "--count", "300", "--depth", "8")
		if r.Ops != count || r.Resets != 0 {
			p.Errorf("%d operations, %d resets; want %d and none", r.Ops, r.Resets, count)
		}
		p.stop(server)
		return p.trace(capture), r.Ops
	}
	// What holds in each case.
	check := func(p *pair, ops int64) pool {
		p.wantNothingLeft(p.a, p.b)
		l := p.pool(p.a)
		if l.Registrations != uint64(ops) || l.Allocated > 4*depth || l.PinnedPagesPeak > 4*depth*2 {
			p.Errorf("%d operations: pool %+v", ops, l)
		}
		if c := p.ib(p.a); c.Ups != 1 {
			p.Errorf("the connection was lost: %v", c)
		}
		return l
	}

	t.Run("agreed", func(t *testing.T) {
		p := p.sub(t)
		tr, ops := work(p, "agreed")
		l := check(p, ops)
		keys := p.checkKeys(tr, addr(p.a))
		// Without the size of packets it is not known when a read was answered.
		if len(tr.Conns) != 1 || tr.Conns[0].PathMTU == 0 {
			t.Errorf("connections on the wire: %v", tr.Conns)
		}
		if int64(len(keys)) != ops {
			t.Errorf("%d keys were offered, %d operations done", len(keys), ops)
		}
		for _, k := range keys {
			if !k.MayInvalidate || len(k.RDMA) == 0 || len(k.Invalidations) != 1 || len(k.Releases) != 1 {
				t.Errorf("key %#x: leave %v, %d operations, %d invalidations, %d releases; want each once",
					k.RKey, k.MayInvalidate, len(k.RDMA), len(k.Invalidations), len(k.Releases))
			}
		}
		if l.LocalInvalidations != 0 || l.RemoteInvalidations != uint64(ops) {
			t.Errorf("%d local invalidations, %d remote ones; want none and %d", l.LocalInvalidations, l.RemoteInvalidations, ops)
		}
		if s := p.mrStats(p.a); s["remotely_invalidated"] != uint64(ops) || s["mapped"] != uint64(ops) || s["invalidate_foreign"] != 0 {
			t.Errorf("counters of MRs: %v", s)
		}
	})

	t.Run("message of several fragments", testUseOnceFragments(p))

	for _, who := range []string{"owner", "peer"} {
		t.Run("left out by the "+who, func(t *testing.T) {
			p := p.sub(t)
			p.restart()
			n := map[string]*vm.Node{"owner": p.a, "peer": p.b}[who]
			p.run(n, "rdsinfo", "config", "set", "feature-mask=ext-types")
			tr, ops := work(p, "masked-"+who)
			l := check(p, ops)
			for _, k := range p.checkKeys(tr, addr(p.a)) {
				if k.MayInvalidate || len(k.Invalidations) != 0 || len(k.Releases) != 1 {
					t.Errorf("key %#x: leave %v, %d invalidations, %d releases; want no leave and one release",
						k.RKey, k.MayInvalidate, len(k.Invalidations), len(k.Releases))
				}
			}
			p.wantKnownTypes(tr)
			if l.LocalInvalidations != uint64(ops) || l.RemoteInvalidations != 0 || l.InvalidationChains > l.LocalInvalidations {
				t.Errorf("%d local invalidations in %d chains, %d remote ones; want %d and none",
					l.LocalInvalidations, l.InvalidationChains, l.RemoteInvalidations, ops)
			}
			if s := p.mrStats(p.a); s["released"] != uint64(ops) || s["mapped"] != uint64(ops) {
				t.Errorf("counters of MRs: %v", s)
			}
		})
	}
}

// The last fragment of a long message invalidates the key, and no other.
func testUseOnceFragments(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		const length, pad = 9000, 10000
		p := outer.sub(t)
		p.restart()
		capture := p.capture("fragments")
		owner, peer := p.probe(p.a), p.probe(p.b)
		ownerAddr, peerAddr := owner.open(5000, length), peer.open(5001, length)
		p.greet(owner, peer, ownerAddr, peerAddr)
		for _, flags := range []rds.Flags{rds.ReadWrite, 0} { // write, read
			owner.must(api.Request{Op: "poke", Buf: "m", Text: "owner's"})
			peer.must(api.Request{Op: "poke", Buf: "m", Text: "peer's "})
			owner.mapTo(peerAddr, length, rds.UseOnce|rds.ReadWrite, "mapped")
			cookie := peer.recv("mapped").Cookie
			req := peer.write(ownerAddr, cookie, length, "done")
			req.Flags, req.Pad = uint64(flags|rds.NotifyMe), pad
			peer.must(req)
			if s := peer.status(); s != rds.StatusSuccess {
				t.Errorf("RDMA: %v", s)
			}
			if r := owner.recv("done"); r.Length != len("done\n")+pad {
				t.Errorf("a message of %d bytes arrived", r.Length)
			}
			q, want := owner, "peer's "
			if flags&rds.ReadWrite == 0 {
				q, want = peer, "owner's"
			}
			if got := q.must(api.Request{Op: "peek", Buf: "m", Length: 7}).Text; got != want {
				t.Errorf("the memory holds %q, want %q", got, want)
			}
			// It is gone.
			owner.fails("EINVAL", owner.free(cookie, 0))
		}
		keys := p.checkKeys(p.trace(capture), addr(p.a))
		if len(keys) != 2 {
			t.Fatalf("%d keys on the wire, want 2", len(keys))
		}
		for _, k := range keys {
			if len(k.Invalidations) != 1 || k.Invalidations[0].Fragment == 0 {
				t.Errorf("key %#x: %d invalidations, want one by a later fragment", k.RKey, len(k.Invalidations))
			}
		}
		p.wantNothingLeft(p.a, p.b)
		if l := p.pool(p.a); l.LocalInvalidations != 0 || l.RemoteInvalidations != 2 {
			t.Errorf("pool: %+v", l)
		}
	}
}

// greet has two sockets exchange messages, so that the connection is up and both
// sides know what the other can do.
func (p *pair) greet(x, y *probe, xAddr, yAddr string) {
	p.Helper()
	x.must(api.Request{Op: "send", Sock: "s", Addr: yAddr, Text: "hello"})
	y.recv("hello")
	y.must(api.Request{Op: "send", Sock: "s", Addr: xAddr, Text: "hello back"})
	x.recv("hello back")
	// The message has carried the announcement of y, and the acknowledgement of
	// the next one is behind that of x.
	for _, n := range []*vm.Node{x.n, y.n} {
		p.eventually("the features are agreed on", func() (bool, string) {
			var last []string
			for _, c := range p.conns(n, "--transport", "ib") {
				if c.State == "up" && len(c.AgreedFeatures) == len(oursNames) {
					return true, ""
				}
				last = append(last, c.String())
			}
			return false, strings.Join(last, "; ")
		})
	}
}
