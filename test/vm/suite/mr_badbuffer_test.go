// SPDX-License-Identifier: MIT

package suite

import (
	"testing"

	"github.com/rds-ext/rds_ext/gonl/rds"
	"github.com/rds-ext/rds_ext/test/vm/tools/mrprobe/api"
)

// Memory that cannot be registered, by GET_MR and by a message: the error says
// what is wrong, and nothing of it stays pinned or counted. And memory that only
// looks odd.
func TestMRBadBuffers(t *testing.T) {
	p := boot(t, ours(), ours())
	owner, peer := p.probe(p.a), p.probe(p.b)
	const mib = 1 << 20
	ownerAddr, peerAddr := owner.open(5000, mib+2*4096), peer.open(5001, 4096)
	for _, kind := range []string{"readonly", "hole", "nothing"} {
		owner.must(api.Request{Op: "buffer", Buf: kind, Kind: kind, Length: 8 * 4096})
	}
	p.greet(owner, peer, ownerAddr, peerAddr)

	call := func(op string, q api.Request) api.Reply {
		q.Op, q.Sock, q.Flags = op, "s", q.Flags|uint64(rds.ReadWrite)
		if op == "map" {
			q.Addr, q.Text = peerAddr, "mapped"
		}
		return owner.call(q)
	}
	for _, op := range []string{"getmr", "map"} {
		t.Run("odd by "+op, func(t *testing.T) {
			p := p.sub(t)
			for _, q := range []struct {
				api.Request
				pages uint32
			}{
				{api.Request{Buf: "m", Length: 1}, 1},
				{api.Request{Buf: "m", Offset: 4095, Length: 1}, 1},
				{api.Request{Buf: "m", Offset: 4095, Length: 2}, 2},
				{api.Request{Buf: "m", Length: 4097}, 2},
				{api.Request{Buf: "m", Offset: 1, Length: 16 * 4096}, 17},
				{api.Request{Buf: "m", Offset: 1, Length: 17 * 4096}, 18},
				{api.Request{Buf: "m", Length: mib}, 256},
				{api.Request{Buf: "m", Offset: 4095, Length: mib}, 257},
				{api.Request{Buf: "hole", Length: 4 * 4096}, 4},
			} {
				r := call(op, q.Request)
				if r.Errno != "" {
					t.Errorf("%+v: %s", q.Request, r.Errno)
					continue
				}
				if op == "map" {
					peer.recv("mapped")
				}
				if m, ok := p.mrOf(p.a, r.Cookie); !ok || m.Pages != q.pages || int64(m.Length) != q.Length {
					t.Errorf("%+v: shown %v: %+v; want %d pages", q.Request, ok, m, q.pages)
				}
				p.wantPins(p.a, int(q.pages))
				if l := p.pool(p.a); l.PinnedPages != uint64(q.pages) {
					t.Errorf("%+v: pool: %+v", q.Request, l)
				}
				owner.must(owner.free(r.Cookie, rds.Invalidate))
			}
			// A message keeps what it has mapped until it is acknowledged.
			p.sync(peer, owner, ownerAddr)
			p.wantNothingLeft(p.a)
			p.wantPins(p.a, 0)
		})

		t.Run("bad by "+op, func(t *testing.T) {
			p := p.sub(t)
			counts, pool := p.mrStats(p.a), p.pool(p.a)
			for _, q := range []struct {
				name, errno string
				api.Request
			}{
				{"over 1 MiB", "EMSGSIZE", api.Request{Buf: "m", Length: mib + 4097}},
				{"over 1 MiB by its place", "EMSGSIZE", api.Request{Buf: "m", Offset: 4095, Length: mib + 2}},
				{"over 4 GiB", "EINVAL", api.Request{Buf: "m", Length: 5 << 30}},
				{"length 0", "EINVAL", api.Request{Buf: "m"}},
				{"length 0 in a page", "EINVAL", api.Request{Buf: "m", Offset: 7}},
				{"negative length", "EINVAL", api.Request{Buf: "m", Length: -4096}},
				{"end of the address space", "EINVAL", api.Request{Address: ^uint64(99), Length: 200}},
				{"last page of the address space", "EINVAL", api.Request{Address: ^uint64(4095), Length: 10}},
				{"address of the kernel", "EFAULT", api.Request{Address: 0xffff888000001000, Length: 4096}},
				{"read only", "EFAULT", api.Request{Buf: "readonly", Length: 4096}},
				{"half of it missing", "EFAULT", api.Request{Buf: "hole", Length: 8 * 4096}},
				{"a byte of it missing", "EFAULT", api.Request{Buf: "hole", Length: 4*4096 + 1}},
				{"out of bounds", "EFAULT", api.Request{Buf: "nothing", Length: 4096}},
				// Below what a process may map.
				{"not there", "EFAULT", api.Request{Address: 4096, Length: 4096}},
				{"no place for the cookie", "EFAULT", api.Request{Buf: "m", Length: 4096, BadCookieAddr: true}},
			} {
				if r := call(op, q.Request); r.Errno != q.errno {
					t.Errorf("%s: error %q, want %s", q.name, r.Errno, q.errno)
				}
				if now := p.pool(p.a); now.PinnedPages != 0 || now.InUse != 0 {
					// What was registered for a moment ends soon.
					p.wantNothingLeft(p.a)
				}
			}
			p.wantNothingLeft(p.a)
			p.wantPins(p.a, 0)
			// The one whose cookie could not be stored was registered.
			if d := p.mrStats(p.a).since(counts); d["mapped"] > 1 {
				t.Errorf("counters of MRs: %v", d)
			}
			if now := p.pool(p.a); now.MRs > pool.MRs+1 {
				t.Errorf("%d MRs are allocated, %d were before", now.MRs, pool.MRs)
			}
			// No message has left: the next one that comes is this.
			owner.must(api.Request{Op: "send", Sock: "s", Addr: peerAddr, Text: "after"})
			peer.recv("after")
		})
	}

	t.Run("bad sockets", func(t *testing.T) {
		owner.must(api.Request{Op: "socket", Sock: "unbound"})
		owner.must(api.Request{Op: "socket", Sock: "loop", Addr: "127.0.0.1:5002"})
		for sock, errno := range map[string]string{"unbound": "ENOTCONN", "loop": "ENOTSUP"} {
			owner.fails(errno, api.Request{Op: "getmr", Sock: sock, Buf: "m", Length: 4096})
		}
		for _, cookie := range []uint64{1, 0xffffffff, ^uint64(0)} {
			owner.fails("EINVAL", owner.free(cookie, rds.Invalidate))
		}
	})
}
