// SPDX-License-Identifier: MIT

package suite

import (
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/internal/wire"
	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/ether"
)

// Every 150th packet is dropped in both directions for 10 s, under use-once RDMA,
// which stops stock net/rds over rxe for good: here it goes on meanwhile, and is
// back at its rate soon after. What was done when is read off the wire: the
// messages of the peer that say that a key was used.
func TestMRLoss(t *testing.T) {
	const (
		warm     = 8 * time.Second  // before the loss
		loss     = 10 * time.Second // of loss
		total    = 30 * time.Second // of stress
		recovery = 3 * time.Second  // until the rate is back
	)
	p := boot(t, ours(), ours())
	server := p.serve(p.b)
	capture := p.capture("loss")
	cmd := p.start(p.a, "2>ops", stressArgsLoud(p.a, p.b, "--mode", "both", "--depth", "8", "--size", "4k",
		"--time", total.String(), "--peer-timeout", "1m")...)
	begin := time.Now()
	p.pass(warm)
	var rules []*ether.Applied
	from := time.Now()
	for _, n := range []*vm.Node{p.a, p.b} {
		rules = append(rules, p.add(p.env.Link(n), ether.FromNode, ether.Rule{
			Name: "loss", Match: wire.Match(wire.IsRC), Pick: ether.Every(150), Do: ether.Drop(),
		}))
	}
	p.pass(loss)
	for _, rule := range rules {
		rule.Remove()
	}
	to := time.Now()
	r, err := cmd.Wait()
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("stress: %v, exit status %d: %s", err, r.ExitCode, r.Stderr)
	}
	rep := p.verdict(r.Stdout)
	p.stop(server)
	p.wantNothingLeft(p.a, p.b)
	for _, rule := range rules {
		if rule.Picked() == 0 {
			t.Errorf("none of %d packets was dropped", rule.Matched())
		}
	}

	tr := p.trace(capture)
	p.checkKeys(tr, addr(p.a))
	var done []time.Time
	for _, m := range tr.Messages {
		if m.Src == addr(p.b) && m.Fragment == 0 && m.Find(wire.ExtRDMA) != nil {
			done = append(done, m.Time)
		}
	}
	end := done[len(done)-1]
	if end.Sub(to) < recovery+5*time.Second {
		t.Fatalf("the last operation was done %v after the loss: %+v", end.Sub(to), rep)
	}
	// rate is how many operations were done in a second, in a while.
	rate := func(from, to time.Time) float64 {
		n := 0
		for _, at := range done {
			if !at.Before(from) && at.Before(to) {
				n++
			}
		}
		return float64(n) / to.Sub(from).Seconds()
	}
	settled := to.Add(recovery + 5*time.Second)
	before, during := rate(begin, from), rate(from, to)
	after, later := rate(to.Add(recovery), settled), rate(settled, end)
	refused := p.refusals(capture, p.a)
	t.Logf("operations/s: %.0f before, %.0f while %d packets were lost, %.0f from 3 s to 8 s after that, %.0f from then on; %d in all, %d resets, %d accesses refused",
		before, during, rules[0].Picked()+rules[1].Picked(), after, later, rep.Ops, rep.Resets, refused)
	// Each costs the connection: what the other side still had to do when a
	// connection was lost went to keys that had been taken back meanwhile.
	if refused != 0 {
		t.Errorf("%d accesses went to keys that were dead", refused)
	}
	// Where the connection is given up for the loss, to set it up anew can take as
	// long as a part, since what does that is lost, too.
	const part = loss / 4
	idle := int64(0)
	for at := from; at.Add(part).Before(to); at = at.Add(part) {
		if rate(at, at.Add(part)) == 0 {
			t.Logf("nothing was done from %v to %v after the beginning of the loss", at.Sub(from), at.Add(part).Sub(from))
			idle++
		}
	}
	if idle > min(1, int64(rep.Resets)) {
		t.Errorf("nothing was done in %d of 4 parts of the loss, with %d resets", idle, rep.Resets)
	}
	// Half of what it does otherwise, and where the machine has become slower of
	// what it does later.
	if after < min(before, later)/2 || after < before/10 {
		t.Errorf("%.0f operations/s after the loss, %.0f before, %.0f later", after, before, later)
	}
}

// pass lets time pass that a test is about.
func (p *pair) pass(d time.Duration) {
	p.Helper()
	select {
	case <-time.After(d):
	case <-p.ctx.Done():
		p.Fatal(p.ctx.Err())
	}
}
