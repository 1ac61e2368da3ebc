// SPDX-License-Identifier: MIT

package suite

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/rds-ext/rds_ext/internal/wire"
	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// An operator resets a connection, and each side says why it went down.
func TestConnReset(t *testing.T) {
	p := boot(t, ours(), ours())
	t.Run("idle", func(t *testing.T) { testResetIdle(p.sub(t)) })
	t.Run("unprivileged", func(t *testing.T) { testResetUnprivileged(p.sub(t)) })
	t.Run("under traffic", func(t *testing.T) { testResetTraffic(p.sub(t)) })
	t.Run("peer gone", func(t *testing.T) { testEndPeerGone(p.sub(t)) })
	t.Run("link cut", func(t *testing.T) { testEndCut(p.sub(t)) })
}

// upAgain waits until a connection has come up once more than before.
func (p *pair) upAgain(n *vm.Node, before conn) (now conn) {
	p.Helper()
	p.eventually(n.Name()+" is connected again", func() (bool, string) {
		now = p.ib(n)
		return now.State == "up" && now.Ups > before.Ups, now.String()
	})
	return now
}

// wantDown checks the reason that a connection went down for last, and its code,
// which is one of those given or, without any, absent.
func (c conn) wantDown(t *testing.T, side, reason string, codes ...uint32) {
	t.Helper()
	if c.DownReason != reason || c.DownMS == nil {
		t.Errorf("%s: down for the reason %q, want %q: %v", side, c.DownReason, reason, c)
	}
	switch {
	case c.DownCode == nil && len(codes) > 0:
		t.Errorf("%s: down without a code, want one of %d", side, codes)
	case c.DownCode != nil && !slices.Contains(codes, *c.DownCode):
		t.Errorf("%s: down with code %d, want one of %d", side, *c.DownCode, codes)
	}
}

func testResetIdle(p *pair) {
	first := p.hello("4300")
	if first.DownMS != nil || first.DownReason != "" || first.Device == "" || first.QPNum == nil {
		p.Errorf("a connection that was never down: %+v", first)
	}
	peer := p.ib(p.b)
	capture := p.capture("reset")
	if out := p.run(p.a, "rdsinfo", "conn", "reset", "--all", "--dry-run"); !strings.Contains(out, "would-hit: connection") {
		p.Errorf("--dry-run: %q", out)
	}
	if c := p.ib(p.a); c.Downs != first.Downs {
		p.Errorf("--dry-run has reset the connection: %v", c)
	}
	p.run(p.a, "rdsinfo", "conn", "reset", fmt.Sprint(first.ID))
	again := p.upAgain(p.a, first)
	again.wantDown(p.T, "a", "reset")
	if again.ID != first.ID || again.Downs != first.Downs+1 {
		p.Errorf("after the reset %v, before %v", again, first)
	}
	p.upAgain(p.b, peer).wantDown(p.T, "b", "disconnected")

	// What the tool calls the queue pair is what is on the wire.
	tr := p.trace(capture)
	reqs := map[netip.Addr]uint32{}
	for _, e := range tr.CM {
		if e.CM.Type == wire.CMReq || e.CM.Type == wire.CMRep {
			reqs[e.Src] = e.CM.QPN
		}
	}
	if got, ok := reqs[addr(p.a)]; !ok || got != *again.QPNum {
		p.Errorf("a shows queue pair %#x, on the wire it is %#x", *again.QPNum, got)
	}
}

func testResetUnprivileged(p *pair) {
	before := p.ib(p.a)
	for name, e := range map[string]agent.Exec{
		"nobody":                    {UID: nobody, GID: nobody},
		"root of a child namespace": {UID: nobody, GID: nobody, NewUser: true},
	} {
		for _, args := range [][]string{{fmt.Sprint(before.ID)}, {"--peer", p.b.IP(), "--yes"}} {
			e.Argv = append([]string{"rdsinfo", "conn", "reset"}, args...)
			r := p.do(p.a, e)
			if r.ExitCode != 4 || !strings.Contains(r.Stderr, "CAP_NET_ADMIN") {
				p.Errorf("%s: %v: exit status %d: %s", name, args, r.ExitCode, r.Stderr)
			}
		}
	}
	// Root of a network namespace of its own finds nothing there.
	r := p.do(p.a, agent.Exec{
		UID: nobody, GID: nobody, NewUser: true, NewNet: true,
		Argv: []string{"rdsinfo", "conn", "reset", fmt.Sprint(before.ID)},
	})
	if r.ExitCode != 1 || !strings.Contains(r.Stderr, "no connection has this id") {
		p.Errorf("in another network namespace: exit status %d: %s", r.ExitCode, r.Stderr)
	}
	if after := p.ib(p.a); after.Downs != before.Downs {
		p.Errorf("the connection was reset: %v, before %v", after, before)
	}
}

// A reset costs the operations under way, and nothing else.
func testResetTraffic(p *pair) {
	const resets = 4
	server := p.serve(p.b, "--port", "4301")
	before := p.ib(p.a)
	run := p.start(p.a, "2>.", stressArgsLoud(p.a, p.b, "--port", "4301", "--time", "1h")...)
	for i := range resets {
		n := []*vm.Node{p.a, p.b}[i%2]
		// One side is up before the other, and only those that are up are reset.
		var last conn
		p.eventually(n.Name()+" is connected", func() (bool, string) {
			last = p.ib(n)
			return last.State == "up", last.String()
		})
		p.run(n, "rdsinfo", "conn", "reset", "--transport", "ib", "--state", "up", "--yes")
		p.upAgain(n, last)
	}
	r := p.verdict(p.stop(run).Stdout)
	p.Logf("%d operations, %d resets seen", r.Ops, r.Resets)
	if r.Resets == 0 {
		p.Error("the traffic saw no reset")
	}
	if c := p.ib(p.a); c.Downs < before.Downs+resets {
		p.Errorf("%d resets, but %v, before %v", resets, c, before)
	}
	p.stop(server)
}

// A peer whose RDS goes closes the connection, and then refuses another one.
func testEndPeerGone(p *pair) {
	p.hello("4302")
	if err := p.b.UnloadRDS(p.ctx); err != nil {
		p.Fatal(err)
	}
	p.eventually("a is told that nobody listens", func() (bool, string) {
		c := p.ib(p.a)
		return c.AttemptReason == "rejected" && c.Attempts > 0, fmt.Sprintf("%+v", c)
	})
	c := p.ib(p.a)
	c.wantDown(p.T, "a", "disconnected")
	if c.AttemptCode == nil || *c.AttemptCode != 8 {
		p.Errorf("rejected with the reason %v, want 8", c.AttemptCode)
	}
	if c.Device != "" || c.QPNum != nil {
		p.Errorf("a link of a connection that is down: %+v", c)
	}
	p.use(p.b, ours())
	if c := p.hello("4303"); c.Attempts != 0 || c.AttemptReason != "" {
		p.Errorf("attempts of a connection that is up: %+v", c)
	}
}

// A link that is cut makes sends fail; the peer does not answer then.
func testEndCut(p *pair) {
	server := p.serve(p.b, "--port", "4304")
	before := p.ib(p.a)
	run := p.start(p.a, "2>.", stressArgsLoud(p.a, p.b, "--port", "4304", "--mode", "msg", "--time", "1h")...)
	link := p.env.Link(p.b)
	link.Cut()
	p.Cleanup(link.Restore)
	p.eventually("a gives the connection up", func() (bool, string) {
		c := p.ib(p.a)
		return c.Downs > before.Downs, c.String()
	})
	c := p.ib(p.a)
	// Transport retry counter exceeded; or what was flushed for that, where the
	// driver tells of it first.
	c.wantDown(p.T, "a", "send-error", 12, 5)
	link.Restore()
	p.upAgain(p.a, c)
	p.verdict(p.stop(run).Stdout)
	p.stop(server)
}
