// SPDX-License-Identifier: MIT

package suite

import (
	"testing"

	"github.com/rds-ext/rds_ext/internal/wire"
	"github.com/rds-ext/rds_ext/test/vm"
)

func (p *pair) load(n *vm.Node) {
	p.Helper()
	if err := n.Load(p.ctx, vm.Module{Name: "rds_ext", From: vm.Ours}); err != nil {
		p.Fatal(err)
	}
}

// drain has the MR engine of a node get no new MRs, so that rds_ext can be
// unloaded under RDMA.
func (p *pair) drain(n *vm.Node) {
	p.Helper()
	p.run(n, "rdsinfo", "config", "set", "mr-engine=off")
}

func (p *pair) unload(n *vm.Node) {
	p.Helper()
	if err := n.Unload(p.ctx, "rds_ext"); err != nil {
		p.Fatalf("%v\n%s%s%s", err, p.run(n, "rdsinfo", "conn", "-d"), p.run(n, "rdsinfo", "pool"), p.run(n, "rdsinfo", "queue"))
	}
}

// versions lists the version headers of a node in a capture.
func versions(tr *wire.Trace, n *vm.Node) (features []uint16) {
	for _, m := range tr.Messages {
		if e := m.Find(wire.ExtVersion); e != nil && m.Src == addr(n) {
			_, f := e.Version()
			features = append(features, f)
		}
	}
	return features
}

// Loaded while the connection is up, the module asks for what it has missed: of
// a stock peer in vain, of one that runs rds_ext once.
func TestLoadOnLiveConnection(t *testing.T) {
	p := boot(t, patched(), patched())
	p.serve(p.b)
	p.stress(p.a, p.b, "--mode", "msg", "--count", "20")

	capture := p.capture("first")
	p.load(p.a)
	if c := p.ib(p.a); c.State != "up" || c.PeerKind != "unknown" || c.Ups != 0 {
		t.Errorf("a right after loading: %v", c)
	}
	p.stress(p.a, p.b, "--mode", "msg", "--count", "20")
	if got := versions(p.trace(capture), p.a); len(got) != 1 || got[0] != oursFeatures|replyWanted {
		t.Errorf("a sent version headers with features %#x, want one with %#x", got, oursFeatures|replyWanted)
	}
	if c := p.ib(p.a); c.PeerKind != "stock" {
		t.Errorf("a after asking a peer without rds_ext: %v", c)
	}

	capture = p.capture("second")
	p.load(p.b)
	p.stress(p.a, p.b, "--mode", "msg", "--count", "20")
	tr := p.trace(capture)
	if got := versions(tr, p.b); len(got) != 1 || got[0] != oursFeatures|replyWanted {
		t.Errorf("b sent version headers with features %#x, want one with %#x", got, oursFeatures|replyWanted)
	}
	if got := versions(tr, p.a); len(got) != 1 || got[0] != oursFeatures {
		t.Errorf("a answered with features %#x, want once %#x", got, oursFeatures)
	}
	p.wantAgreed(p.a)
	p.wantAgreed(p.b)
	if len(tr.CM) != 0 {
		t.Errorf("the connection was set up anew: %v", tr.CM[0].Type)
	}
}

// Loading and unloading on both sides, 20 times each, under RDMA and plain
// messages: nothing lost, no connection reset, no reference left.
//
// Each load announces anew, on whatever message comes next, so that messages
// with a key in their header carry a second extension header.
func TestReloadUnderStress(t *testing.T) {
	const reloads = 20
	p := boot(t, ours(), ours())
	server := p.serve(p.b)
	capture := p.capture("reload")
	// Until they are stopped: on a debug kernel the loads take longer than 5 minutes.
	runs := []*vm.Cmd{
		p.start(p.a, "2>.", stressArgsLoud(p.a, p.b, "--mode", "both", "--time", "1h")...),
		p.start(p.a, "2>.", stressArgsLoud(p.a, p.b, "--mode", "msg", "--size", "1k", "--time", "1h", "--duplex")...),
	}
	ops := func() (sum uint64) {
		for _, line := range p.counters(p.a) {
			sum += line.TX + line.RX
		}
		return sum
	}
	for range reloads {
		for _, n := range []*vm.Node{p.a, p.b} {
			p.drain(n)
			p.unload(n)
			p.load(n)
		}
		// Traffic has to pass in between, or this would be no test.
		p.eventually("extension headers pass", func() (bool, string) { return ops() > 0, "none" })
	}
	for _, cmd := range runs {
		r := p.verdict(p.stop(cmd).Stdout)
		if !r.Interrupted || r.Resets != 0 {
			t.Errorf("rdsmr: %+v", r)
		}
	}
	p.stop(server)
	tr := p.trace(capture)
	p.wantTypes(tr, wire.ExtRDMADestFlags)
	if n := both(tr); n == 0 {
		t.Errorf("of %d messages none carries a key and a version", len(tr.Messages))
	}
	p.stressAgrees()

	for _, n := range []*vm.Node{p.a, p.b} {
		p.drain(n)
		p.unload(n)
		mods, err := n.LoadedModules(p.ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mods {
			// rds_rdma uses rds; nobody else may be left.
			if m.Name == "rds" && m.Refs != 1 || m.Name == "rds_rdma" && m.Refs != 0 {
				t.Errorf("%s: %s has %d references left", n.Name(), m.Name, m.Refs)
			}
		}
		if err := n.UnloadRDS(p.ctx); err != nil {
			t.Errorf("%s: %v", n.Name(), err)
		}
	}
}

// both counts the messages with a version and a key in their header.
func both(tr *wire.Trace) (n int) {
	for _, m := range tr.Messages {
		if m.Find(wire.ExtVersion) != nil && (m.Find(wire.ExtRDMA) != nil || m.Find(wire.ExtRDMADest) != nil) {
			n++
		}
	}
	return n
}

// stressAgrees exchanges messages and checks that both sides know each other.
func (p *pair) stressAgrees() {
	p.Helper()
	server := p.serve(p.b, "--port", "4002")
	p.stress(p.a, p.b, "--port", "4002", "--mode", "msg", "--count", "20", "--duplex")
	p.stop(server)
	p.wantAgreed(p.a)
	p.wantAgreed(p.b)
}

// The transport goes and comes back under rds_ext, and so does the device under
// the transport.
func TestTransportAndDeviceGo(t *testing.T) {
	p := boot(t, ours(), ours())
	server := p.serve(p.b)
	p.stress(p.a, p.b, "--mode", "both", "--count", "50")
	p.stop(server)

	if err := p.a.Unload(p.ctx, "rds_rdma"); err != nil {
		t.Fatal(err)
	}
	if list := p.conns(p.a); len(list) != 0 {
		t.Errorf("connections of a transport that is gone: %v", list)
	}
	if err := p.a.Load(p.ctx, vm.Module{Name: "rds_rdma", From: vm.Ours}); err != nil {
		t.Fatal(err)
	}
	p.stressAgrees()

	server = p.serve(p.b)
	stress := p.start(p.a, "2>.", stressArgsLoud(p.a, p.b, "--mode", "msg", "--time", "5m", "--peer-timeout", "5s")...)
	if err := p.b.DeleteRDMALink(p.ctx, "rxe0"); err != nil {
		t.Fatal(err)
	}
	p.eventually("the connection goes down", func() (bool, string) {
		c := p.ib(p.a)
		return c.State != "up", c.String()
	})
	r, err := stress.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if r.ExitCode == 0 {
		t.Errorf("stress against a node without device succeeded: %s", r.Stdout)
	}
	p.stop(server)
}
