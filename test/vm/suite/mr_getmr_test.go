// SPDX-License-Identifier: MIT

package suite

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/gonl/rds"
	"github.com/rds-ext/rds_ext/test/vm/tools/mrprobe/api"
)

// GET_MR and GET_MR_FOR_DEST without a connection and with one, over IPv4 and
// IPv6, and what FREE_MR makes of their keys; and a first message that maps.
func TestMRWithoutConnection(t *testing.T) {
	p := bootIPv6(t)
	for _, c := range []struct{ name, a, b string }{
		{"IPv6", "fd77::1", "fd77::2"},
		{"IPv4", "10.77.0.1", "10.77.0.2"},
	} {
		a, b := netip.MustParseAddr(c.a), netip.MustParseAddr(c.b)
		t.Run(c.name, func(t *testing.T) {
			p := p.sub(t)
			t.Run("calls", testGetMR(p, a, b))
			t.Run("first message", testFirstMessageMaps(p, a, b))
		})
	}
}

// A getMRPair is a socket on each node, of which that of a has memory.
type getMRPair struct {
	*pair
	owner, peer         *probe
	ownerAddr, peerAddr string
}

func (p *pair) getMRPair(a, b netip.Addr) *getMRPair {
	p.Helper()
	g := &getMRPair{pair: p, owner: p.probe(p.a), peer: p.probe(p.b)}
	g.ownerAddr = g.owner.openAt(netip.AddrPortFrom(a, 5000), 3*4096)
	g.peerAddr = g.peer.openAt(netip.AddrPortFrom(b, 5001), 3*4096)
	return g
}

// get registers memory, for the peer or for anybody.
func (g *getMRPair) get(forPeer bool) uint64 {
	g.Helper()
	q := api.Request{Op: "getmr", Sock: "s", Buf: "m", Offset: 100, Length: 5000, Flags: uint64(rds.ReadWrite)}
	if forPeer {
		q.Addr = g.peerAddr
	}
	cookie := g.owner.must(q).Cookie
	m := g.wantState(g.a, cookie, "mapped")
	if m.Pages != 2 || m.Length != 5000 || rds.Cookie(cookie).Offset() != 100 {
		g.Errorf("5000 bytes at 100: %+v, cookie %v", m, rds.Cookie(cookie))
	}
	if slices.Contains(m.Flags, "for-dest") != forPeer || (m.PeerAddr != nil) != forPeer {
		g.Errorf("mapped for one peer: %v, shown: %+v", forPeer, m)
	}
	return cookie
}

func testGetMR(outer *pair, a, b netip.Addr) func(*testing.T) {
	return func(t *testing.T) {
		p := outer.sub(t)
		p.restart()
		g := p.getMRPair(a, b)
		before := []uint64{g.get(false), g.get(true)}
		if list := p.conns(p.a); len(list) != 0 {
			t.Errorf("there are connections already: %v", list)
		}
		p.greet(g.owner, g.peer, g.ownerAddr, g.peerAddr)
		after := []uint64{g.get(false), g.get(true)}
		if list := p.mrs(p.a); len(list) != 4 {
			t.Errorf("%d MRs are shown, want 4", len(list))
		}

		for i, cookie := range append(before, after...) {
			flags := rds.Flags(0)
			if i%2 == 1 {
				flags = rds.Invalidate
			}
			g.useAndFree(cookie, flags)
		}
		p.wantNothingLeft(p.a, p.b)
		if s := p.mrStats(p.a); s["freed"] != 4 || s["mapped"] != 4 {
			t.Errorf("counters of MRs: %v", s)
		}
	}
}

// useAndFree has the peer write to a region until it is freed, and after that.
// With invalidate the key is dead when the call returns, without soon.
func (g *getMRPair) useAndFree(cookie uint64, flags rds.Flags) {
	g.Helper()
	g.owner.must(api.Request{Op: "dest", Sock: "s", Addr: g.peerAddr, Cookie: cookie, Text: "use it"})
	if got := g.peer.recv("use it").Cookie; got != cookie {
		g.Fatalf("cookie %#x arrived as %#x", cookie, got)
	}
	for _, text := range []string{"one", "two"} { // not use-once
		g.peer.must(api.Request{Op: "poke", Buf: "m", Text: text})
		g.peer.must(g.peer.write(g.ownerAddr, cookie, 5000, "done"))
		if s := g.peer.status(); s != rds.StatusSuccess {
			g.Errorf("RDMA write: %v", s)
		}
		g.owner.recv("done")
		if got := g.owner.must(api.Request{Op: "peek", Buf: "m", Length: 103}).Text[100:]; got != text {
			g.Errorf("the memory holds %q, want %q", got, text)
		}
	}
	g.wantState(g.a, cookie, "advertised")

	g.owner.must(g.owner.free(cookie, flags))
	g.owner.fails("EINVAL", g.owner.free(cookie, flags))
	capture := g.capture("dead")
	if flags&rds.Invalidate == 0 {
		g.eventually("the key is dead", func() (bool, string) { return g.peer.refused(g.ownerAddr, cookie), "still valid" })
	} else if !g.peer.refused(g.ownerAddr, cookie) {
		g.Errorf("%v can be used although it was freed", rds.Cookie(cookie))
	}
	if err := capture.Close(); err != nil {
		g.Fatal(err)
	}
	if g.refusalsFrom(capture, addrOf(g.ownerAddr)) == 0 {
		g.Error("no RDMA operation was refused on the wire")
	}
	// What arrived at the owner before the connection was lost is of no interest.
	g.reconnect()
}

func addrOf(addrPort string) netip.Addr { return netip.MustParseAddrPort(addrPort).Addr() }

// reconnect waits until messages pass again in both directions.
func (g *getMRPair) reconnect() {
	g.Helper()
	g.sync(g.peer, g.owner, g.ownerAddr)
	g.sync(g.owner, g.peer, g.peerAddr)
}

// sync sends a message and drops all that come before it.
func (p *pair) sync(from, to *probe, toAddr string) {
	p.Helper()
	from.must(api.Request{Op: "send", Sock: "s", Addr: toAddr, Text: "sync"})
	for {
		if r := to.must(api.Request{Op: "recv", Sock: "s", Millis: to.recvWait()}); r.Text == "sync" {
			return
		}
	}
}

// The very first message of a connection maps memory: it is not refused, not even
// for a moment, and the peer can use the key.
func testFirstMessageMaps(outer *pair, a, b netip.Addr) func(*testing.T) {
	return func(t *testing.T) {
		p := outer.sub(t)
		p.restart()
		capture := p.capture("cold")
		g := p.getMRPair(a, b)
		if list := p.conns(p.a); len(list) != 0 {
			t.Errorf("there are connections already: %v", list)
		}
		r := g.owner.must(api.Request{
			Op: "map", Sock: "s", Buf: "m", Addr: g.peerAddr, Length: 8192, Flags: uint64(rds.UseOnce | rds.ReadWrite), Text: "first",
		})
		if d := time.Duration(r.Micros) * time.Microsecond; d > waitLimit/10 {
			t.Errorf("the call took %v", d)
		}
		cookie := g.peer.recv("first").Cookie
		if cookie != r.Cookie {
			t.Fatalf("cookie %#x arrived as %#x", r.Cookie, cookie)
		}
		g.peer.must(g.peer.write(g.ownerAddr, cookie, 8192, "done"))
		if s := g.peer.status(); s != rds.StatusSuccess {
			t.Errorf("RDMA write: %v", s)
		}
		g.owner.recv("done")
		g.owner.fails("EINVAL", g.owner.free(cookie, 0))
		if keys := p.checkKeys(p.trace(capture), a); len(keys) != 1 || len(keys[0].RDMA) != 1 {
			t.Errorf("%d keys on the wire, want one that was used", len(keys))
		}
		p.wantNothingLeft(p.a, p.b)
	}
}
