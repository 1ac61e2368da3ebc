// SPDX-License-Identifier: MIT

package suite

import (
	"context"
	"strings"
	"testing"

	"github.com/rds-ext/rds_ext/internal/wire"
	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// bootIPv6 boots two nodes with our modules whose first address is of IPv6; the
// second is of IPv4, on the same device.
func bootIPv6(t *testing.T) *pair {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	cfg := *config
	cfg.Files = tools
	env := vm.New(t, cfg)
	nodes, err := env.Boot(ctx,
		vm.Spec{Name: "a", NICs: []vm.NIC{{Addrs: []string{"fd77::1/64", "10.77.0.1/24"}}}},
		vm.Spec{Name: "b", NICs: []vm.NIC{{Addrs: []string{"fd77::2/64", "10.77.0.2/24"}}}})
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{T: t, ctx: ctx, env: env, a: nodes[0], b: nodes[1]}
	p.use(p.a, ours())
	p.use(p.b, ours())
	return p
}

// Sockets, RDMA, the first packets and the control plane over IPv6.
func TestIPv6(t *testing.T) {
	p := bootIPv6(t)
	// In this order: IPv4 joins only when all else has been seen without it.
	t.Run("first packets", testIPv6First(p))
	t.Run("reconnect", testIPv6Cut(p))
	t.Run("nobody there", testIPv6Nobody(p))
	t.Run("beside IPv4", testIPv6BesideIPv4(p))
}

func testIPv6First(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		p := outer.sub(t)
		server := p.serve(p.b)
		capture := p.capture("first")
		var rdma report
		for _, mode := range []string{"msg", "both"} {
			// Longer than a fragment.
			rdma = p.stress(p.a, p.b, "--mode", mode, "--count", "60", "--size", "9000", "--duplex")
			if rdma.Ops != 60 {
				t.Errorf("mode %s: %d operations, want 60", mode, rdma.Ops)
			}
		}
		p.stop(server)

		tr := p.trace(capture)
		if p.wantVersionFirst(tr) == 0 {
			t.Fatal("the capture has no connection that came up")
		}
		// The server's own requests end with the session, however many there were.
		if rdma.Peer == nil || rdma.Peer.Ops == 0 {
			t.Fatalf("the server requested nothing: %+v", rdma)
		}
		p.wantRDMA(tr, p.b, rdma.Ops)
		p.wantRDMA(tr, p.a, rdma.Peer.Ops)
		p.wantOnly6(tr)
		for n, peer := range map[*vm.Node]*vm.Node{p.a: p.b, p.b: p.a} {
			c := p.wantAgreed(n)
			if c.Local != n.IP() || c.Peer != peer.IP() {
				t.Errorf("rdsinfo on %s: %v; want %s -> %s", n.Name(), c, n.IP(), peer.IP())
			}
			if list := p.conns(n, "--peer", peer.IP()); len(list) != 1 || list[0].ID != c.ID {
				t.Errorf("rdsinfo on %s finds by the peer's address: %v, want %v", n.Name(), list, c)
			}
		}
	}
}

// wantRDMA checks that a node did the RDMA of so many requests of its peer,
// every other of them a read, the first a write.
func (p *pair) wantRDMA(tr *wire.Trace, by *vm.Node, requests int64) {
	p.Helper()
	var reads, writes int64
	for _, op := range tr.RDMA {
		switch {
		case op.Src != addr(by):
		case op.Read:
			reads++
		default:
			writes++
		}
	}
	if reads < requests/2 || writes < requests-requests/2 {
		p.Errorf("%s did %d RDMA reads and %d writes on the wire for %d requests", by.Name(), reads, writes, requests)
	}
}

// wantOnly6 checks that all RDS traffic was over IPv6.
func (p *pair) wantOnly6(tr *wire.Trace) {
	p.Helper()
	for _, c := range tr.Conns {
		if a := c.Active.Addr; !a.Is6() || a.Is4In6() {
			p.Errorf("%v is not over IPv6", c)
		}
	}
}

// testIPv6Cut: neighbours have to be found again, which IPv6 does in its own
// way, and the announcement is made afresh.
func testIPv6Cut(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		p := outer.sub(t)
		server := p.serve(p.b)
		p.stress(p.a, p.b, "--mode", "msg", "--count", "5")
		before := p.wantAgreed(p.a)
		capture := p.capture("cut")
		stress := p.start(p.a, "2>.", stressArgsLoud(p.a, p.b, "--mode", "msg", "--time", "15s", "--peer-timeout", "60s")...)
		p.env.Link(p.b).Cut()
		p.eventually("the connection goes down", func() (bool, string) {
			c := p.ib(p.a)
			return c.Downs > before.Downs && c.PeerFeatures == nil && c.PeerKind == "unknown", c.String()
		})
		p.env.Link(p.b).Restore()
		r, err := stress.Wait()
		if err != nil || r.ExitCode != 0 {
			t.Fatalf("stress across the cut: %v, exit status %d\n%s", err, r.ExitCode, r.Stderr)
		}
		// rdsmr looks at its connection through RDS itself, which lists those over
		// IPv6 apart.
		if got := p.verdict(r.Stdout); got.Resets == 0 {
			t.Errorf("rdsmr saw no reset: %+v", got)
		}
		p.stop(server)
		tr := p.trace(capture)
		if p.wantVersionFirst(tr) == 0 {
			t.Fatal("the capture has no connection that came up after the cut")
		}
		p.wantOnly6(tr)
		if after := p.wantAgreed(p.a); after.ID != before.ID || after.Ups <= before.Ups {
			t.Errorf("rdsinfo after the cut: %v, before: %v", after, before)
		}
	}
}

// testIPv6Nobody: the reasons that rdsmr gives for silence are the right ones.
func testIPv6Nobody(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		p := outer.sub(t)
		for name, c := range map[string]struct{ peer, want string }{
			"no such host": {"fd77::99", "no RDS connection came up"},
			"wrong port":   {"[" + p.b.IP() + "]:4999", "nobody answers at this port"},
		} {
			r := p.do(p.a, agent.Exec{Argv: []string{"rdsmr", "stress", c.peer, "--quiet", "--connect-timeout", "3s"}})
			line := strings.TrimSpace(r.Stderr)
			if r.ExitCode == 0 || !strings.Contains(line, c.want) || !strings.Contains(line, "fd77::") || strings.Contains(line, "\n") {
				t.Errorf("%s: exit status %d, %q, want one line with %q", name, r.ExitCode, line, c.want)
			}
		}
	}
}

// testIPv6BesideIPv4: one server, without being told any address, serves both;
// each family has a connection of its own.
func testIPv6BesideIPv4(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		p := outer.sub(t)
		server, err := p.b.Start(p.ctx, agent.Exec{Argv: []string{"rdsmr", "serve", "--port", "4001"}})
		if err != nil {
			t.Fatal(err)
		}
		p.waitLine(server, `^ready \[fd77::2\]:4001$`)
		p.waitLine(server, `^ready 10\.77\.0\.2:4001$`)
		capture := p.capture("both")
		for _, peer := range []string{"[fd77::2]:4001", "10.77.0.2:4001"} {
			p.verdict(p.run(p.a, "rdsmr", "stress", peer, "--json", "--quiet", "--seed", "1", "--count", "40"))
		}
		p.stop(server)
		p.trace(capture)
		for n, other := range map[*vm.Node]string{p.a: "2", p.b: "1"} {
			list := map[string]conn{}
			for _, c := range p.conns(n, "--transport", "ib", "--state", "up") {
				list[c.Peer] = c
			}
			for _, peer := range []string{"fd77::" + other, "10.77.0." + other} {
				c, ok := list[peer]
				if !ok || c.LearntFrom != "first packet" || c.PeerKind != "rds_ext" || strings.Contains(c.Local, ":") != strings.Contains(peer, ":") {
					t.Errorf("rdsinfo on %s: connection to %s: %v of %v", n.Name(), peer, c, list)
				}
			}
		}
	}
}
