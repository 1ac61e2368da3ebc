// SPDX-License-Identifier: MIT

package suite

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/rds-ext/rds_ext/gonl/rds"
	"github.com/rds-ext/rds_ext/test/vm/agent"
	"github.com/rds-ext/rds_ext/test/vm/tools/mrprobe/api"
)

// The RDMA device goes under traffic. Its MRs go with it, also those that
// applications hold, which can then be freed; a new device works.
func TestMRDeviceGoes(t *testing.T) {
	const depth = 16
	p := boot(t, ours(), ours())
	for round := range 2 {
		server := p.serve(p.b)
		owner := p.probe(p.a)
		owner.open(uint16(5000+round), 4096)
		before := p.mrStats(p.a)
		held := owner.getMR(4096, rds.ReadWrite)
		idle := owner.getMR(4096, rds.UseOnce)
		cmd := p.start(p.a, "2>ops", stressArgsLoud(p.a, p.b, "--mode", "both", "--time", "5m", "--depth", fmt.Sprint(depth), "--peer-timeout", "5s")...)
		p.eventually("RDMA is done", func() (bool, string) {
			d := p.mrStats(p.a).since(before)
			return d["remotely_invalidated"]+d["released"] > 20, d.String()
		})
		if err := p.a.DeleteRDMALink(p.ctx, "rxe0"); err != nil {
			t.Fatal(err)
		}
		// It has gone when the call returns, and its pages were unpinned before. What
		// goes on trying to register pins a page for a moment.
		if n := p.pins(p.a); n > depth {
			t.Errorf("%d pages are pinned on a, want %d at most", n, depth)
		}
		if list := p.pools(p.a); len(list) != 0 {
			t.Errorf("pools of devices that are gone: %+v", list)
		}
		if d := p.mrStats(p.a).since(before); d["device_removed"] < 2 || d["live"] != 0 || !d.balanced() {
			t.Errorf("counters of MRs: %v", d)
		}
		// A shell is left of each that an application has not freed.
		if n := len(p.mrs(p.a, "--state", "device-removed")); n < 2 {
			t.Errorf("%d MRs are shown, want those that are held", n)
		}
		if r, err := cmd.Stop(syscall.SIGINT); err != nil {
			t.Fatal(err)
		} else if r.Signal != 0 {
			t.Errorf("stress ended by signal %d: %s", r.Signal, r.Stderr)
		}
		p.wantPins(p.a, 0)
		owner.must(owner.free(held, rds.Invalidate))
		owner.must(owner.free(idle, 0))
		owner.fails("EINVAL", owner.free(held, rds.Invalidate))
		if r := owner.call(api.Request{Op: "getmr", Sock: "s", Buf: "m", Length: 4096}); r.Errno == "" {
			t.Error("memory was registered with a device that is gone")
		}
		p.stop(server)
		if list := p.mrs(p.a); len(list) != 0 {
			t.Errorf("%d MRs are shown, the first: %+v", len(list), list[0])
		}

		if err := p.a.SetUpNetwork(p.ctx, agent.Network{Links: []agent.Link{{Name: "eth0", RXE: "rxe0"}}}); err != nil {
			t.Fatal(err)
		}
		server = p.serve(p.b)
		p.stress(p.a, p.b, "--mode", "both", "--count", "50", "--connect-timeout", "1m")
		p.stop(server)
		p.wantNothingLeft(p.a, p.b)
		if l := p.pool(p.a); l.Registrations < 50 {
			t.Errorf("the new device: %+v", l)
		}
	}
}
