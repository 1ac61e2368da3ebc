// SPDX-License-Identifier: MIT

package suite

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"sync/atomic"
	"testing"

	"github.com/rds-ext/rds_ext/gonl/rds"
	"github.com/rds-ext/rds_ext/internal/wire"
	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/ether"
	"github.com/rds-ext/rds_ext/test/vm/tools/mrprobe/api"
)

// A trio is a pair and a third node.
type trio struct {
	*pair
	c *vm.Node
}

func bootTrio(t *testing.T) *trio {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	cfg := *config
	cfg.Files = tools
	env := vm.New(t, cfg)
	nodes, err := env.Boot(ctx, vm.Spec{Name: "a"}, vm.Spec{Name: "b"}, vm.Spec{Name: "c"})
	if err != nil {
		t.Fatal(err)
	}
	q := &trio{&pair{T: t, ctx: ctx, env: env, a: nodes[0], b: nodes[1]}, nodes[2]}
	for _, n := range nodes {
		q.use(n, ours())
	}
	return q
}

// A forgery puts extension headers of its own into the messages of a node with a
// text.
type forgery struct {
	*pair
	rule   *ether.Applied
	failed atomic.Pointer[error]
}

// startsWith tells the messages that begin with a text. Acknowledgements and
// congestion maps do not.
func startsWith(text string) func(*wire.Packet) bool {
	return func(d *wire.Packet) bool {
		return carriesHeader(d) && len(d.RoCE.Payload) >= wire.HeaderLen+len(text) &&
			string(d.RoCE.Payload[wire.HeaderLen:wire.HeaderLen+len(text)]) == text
	}
}

func (p *pair) forge(by *vm.Node, text string, edit func(frame []byte) ([]byte, error)) *forgery {
	p.Helper()
	f := &forgery{pair: p}
	f.rule = p.add(p.env.Link(by), ether.FromNode, ether.Rule{
		Name: "forge " + text, Match: wire.Match(startsWith(text)),
		Do: ether.Edit(func(frame []byte, _ *rand.Rand) []byte {
			forged, err := edit(frame)
			if err != nil {
				f.failed.Store(&err)
				return frame
			}
			return forged
		}),
	})
	return f
}

// end takes the forgery back. It must have acted.
func (f *forgery) end() {
	f.Helper()
	f.rule.Remove()
	if err := f.failed.Load(); err != nil {
		f.Fatal(*err)
	}
	if f.rule.Picked() == 0 {
		f.Fatal("no message was forged")
	}
}

// release is an extension space that says that the keys were used.
func release(cookies ...uint64) (ext [wire.ExtSpace]byte) {
	for i, c := range cookies {
		ext[5*i] = byte(wire.ExtRDMA)
		binary.BigEndian.PutUint32(ext[5*i+1:], rds.Cookie(c).Key())
	}
	return ext
}

// forgeRelease has messages with a text say that the keys were used.
func (p *pair) forgeRelease(by *vm.Node, text string, cookies ...uint64) *forgery {
	p.Helper()
	return p.forge(by, text, func(frame []byte) ([]byte, error) { return frame, forge(frame, release(cookies...)) })
}

// Who says that it has used a key and was not given it changes nothing, whether
// it names a key of the socket that it speaks to or of another.
func TestMRForeignRelease(t *testing.T) {
	q := bootTrio(t)
	p := q.pair
	owner, peer, foreign := p.probe(p.a), p.probe(p.b), p.probe(q.c)
	ownerAddr, peerAddr, foreignAddr := owner.open(5000, 4096), peer.open(5001, 4096), foreign.open(5002, 4096)
	p.greet(owner, foreign, ownerAddr, foreignAddr)
	p.greet(owner, peer, ownerAddr, peerAddr)
	other := netip.AddrPortFrom(addr(p.a), 5009).String()
	owner.must(api.Request{Op: "socket", Sock: "other", Addr: other})

	// say sends a message with a forged header.
	say := func(p *pair, by *probe, to, sock string, cookies ...uint64) {
		p.Helper()
		f := p.forgeRelease(by.n, "forged", cookies...)
		by.must(api.Request{Op: "send", Sock: "s", Addr: to, Text: "forged"})
		r := owner.must(api.Request{Op: "recv", Sock: sock, Millis: owner.recvWait()})
		if r.Text != "forged" {
			p.Errorf("received %+v", r)
		}
		f.end()
	}
	mapped := func() uint64 { return owner.mapTo(peerAddr, 4096, rds.UseOnce|rds.ReadWrite, "mapped") }
	use := func(p *pair, cookie uint64) {
		p.Helper()
		peer.recv("mapped")
		peer.must(peer.write(ownerAddr, cookie, 4096, "done"))
		if s := peer.status(); s != rds.StatusSuccess {
			p.Errorf("RDMA write of the peer that the key was given to: %v", s)
		}
		owner.recv("done")
		owner.fails("EINVAL", owner.free(cookie, 0))
	}

	t.Run("by a third node", func(t *testing.T) {
		p := p.sub(t)
		before := p.mrStats(p.a)
		cookie := mapped()
		say(p, foreign, ownerAddr, "s", cookie)
		say(p, foreign, ownerAddr, "s", cookie)
		p.wantState(p.a, cookie, "advertised")
		if d := p.mrStats(p.a).since(before); d["release_refused"] != 2 || d["released"] != 0 {
			t.Errorf("counters of MRs: %v", d)
		}
		use(p, cookie)
	})

	t.Run("not advertised to anybody", func(t *testing.T) {
		// As ever, whoever uses a key that was passed on in another way.
		p := p.sub(t)
		before := p.mrStats(p.a)
		forPeer := owner.must(api.Request{
			Op: "getmr", Sock: "s", Buf: "m", Addr: peerAddr, Length: 4096, Flags: uint64(rds.UseOnce | rds.ReadWrite),
		}).Cookie
		say(p, foreign, ownerAddr, "s", forPeer)
		p.wantState(p.a, forPeer, "mapped")
		forAll := owner.getMR(4096, rds.UseOnce|rds.ReadWrite)
		say(p, foreign, ownerAddr, "s", forAll)
		owner.fails("EINVAL", owner.free(forAll, 0))
		owner.must(owner.free(forPeer, 0))
		if d := p.mrStats(p.a).since(before); d["release_refused"] != 1 || d["released"] != 1 || d["freed"] != 1 {
			t.Errorf("counters of MRs: %v", d)
		}
	})

	t.Run("of another socket", func(t *testing.T) {
		p := p.sub(t)
		cookie := mapped()
		for _, by := range []*probe{peer, foreign} {
			say(p, by, other, "other", cookie)
			p.wantState(p.a, cookie, "advertised")
		}
		use(p, cookie)
	})

	t.Run("twice and unknown", func(t *testing.T) {
		p := p.sub(t)
		before := p.mrStats(p.a)
		first := mapped()
		peer.recv("mapped")
		// Used by the right peer, as far as the owner can know.
		say(p, peer, ownerAddr, "s", first)
		say(p, peer, ownerAddr, "s", first)
		say(p, peer, ownerAddr, "s", first, first)
		say(p, peer, ownerAddr, "s", 0xdeadbeef, 0)
		say(p, foreign, ownerAddr, "s", 0xffffffff)
		owner.fails("EINVAL", owner.free(first, 0))
		if d := p.mrStats(p.a).since(before); d["released"] != 1 || d["mapped"] != 1 || !d.balanced() {
			t.Errorf("counters of MRs: %v", d)
		}
		// The key of before, had it come up again, would be another variant.
		second := mapped()
		if rds.Cookie(second).Key() == rds.Cookie(first).Key() {
			t.Errorf("key %v was given out twice in a row", rds.Cookie(first))
		}
		say(p, peer, ownerAddr, "s", first)
		p.wantState(p.a, second, "advertised")
		use(p, second)
	})

	t.Run("key of no use-once MR", func(t *testing.T) {
		p := p.sub(t)
		cookie := owner.mapTo(peerAddr, 4096, rds.ReadWrite, "mapped")
		peer.recv("mapped")
		say(p, peer, ownerAddr, "s", cookie)
		p.wantState(p.a, cookie, "advertised")
		owner.must(owner.free(cookie, 0))
	})

	t.Run("invalidated by a third node", testForeignInvalidation(q, owner, peer, foreign))

	for _, n := range []*vm.Node{p.a, p.b, q.c} {
		p.wantNothingLeft(n)
		for _, c := range p.conns(n) {
			if c.Ups != 1 || c.State != "up" {
				t.Errorf("%s: %v; want it up all the time", n.Name(), c)
			}
		}
	}
}

// A node that invalidates a key that was given to another has the device do it.
// That is counted, and the MR ends as it had to.
func testForeignInvalidation(q *trio, owner, peer, foreign *probe) func(*testing.T) {
	return func(t *testing.T) {
		p := q.sub(t)
		before := p.mrStats(p.a)
		ownerAddr := netip.AddrPortFrom(addr(p.a), 5000).String()
		peerAddr := netip.AddrPortFrom(addr(p.b), 5001).String()
		cookie := owner.mapTo(peerAddr, 4096, rds.UseOnce|rds.ReadWrite, "mapped")
		peer.recv("mapped")
		f := p.forge(q.c, "forged", func(frame []byte) ([]byte, error) { return withInvalidate(frame, rds.Cookie(cookie).Key()) })
		foreign.must(api.Request{Op: "send", Sock: "s", Addr: ownerAddr, Text: "forged"})
		owner.recv("forged")
		f.end()
		// No header has named it: to the owner it is there until he frees it.
		owner.must(owner.free(cookie, 0))
		if d := p.mrStats(p.a).since(before); d["invalidate_foreign"] != 1 || d["remotely_invalidated"] != 1 || !d.balanced() {
			t.Errorf("counters of MRs: %v", d)
		}
		// The lease of the peer that it was given to ends with a message that names
		// it. An RDMA would cost the connection.
		g := p.forgeRelease(p.b, "late", cookie)
		peer.must(api.Request{Op: "send", Sock: "s", Addr: ownerAddr, Text: "late"})
		owner.recv("late")
		g.end()
		p.wantNothingLeft(p.a)
	}
}
