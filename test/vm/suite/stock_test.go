// SPDX-License-Identifier: MIT

package suite

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rds-ext/rds_ext/internal/wire"
	"github.com/rds-ext/rds_ext/test/vm"
)

// A stock node and one with rds_ext work together: the patched one is told that
// its peer is stock, and neither sends a type that the other cannot parse.
func TestStockPeer(t *testing.T) {
	p := boot(t, ours(), stock())
	for _, c := range []struct {
		name   string
		active *vm.Node // whose modules are loaded last, so that it connects
		mods   []vm.Module
	}{
		{"ours connects", p.a, ours()},
		{"stock connects", p.b, stock()},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := p.sub(t)
			p.use(c.active, c.mods)
			server, client := p.b, p.a
			if c.active == p.b {
				server, client = p.a, p.b
			}
			cmd := p.serve(server, "--port", "4001")
			capture := p.capture("stock-" + c.active.Name())
			p.stress(client, server, "--port", "4001", "--mode", "msg", "--count", "200")
			p.stress(client, server, "--port", "4001", "--mode", "both", "--count", "200")
			p.stop(cmd)

			tr := p.trace(capture)
			p.wantKnownTypes(tr)
			versions := 0
			for _, m := range tr.Messages {
				if m.Find(wire.ExtVersion) == nil {
					continue
				}
				if m.Src == addr(p.b) {
					t.Errorf("the stock node sent a version header: %v", m.Types())
				}
				versions++
			}
			if versions == 0 {
				t.Error("our node announced nothing to the stock one")
			}

			got := p.ib(p.a)
			if got.PeerKind != "stock" || got.LearntFrom != "CM private data" ||
				got.PeerVersion == nil || *got.PeerVersion != "3.1" ||
				got.PeerFeatures != nil || len(got.AgreedFeatures) != 0 {
				t.Errorf("rdsinfo: %v", got)
			}
		})
	}
}

// wantKnownTypes checks that all extension headers can be parsed by a stock
// kernel: types below 9, nothing behind them.
func (p *pair) wantKnownTypes(tr *wire.Trace) {
	p.Helper()
	p.wantTypes(tr)
}

// wantTypes is wantKnownTypes with some of our own types allowed.
func (p *pair) wantTypes(tr *wire.Trace, own ...wire.ExtType) {
	p.Helper()
	if len(tr.Messages) == 0 {
		p.Fatal("the capture has no message")
	}
	for _, m := range tr.Messages {
		if m.ExtErr != nil {
			p.Errorf("%v sent %x: %v", m.Src, m.ExtRaw, m.ExtErr)
		}
		for _, e := range m.Types() {
			if (e >= wire.FirstOwn || e == 7) && !slices.Contains(own, e) {
				p.Errorf("%v sent type %d: %x", m.Src, e, m.ExtRaw)
			}
		}
	}
}

// A shape is all of a header that does not follow from addresses, numbers,
// lengths and keys, nor from the moment: whether a message asks for an
// acknowledgement depends on how many are on their way.
func shape(m *wire.Message) string {
	used := 0
	for _, e := range m.Ext {
		used += 1 + len(e.Data)
	}
	return fmt.Sprintf("flags %#x pad %x types %v rest %x", m.Flags&^(wire.FlagRetransmitted|wire.FlagAckRequired), m.Pad, m.Types(), m.ExtRaw[used:])
}

// Without rds_ext.ko, the patched modules send no header that stock ones would
// not: the same work gives the same shapes of headers, in both directions.
func TestWithoutRDSExt(t *testing.T) {
	p := boot(t, stock(), stock())
	work := func(name string) map[string]int {
		cmd := p.serve(p.b)
		capture := p.capture(name)
		p.stress(p.a, p.b, "--mode", "msg", "--count", "300", "--duplex")
		p.stress(p.a, p.b, "--mode", "both", "--count", "300", "--duplex")
		p.stop(cmd)
		tr := p.trace(capture)
		shapes := map[string]int{}
		for _, m := range tr.Messages {
			if !m.ChecksumOK {
				t.Errorf("%s: wrong header checksum: %x", name, m.ExtRaw)
			}
			shapes[m.Src.String()+" "+shape(m)]++
		}
		for _, c := range tr.Conns {
			if c.Established && !c.Start.IsZero() && slices.Contains(c.First(c.Active.Addr).Types(), wire.ExtVersion) {
				t.Errorf("%s: version header in the first packet of %v", name, c)
			}
		}
		return shapes
	}

	want := work("stock")
	p.use(p.a, patched())
	p.use(p.b, patched())
	got := work("patched")
	if len(want) < 4 {
		t.Errorf("the stock run has only %d shapes of headers: %v", len(want), want)
	}
	for s := range got {
		if want[s] == 0 {
			t.Errorf("only with patched modules: %s", s)
		}
	}
	for s := range want {
		if got[s] == 0 {
			t.Errorf("only with stock modules: %s", s)
		}
	}

	// And rds_ext cannot be used, which the tool says.
	r, err := p.a.Exec(p.ctx, "rdsinfo", "mr")
	if err != nil {
		t.Fatal(err)
	}
	if r.ExitCode != 3 {
		t.Errorf("rdsinfo without rds_ext: exit status %d, want 3: %s", r.ExitCode, r.Stderr)
	}
}
