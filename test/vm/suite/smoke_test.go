// SPDX-License-Identifier: MIT

package suite

import (
	"slices"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// maxMedianRTT is what a round trip may take between two VMs. A tenth is usual;
// the worst way to join VMs takes 40 ms.
const maxMedianRTT = 20 * time.Millisecond

// TestSmoke boots two VMs with the distribution's modules, which see each other
// and have RDMA.
func TestSmoke(t *testing.T) {
	p := boot(t, vm.StockRDS(), vm.StockRDS())
	ctx, a, b := p.ctx, p.a, p.b
	for _, n := range []*vm.Node{a, b} {
		links, err := n.RDMALinks(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(links) != 1 || links[0].Name != "rxe0" {
			t.Errorf("node %s has the RDMA devices %+v, want rxe0", n.Name(), links)
		}
		state, err := n.ReadFile(ctx, "/sys/class/infiniband/rxe0/ports/1/state")
		if err != nil {
			t.Fatal(err)
		}
		if string(state) != "4: ACTIVE\n" {
			t.Errorf("node %s: the port of rxe0 is %q", n.Name(), state)
		}
	}
	for _, size := range []int{56, 4000} {
		rtt, err := a.Ping(ctx, b.IP(), 21, size)
		if err != nil {
			t.Fatal(err)
		}
		if len(rtt) != 21 {
			t.Fatalf("%d of 21 echo requests of %d bytes were answered", len(rtt), size)
		}
		slices.Sort(rtt)
		t.Logf("round trip with %d bytes: median %v, best %v, worst %v", size, rtt[10], rtt[0], rtt[20])
		if rtt[10] > maxMedianRTT {
			t.Errorf("median round trip of %v, the limit is %v", rtt[10], maxMedianRTT)
		}
	}
	for _, n := range []*vm.Node{a, b} {
		if err := n.UnloadRDS(ctx); err != nil {
			t.Error(err)
		}
		mods, err := n.LoadedModules(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(mods, func(m agent.LoadedModule) bool { return m.Name == "rds" }) {
			t.Errorf("node %s: rds is still loaded", n.Name())
		}
	}
}
