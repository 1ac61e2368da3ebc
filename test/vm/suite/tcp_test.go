// SPDX-License-Identifier: MIT

package suite

import (
	"testing"

	"github.com/rds-ext/rds_ext/internal/wire"
	"github.com/rds-ext/rds_ext/test/vm"
)

// The distribution's own rds_tcp.ko loads on top of our rds.ko and carries
// traffic, with rds_ext loaded and to a stock peer; rds_ext shows it and adds
// nothing to it.
func TestDistributionTCP(t *testing.T) {
	p := bootWith(t, []vm.NIC{{NoRXE: true}}, vm.OurRDS(), vm.StockRDS())
	server := p.serve(p.b)
	capture := p.capture("tcp")
	r := p.stress(p.a, p.b, "--mode", "msg", "--count", "300", "--size", "20000", "--duplex")
	if r.Ops != 300 {
		t.Errorf("%d messages went through, want 300", r.Ops)
	}
	p.stop(server)

	mods, err := p.a.LoadedModules(p.ctx)
	if err != nil {
		t.Fatal(err)
	}
	users := 0
	for _, m := range mods {
		if m.Name == "rds" {
			for _, user := range m.UsedBy {
				if user == "rds_tcp" || user == "rds_ext" {
					users++
				}
			}
		}
	}
	if users != 2 {
		t.Errorf("our rds.ko is not used by both rds_tcp and rds_ext: %+v", mods)
	}

	list := p.conns(p.a, "--transport", "tcp")
	if len(list) != 1 {
		t.Fatalf("connections over TCP: %v", list)
	}
	if c := list[0]; c.State != "up" || c.LearntFrom != "nothing" || c.PeerKind != "unknown" || c.Features != nil {
		t.Errorf("rdsinfo: %v", c)
	}

	tr := p.trace(capture)
	p.wantKnownTypes(tr)
	handshakes := 0
	for _, m := range tr.Messages {
		if m.Find(wire.ExtVersion) != nil {
			t.Errorf("%v sent a version header over TCP", m.Src)
		}
		if m.Find(wire.ExtPaths) != nil {
			handshakes++
			// As many as the kernel itself would send: it is the peer's code
			// that would run for more.
			if len(m.Ext) != 1 {
				t.Errorf("%v sent types %v in the handshake", m.Src, m.Types())
			}
		}
	}
	if handshakes == 0 {
		t.Error("the capture has no handshake")
	}
	for _, c := range p.counters(p.a) {
		if c.Name == "NPATHS" && c.RX == 0 {
			t.Errorf("the peer's handshake was not counted: %+v", c)
		}
	}
}
