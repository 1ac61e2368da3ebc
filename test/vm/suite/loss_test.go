// SPDX-License-Identifier: MIT

package suite

import (
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/internal/wire"
	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/ether"
)

// Plain messages while 2 % of the packets are lost, 2 % come twice and 2 % out
// of order, in both directions: every byte verified, nothing lost. (RDMA under
// loss stops stock net/rds over rxe for good; it is left to an engine of ours.)
func TestPlainMessagesUnderLoss(t *testing.T) {
	p := boot(t, ours(), ours())
	p.serve(p.b)
	p.stress(p.a, p.b, "--mode", "msg", "--count", "5")

	roce := wire.Match(wire.IsRC)
	var rules []*ether.Applied
	for _, n := range []*vm.Node{p.a, p.b} {
		for _, r := range []ether.Rule{
			{Name: "loss", Match: roce, Pick: ether.Rate(0.02), Do: ether.Drop()},
			{Name: "twice", Match: roce, Pick: ether.Rate(0.02), Do: ether.Duplicate(1)},
			{Name: "late", Match: roce, Pick: ether.Rate(0.02), Do: ether.Reorder(3, 20*time.Millisecond)},
		} {
			rules = append(rules, p.add(p.env.Link(n), ether.FromNode, r))
		}
	}
	r := p.stress(p.a, p.b, "--mode", "msg", "--duplex", "--size", "6000", "--count", "400", "--peer-timeout", "2m")
	if r.Ops != 400 {
		t.Errorf("%d messages went through, want 400", r.Ops)
	}
	if r.Peer == nil || r.Peer.Ops != 400 {
		t.Errorf("the other side's 400 messages: %+v", r.Peer)
	}
	for i, rule := range rules {
		if rule.Picked() == 0 {
			t.Errorf("rule %d never acted on any of %d packets", i, rule.Matched())
		}
	}
}
