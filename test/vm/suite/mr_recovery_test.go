// SPDX-License-Identifier: MIT

package suite

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/rds-ext/rds_ext/test/vm"
)

// breakQP puts the queue pair that registers MRs on a device into the error
// state, with the module of kmod/rds_ext/test/breakqp.
func (p *pair) breakQP(n *vm.Node, device string) error {
	return n.Set(p.ctx, "/sys/module/breakqp/parameters/device", device)
}

// Under RDMA both ways the queue pairs that register MRs break, again and again.
// Each is replaced, and so are the MRs that were under way in it. No operation
// fails for that, no connection notices, nothing is held for good. Where the peer
// invalidates, registrations are hit, and where this side does, chains of
// invalidations as well.
func TestMRRecovery(t *testing.T) {
	p := boot(t, ours(), ours())
	nodes := []*vm.Node{p.a, p.b}
	for _, n := range nodes {
		if err := n.Load(p.ctx, vm.Module{Name: "breakqp", From: vm.Ours}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, features, end string }{
		{"peer invalidates", "ext-types,remote-invalidate", "remotely_invalidated"},
		{"we invalidate", "ext-types", "released"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := p.sub(t)
			p.restart()
			for _, n := range nodes {
				p.run(n, "rdsinfo", "config", "set", "feature-mask="+c.features)
				// What would break nothing says so.
				for _, device := range []string{"rxe0", "rxe7"} {
					if err := p.breakQP(n, device); err == nil {
						t.Errorf("%s: a queue pair of %s was broken that is not there yet", n.Name(), device)
					}
				}
			}
			p.breakAndRecover(c.end)
		})
	}
	for _, n := range nodes {
		if err := n.Unload(p.ctx, "breakqp"); err != nil {
			t.Error(err)
		}
	}
}

// breakAndRecover is the test, between nodes with fresh modules whose MRs end in a way.
func (p *pair) breakAndRecover(end string) {
	p.Helper()
	const (
		breaks = 6  // on each node
		flow   = 32 // registrations between two of them, twice what is in flight
	)
	nodes := []*vm.Node{p.a, p.b}
	server := p.serve(p.b)
	cmd := p.start(p.a, "2>ops", stressArgsLoud(p.a, p.b, "--mode", "both", "--duplex",
		"--depth", "8", "--tasks", "2", "--time", "1h", "--connect-timeout", "1m", "--peer-timeout", "1m")...)
	flows := func(n *vm.Node) {
		p.Helper()
		from := p.pool(n).Registrations
		p.eventually("MRs are registered on "+n.Name(), func() (bool, string) {
			l := p.pool(n)
			return l.Registrations >= from+flow, fmt.Sprintf("%+v", l)
		})
	}
	for i := range uint64(breaks) {
		for _, n := range nodes {
			flows(n)
			if err := p.breakQP(n, "rxe0"); err != nil {
				p.Fatalf("%s: break %d: %v", n.Name(), i+1, err)
			}
			p.eventually("the queue pair is replaced on "+n.Name(), func() (bool, string) {
				l := p.pool(n)
				return l.Recoveries > i, fmt.Sprintf("%d broken, %+v", i+1, l)
			})
		}
	}
	for _, n := range nodes {
		flows(n)
	}
	r, err := cmd.Stop(syscall.SIGINT)
	if err != nil {
		p.Fatal(err)
	}
	if r.ExitCode != 0 {
		p.Errorf("stress: exit status %d: %s", r.ExitCode, r.Stderr)
	}
	rep := p.verdict(r.Stdout)
	if rep.Resets != 0 {
		p.Errorf("%d resets: a connection has nothing to do with these queue pairs", rep.Resets)
	}
	if rep.Peer == nil || rep.Peer.Ops == 0 {
		p.Errorf("the peer did nothing: %+v", rep)
	}
	p.stop(server)

	p.wantNothingLeft(nodes...)
	for _, n := range nodes {
		p.wantPins(n, 0)
		s, l := p.mrStats(n), p.pool(n)
		p.Logf("%s: %d recoveries, %d MRs replaced; %v", n.Name(), l.Recoveries, l.StaleReplaced, s)
		if s["failed"] != 0 {
			p.Errorf("%s: %d MRs could not be registered", n.Name(), s["failed"])
		}
		if s[end] < breaks*flow {
			p.Errorf("%s: MRs did not end as %s: %v", n.Name(), end, s)
		}
		// What notices that a queue pair is broken has been under way in it.
		if l.Recoveries != breaks || l.StaleReplaced < breaks {
			p.Errorf("%s: the queue pair broke %d times: %+v", n.Name(), breaks, l)
		}
		if l.Deallocated < l.StaleReplaced || l.MRs != l.Allocated-l.Deallocated {
			p.Errorf("%s: MRs that are stale were not deallocated: %+v", n.Name(), l)
		}
		if c := p.ib(n); c.Downs != 0 {
			p.Errorf("%s: the connection went down: %v", n.Name(), c)
		}
	}

	// The last queue pair works, and nothing is missing of the pool.
	before := p.pool(p.a)
	server = p.serve(p.b)
	p.stress(p.a, p.b, "--mode", "both", "--count", "200", "--depth", "16", "--connect-timeout", "1m")
	p.stop(server)
	p.wantNothingLeft(nodes...)
	if l := p.pool(p.a); l.Recoveries != before.Recoveries || l.StaleReplaced != before.StaleReplaced ||
		l.Registrations < before.Registrations+200 {
		p.Errorf("before: %+v, after 200 operations: %+v", before, l)
	}
}
