// SPDX-License-Identifier: MIT

package suite

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rds-ext/rds_ext/gonl/rds"
	"github.com/rds-ext/rds_ext/test/vm"
)

// An mrEvent is a line of "rdsinfo monitor --json --events mr".
type mrEvent struct {
	Event string
	MR    *mr
}

// events waits for a monitor that ends by itself.
func (p *pair) events(monitor *vm.Cmd) (list []mrEvent) {
	p.Helper()
	r, err := monitor.Wait()
	if err != nil || r.ExitCode != 0 {
		p.Fatalf("monitor: %v, exit status %d: %s", err, r.ExitCode, r.Stderr)
	}
	for line := range strings.Lines(r.Stdout) {
		var e mrEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.MR == nil {
			p.Fatalf("%v: %s", err, line)
		}
		list = append(list, e)
	}
	return list
}

// monitorMRs waits for so many events of MRs.
func (p *pair) monitorMRs(count int) *vm.Cmd {
	p.Helper()
	return p.start(p.a, "2>ready", "rdsinfo", "monitor", "--json", "--events", "mr", "--count", fmt.Sprint(count))
}

// Use-once MRs that nobody uses raise an event, and are revoked where the setting
// says so; and an operator revokes any. The peer is locked out, and the owner
// notices nothing.
func testMRAge(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		p := outer.sub(t)
		owner, peer := p.probe(p.a), p.probe(p.b)
		ownerAddr, peerAddr := owner.open(5000, 4096), peer.open(5001, 4096)
		g := &getMRPair{pair: p, owner: owner, peer: peer, ownerAddr: ownerAddr, peerAddr: peerAddr}
		p.greet(owner, peer, ownerAddr, peerAddr)
		before := p.mrStats(p.a)

		// lockedOut checks that the peer cannot use a key, and the owner free it.
		lockedOut := func(cookie uint64) {
			t.Helper()
			p.wantPins(p.a, 0)
			capture := p.capture(fmt.Sprintf("revoked-%d", uint32(cookie)))
			if !peer.refused(ownerAddr, cookie) {
				t.Errorf("%v can be used although it was revoked", rds.Cookie(cookie))
			}
			if err := capture.Close(); err != nil {
				t.Fatal(err)
			}
			if p.refusals(capture, p.a) == 0 {
				t.Error("no RDMA operation was refused on the wire")
			}
			g.reconnect()
			owner.must(owner.free(cookie, rds.Invalidate))
			owner.fails("EINVAL", owner.free(cookie, 0))
			p.wantNothingLeft(p.a)
		}

		// Reported, and left alone: once, and not if it is not use-once.
		p.set(p.a, "mr-max-age-ms=1000")
		monitor := p.monitorMRs(2)
		lasting := owner.getMR(4096, rds.ReadWrite)
		first := owner.mapTo(peerAddr, 4096, rds.UseOnce|rds.ReadWrite, "mapped")
		p.eventually("it is aged", func() (bool, string) {
			m, ok := p.mrOf(p.a, first)
			return ok && slices.Contains(m.Flags, "aged"), fmt.Sprintf("%v: %+v", ok, m)
		})
		second := owner.getMR(4096, rds.UseOnce|rds.ReadWrite)
		list := p.events(monitor)
		for i, cookie := range []uint64{first, second} {
			m := p.wantState(p.a, cookie, []string{"advertised", "mapped"}[i])
			if list[i].Event != "mr-aged" || list[i].MR.ID != m.ID || !slices.Contains(list[i].MR.Flags, "aged") {
				t.Errorf("event %d: %s %+v; want mr-aged of %+v", i, list[i].Event, list[i].MR, m)
			}
		}
		p.wantState(p.a, lasting, "mapped")
		peer.recv("mapped")
		peer.must(peer.write(ownerAddr, first, 4096, "done"))
		if s := peer.status(); s != rds.StatusSuccess {
			t.Errorf("RDMA write to an MR that is only old: %v", s)
		}
		owner.recv("done")
		owner.must(owner.free(second, 0))
		owner.must(owner.free(lasting, 0))

		// Revoked.
		p.set(p.a, "mr-age-revoke=on")
		monitor = p.monitorMRs(2)
		third := owner.mapTo(peerAddr, 4096, rds.UseOnce|rds.ReadWrite, "mapped")
		list = p.events(monitor)
		if list[0].Event != "mr-aged" || list[1].Event != "mr-revoked" || list[0].MR.ID != list[1].MR.ID || list[1].MR.State != "expired" {
			t.Errorf("events: %s, %s %+v", list[0].Event, list[1].Event, list[1].MR)
		}
		p.wantUnpinned(list[1].MR.ID, "expired")
		lockedOut(third)

		// By an operator, who names it by its number or by its key.
		p.run(p.a, "rdsinfo", "config", "set", "mr-max-age-ms=0")
		monitor = p.monitorMRs(2)
		for _, flags := range []rds.Flags{rds.ReadWrite, rds.UseOnce | rds.ReadWrite} {
			cookie := owner.mapTo(peerAddr, 4096, flags, "mapped")
			m := p.wantState(p.a, cookie, "advertised")
			if m.RKey == nil {
				t.Fatalf("root is not shown the R_Key: %+v", m)
			}
			by := []string{fmt.Sprint(m.ID)}
			if flags&rds.UseOnce != 0 {
				by = []string{"--rkey", fmt.Sprintf("%#x", *m.RKey), "--older-than", "0s"}
			}
			if out := p.run(p.a, append([]string{"rdsinfo", "mr", "revoke"}, by...)...); !strings.HasPrefix(out, fmt.Sprintf("revoked: MR %d ", m.ID)) {
				t.Errorf("mr revoke %v: %s", by, out)
			}
			p.wantUnpinned(m.ID, "revoked")
			lockedOut(cookie)
		}
		for _, e := range p.events(monitor) {
			if e.Event != "mr-revoked" || e.MR.State != "revoked" {
				t.Errorf("event %s %+v", e.Event, e.MR)
			}
		}
		d := p.mrStats(p.a).since(before)
		if d["aged"] != 3 || d["expired"] != 1 || d["revoked"] != 2 || d["freed"] != 2 || d["mapped"] != 6 || !d.balanced() {
			t.Errorf("counters of MRs: %v", d)
		}
	}
}

// wantUnpinned waits until the pages of an MR that an application holds are
// unpinned.
func (p *pair) wantUnpinned(id uint32, state string) {
	p.Helper()
	p.eventually("it is unpinned", func() (bool, string) {
		var m mr
		p.json(p.a, &m, "rdsinfo", "mr", "show", fmt.Sprint(id), "--json")
		return m.State == state && m.Pages == 0 && m.RKey == nil, fmt.Sprintf("%+v", m)
	})
}
