// SPDX-License-Identifier: MIT

package suite

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/gonl/rds"
	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// refs returns how many references rds_ext has on a node, -1 where it is not
// loaded.
func (p *pair) refs(n *vm.Node) int {
	p.Helper()
	mods, err := n.LoadedModules(p.ctx)
	if err != nil {
		p.Fatal(err)
	}
	if i := slices.IndexFunc(mods, func(m agent.LoadedModule) bool { return m.Name == "rds_ext" }); i >= 0 {
		return mods[i].Refs
	}
	return -1
}

// The module stays while an application has an MR. With the engine off it drains
// under RDMA and goes, and the connection does not notice.
func TestMRUnload(t *testing.T) {
	const rounds = 3
	p := boot(t, ours(), ours())
	owner := p.probe(p.a)
	owner.open(5000, 4096)
	held := owner.getMR(4096, rds.ReadWrite)
	if n := p.refs(p.a); n < 1 {
		t.Errorf("an application has an MR, and rds_ext %d references", n)
	}
	// Tried again and again until then.
	ctx, cancel := context.WithTimeout(p.ctx, 2*time.Second)
	defer cancel()
	if err := p.a.Unload(ctx, "rds_ext"); err == nil {
		t.Fatal("rds_ext was unloaded under an MR of an application")
	}
	p.wantState(p.a, held, "mapped")
	owner.must(owner.free(held, rds.Invalidate))
	p.wantNothingLeft(p.a)
	owner.end()

	server := p.serve(p.b)
	cmd := p.start(p.a, "2>ops", stressArgsLoud(p.a, p.b, "--mode", "both", "--time", "9m", "--depth", "16", "--duplex")...)
	for range rounds {
		for _, n := range []*vm.Node{p.a, p.b} {
			p.eventually("the engine registers on "+n.Name(), func() (bool, string) {
				s := p.mrStats(n)
				return s["mapped"] > 20, s.String()
			})
		}
		for _, n := range []*vm.Node{p.a, p.b} {
			p.drain(n)
			p.wantNothingLeft(n)
			p.unload(n)
		}
		for _, n := range []*vm.Node{p.a, p.b} {
			p.load(n)
		}
	}
	r := p.verdict(p.stop(cmd).Stdout)
	if r.Resets != 0 {
		t.Errorf("%d resets under %d reloads", r.Resets, rounds)
	}
	p.stop(server)
	p.wantNothingLeft(p.a, p.b)
	for _, n := range []*vm.Node{p.a, p.b} {
		if refs := p.refs(n); refs != 0 {
			t.Errorf("rds_ext on %s has %d references", n.Name(), refs)
		}
		if err := n.UnloadRDS(p.ctx); err != nil {
			t.Error(err)
		}
		p.wantPins(n, 0)
	}
}
