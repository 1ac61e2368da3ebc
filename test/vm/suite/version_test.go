// SPDX-License-Identifier: MIT

package suite

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/rds-ext/rds_ext/internal/wire"
	"github.com/rds-ext/rds_ext/test/vm"
)

const (
	version31    = 0x0301
	replyWanted  = 0x8000
	oursFeatures = wire.FeatExtTypes | wire.FeatRemoteInvalidate
)

// oursNames are the names of oursFeatures.
var oursNames = []string{"ext-types", "remote-invalidate"}

// announced returns what the first message of a side on a connection says.
func (p *pair) announced(c *wire.Conn, from netip.Addr) (version, features uint16, ok bool) {
	p.Helper()
	m := c.First(from)
	if m == nil {
		p.Errorf("%v: %v sent no message", c, from)
		return 0, 0, false
	}
	ext := m.Find(wire.ExtVersion)
	if ext == nil {
		return 0, 0, false
	}
	version, features = ext.Version()
	return version, features, true
}

// ackAlone returns whether a message is a mere acknowledgment.
func ackAlone(m *wire.Message) bool {
	return m.Sequence == 0 && m.Len == 0 && m.SPort == 0 && m.DPort == 0
}

// wantVersionFirst checks that on each connection that the capture saw come up,
// the first message of both sides announces version and features, and that no
// other does but the first of the other kind: acknowledgments are posted beside
// the messages.
func (p *pair) wantVersionFirst(tr *wire.Trace) (fresh int) {
	p.Helper()
	for _, c := range tr.Conns {
		if !c.Established || c.Start.IsZero() || c.Transport != wire.IB {
			continue
		}
		fresh++
		for _, side := range []*vm.Node{p.a, p.b} {
			version, features, ok := p.announced(c, addr(side))
			if !ok || version != version31 || features != oursFeatures {
				p.Errorf("%v: the first message of %s announces %#x, features %#x (version header: %v); want %#x, %#x",
					c, side.Name(), version, features, ok, version31, oursFeatures)
			}
			seen := map[bool]int{}
			for i, m := range c.From(addr(side)) {
				seen[ackAlone(m)]++
				if seen[ackAlone(m)] > 1 && m.Find(wire.ExtVersion) != nil {
					p.Errorf("%v: message %d of %s announces again", c, i, side.Name())
				}
				if !m.ChecksumOK {
					p.Errorf("%v: message %d of %s has a wrong header checksum", c, i, side.Name())
				}
			}
		}
	}
	return fresh
}

// wantAgreed checks what rdsinfo says where both sides run rds_ext.
func (p *pair) wantAgreed(n *vm.Node) conn {
	p.Helper()
	c := p.ib(n)
	if c.State != "up" || c.PeerVersion == nil || *c.PeerVersion != "3.1" || c.LearntFrom != "first packet" ||
		c.PeerKind != "rds_ext" || !slices.Equal(c.PeerFeatures, oursNames) ||
		!slices.Equal(c.AgreedFeatures, oursNames) {
		p.Errorf("rdsinfo on %s: %v", n.Name(), c)
	}
	return c
}

// Part 4 of the protocol: version and features in the first packet of each
// connection, both ways, and again after a link was cut.
func TestVersionInFirstPacket(t *testing.T) {
	p := boot(t, ours(), ours())
	p.serve(p.b)

	capture := p.capture("first")
	p.stress(p.a, p.b, "--count", "50", "--mode", "both")
	tr := p.trace(capture)
	if p.wantVersionFirst(tr) == 0 {
		t.Fatal("the capture has no connection that came up")
	}
	before := p.wantAgreed(p.a)
	p.wantAgreed(p.b)
	if before.Ups != 1 || before.Downs != 0 {
		t.Errorf("rdsinfo before the cut: %v", before)
	}

	// Cut until the connection is down: something has to be under way for the
	// sender to notice.
	capture = p.capture("cut")
	stress := p.start(p.a, "2>.", stressArgsLoud(p.a, p.b, "--mode", "msg", "--time", "15s", "--peer-timeout", "60s")...)
	p.env.Link(p.b).Cut()
	p.eventually("the connection goes down, and with it what was said on it", func() (bool, string) {
		c := p.ib(p.a)
		return c.Downs > 0 && c.Features == nil && c.PeerFeatures == nil && c.PeerKind == "unknown", c.String()
	})
	p.env.Link(p.b).Restore()
	r, err := stress.Wait()
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("stress across the cut: %v, exit status %d\n%s", err, r.ExitCode, r.Stderr)
	}
	p.verdict(r.Stdout)
	if p.wantVersionFirst(p.trace(capture)) == 0 {
		t.Fatal("the capture has no connection that came up after the cut")
	}
	after := p.wantAgreed(p.a)
	if after.ID != before.ID || after.Ups < 2 || after.Downs < 1 {
		t.Errorf("rdsinfo after the cut: %v, before: %v", after, before)
	}
}

// stressArgsLoud is stressArgs with progress on standard error.
func stressArgsLoud(from, to *vm.Node, args ...string) []string {
	return slices.DeleteFunc(stressArgs(from, to, args...), func(s string) bool { return s == "--quiet" })
}
