// SPDX-License-Identifier: MIT

package suite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rds-ext/rds_ext/gonl/rds"
	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/agent"
	"github.com/rds-ext/rds_ext/test/vm/tools/mrprobe/api"
)

// set changes settings of a node, and takes that back at the end of the test.
func (p *pair) set(n *vm.Node, settings ...string) {
	p.Helper()
	for _, s := range settings {
		key, _, _ := strings.Cut(s, "=")
		old := strings.TrimSpace(p.run(n, "rdsinfo", "config", "get", key))
		p.run(n, "rdsinfo", "config", "set", s)
		p.Cleanup(func() { p.run(n, "rdsinfo", "config", "set", key+"="+old) })
	}
}

// Limits, the list of 10,000 MRs, who may see and do what, and age: all that one
// boot is enough for.
func TestMRLimitsAndDumps(t *testing.T) {
	p := boot(t, ours(), ours())
	t.Run("MRs of a socket", testSocketMax(p))
	t.Run("bytes of a socket", testSocketBytes(p))
	t.Run("memory of a user", testUserLimit(p))
	t.Run("pool", testPoolLimit(p))
	t.Run("pool under RDMA", testPoolUnderRDMA(p))
	t.Run("netlink permissions", testMRPermissions(p))
	t.Run("age", testMRAge(p))
	t.Run("ten thousand", testManyMRs(p))
}

// A limited is a socket that registers up to a limit.
type limited struct {
	*probe
	counts mrStats
	peer   string
}

func (p *pair) limited(e agent.Exec) *limited {
	p.Helper()
	l := &limited{probe: p.probeAs(p.a, e), counts: p.mrStats(p.a), peer: peerOf(p, 5001)}
	l.open(5000, 32*4096)
	return l
}

// fill makes MRs of so many pages until one is refused, which must be at count.
func (l *limited) fill(pages int64, count uint64) (cookie uint64) {
	l.Helper()
	r := l.fails("ENOBUFS", api.Request{
		Op: "getmr", Sock: "s", Buf: "m", Length: pages * 4096, Flags: uint64(rds.ReadWrite), Count: count + 1,
	})
	if r.Done != count {
		l.Errorf("%d MRs of %d pages could be made, want %d", r.Done, pages, count)
	}
	if n := l.pool(l.n); n.InUse != count || n.PinnedPages != count*uint64(pages) {
		l.Errorf("%d MRs of %d pages: pool %+v", count, pages, n)
	}
	// In a message it is no different, and the message does not leave.
	l.fails("ENOBUFS", api.Request{Op: "map", Sock: "s", Buf: "m", Addr: l.peer, Length: pages * 4096, Text: "too much"})
	return r.Cookie
}

// end closes the socket. The counter must have counted, and nothing else.
func (l *limited) end(counter string, count uint64) {
	l.Helper()
	l.must(api.Request{Op: "close", Sock: "s"})
	l.wantNothingLeft(l.n)
	l.wantPins(l.n, 0)
	if d := l.mrStats(l.n).since(l.counts); d[counter] != count || d["failed"] != count {
		l.Errorf("counters of MRs: %v; want %s and failed %d", d, counter, count)
	}
}

func testSocketMax(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		p := outer.sub(t)
		p.set(p.a, "mr-sock-max=4")
		l := p.limited(agent.Exec{})
		l.fill(1, 4)
		// Each socket has its own.
		l.must(api.Request{Op: "socket", Sock: "other", Addr: fmt.Sprintf("%s:5009", p.a.IP())})
		c := l.must(api.Request{Op: "getmr", Sock: "other", Buf: "m", Length: 4096}).Cookie
		l.must(api.Request{Op: "free", Sock: "other", Cookie: c})
		// Room that was made can be used.
		for _, m := range p.mrs(p.a) {
			if m.RKey != nil {
				l.must(l.free(uint64(*m.RKey), rds.Invalidate))
				break
			}
		}
		l.getMR(4096, 0)
		l.fails("ENOBUFS", api.Request{Op: "getmr", Sock: "s", Buf: "m", Length: 1})
		l.end("limited_socket", 3)
	}
}

func testSocketBytes(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		p := outer.sub(t)
		p.set(p.a, "mr-sock-bytes=40k")
		l := p.limited(agent.Exec{})
		l.fill(3, 3)  // 36 KiB
		l.getMR(1, 0) // a byte is a page
		l.fails("ENOBUFS", api.Request{Op: "getmr", Sock: "s", Buf: "m", Length: 1})
		l.end("limited_socket", 3)
	}
}

// An unprivileged process has what its limit of locked memory allows, together
// with all others of its user.
func testUserLimit(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		p := outer.sub(t)
		l := p.limited(agent.Exec{UID: nobody, GID: nobody})
		l.must(api.Request{Op: "memlock", Count: 10 * 4096})
		l.fill(3, 3)
		second := p.probeAs(p.a, agent.Exec{UID: nobody, GID: nobody})
		second.open(5003, 2*4096)
		second.must(api.Request{Op: "memlock", Count: 10 * 4096})
		second.fails("ENOBUFS", api.Request{Op: "getmr", Sock: "s", Buf: "m", Length: 2 * 4096})
		second.getMR(4096, 0)
		second.fails("ENOBUFS", api.Request{Op: "getmr", Sock: "s", Buf: "m", Length: 1})
		for _, m := range p.mrs(p.a) {
			if m.UID != nobody {
				t.Errorf("it is charged to user %d: %+v", m.UID, m)
			}
		}
		// Root has no limit.
		root := p.probe(p.a)
		root.open(5004, 4096)
		root.must(api.Request{Op: "memlock", Count: 1})
		root.must(root.free(root.getMR(4096, 0), rds.Invalidate))
		second.must(api.Request{Op: "close", Sock: "s"})
		l.end("limited_user", 4)

		// None at all, and nothing may be locked.
		none := p.probeAs(p.a, agent.Exec{UID: nobody, GID: nobody})
		none.open(5005, 4096)
		none.must(api.Request{Op: "memlock"})
		none.fails("EPERM", api.Request{Op: "getmr", Sock: "s", Buf: "m", Length: 1})
	}
}

func testPoolLimit(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		p := outer.sub(t)
		p.set(p.a, "mr-pool-max=16")
		l := p.limited(agent.Exec{})
		exhausted := p.pool(p.a).Exhausted
		l.fill(1, 16)
		if n := p.pool(p.a); n.Limit != 16 || n.MRs != 16 || n.Exhausted != exhausted+2 {
			t.Errorf("a pool at its limit: %+v", n)
		}
		l.end("limited_pool", 2)

		// MRs of another size are replaced.
		l = p.limited(agent.Exec{})
		l.fill(20, 16)
		if n := p.pool(p.a); n.MRs != 16 {
			t.Errorf("a pool at its limit: %+v", n)
		}
		l.end("limited_pool", 2)

		// A limit that is lowered below what there is goes down as MRs are freed.
		p.run(p.a, "rdsinfo", "config", "set", "mr-pool-max=32")
		l = p.limited(agent.Exec{})
		l.fill(1, 32)
		p.run(p.a, "rdsinfo", "config", "set", "mr-pool-max=16")
		l.must(api.Request{Op: "close", Sock: "s"})
		p.eventually("the pool shrinks", func() (bool, string) {
			n := p.pool(p.a)
			return n.MRs <= 16, fmt.Sprintf("%+v", n)
		})
	}
}

// More is in flight than the pool has: everybody waits for his turn, and the
// connection stays.
func testPoolUnderRDMA(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		p := outer.sub(t)
		p.set(p.a, "mr-pool-max=16")
		exhausted := p.pool(p.a).Exhausted
		server := p.serve(p.b)
		r := p.stress(p.a, p.b, "--mode", "both", "--depth", "32", "--tasks", "2", "--count", "400")
		p.stop(server)
		if c := p.ib(p.a); r.Resets != 0 || c.Ups != 1 {
			t.Errorf("the connection was lost: %v, %+v", c, r)
		}
		if l := p.pool(p.a); l.Exhausted == exhausted || l.MRsPeak < 16 {
			t.Errorf("the pool was never exhausted: %+v", l)
		}
		p.wantNothingLeft(p.a, p.b)
	}
}
