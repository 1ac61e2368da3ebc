// SPDX-License-Identifier: MIT

package suite

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/rds-ext/rds_ext/gonl/rds"
	"github.com/rds-ext/rds_ext/internal/wire"
	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/ether"
)

// mrEnds are the ways to an end among the counters of the MR engine.
var mrEnds = []string{
	"released", "remotely_invalidated", "freed", "orphaned", "unsent", "expired", "revoked", "device_removed",
}

// mrStats are the counters of the MR engine, as "rdsinfo mr stats --json" prints
// them.
type mrStats map[string]uint64

// since returns what was counted since an earlier time.
func (s mrStats) since(before mrStats) mrStats {
	d := mrStats{}
	for name, v := range s {
		d[name] = v - before[name]
	}
	return d
}

// String leaves out what is 0.
func (s mrStats) String() string {
	var parts []string
	for name, v := range s {
		if v != 0 {
			parts = append(parts, fmt.Sprintf("%s %d", name, v))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

func (p *pair) mrStats(n *vm.Node) mrStats {
	p.Helper()
	var s mrStats
	p.json(n, &s, "rdsinfo", "mr", "stats", "--json")
	return s
}

// json reads what a command prints.
func (p *pair) json(n *vm.Node, v any, argv ...string) {
	p.Helper()
	out := p.run(n, argv...)
	if err := json.Unmarshal([]byte(out), v); err != nil {
		p.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
}

// A pool is what "rdsinfo pool --json" prints of a device.
type pool struct {
	Device              string `json:"device"`
	Limit               uint64 `json:"limit"`
	MRs                 uint64 `json:"mrs"`
	MRsPeak             uint64 `json:"mrs_peak"`
	InUse               uint64 `json:"in_use"`
	InUsePeak           uint64 `json:"in_use_peak"`
	Invalidating        uint64 `json:"invalidating"`
	Free                uint64 `json:"free"`
	Quarantined         uint64 `json:"quarantined"`
	PinnedPages         uint64 `json:"pinned_pages"`
	PinnedPagesPeak     uint64 `json:"pinned_pages_peak"`
	Allocated           uint64 `json:"allocated"`
	Deallocated         uint64 `json:"deallocated"`
	Registrations       uint64 `json:"registrations"`
	LocalInvalidations  uint64 `json:"local_invalidations"`
	InvalidationChains  uint64 `json:"invalidation_chains"`
	RemoteInvalidations uint64 `json:"remote_invalidations"`
	Recoveries          uint64 `json:"recoveries"`
	StaleReplaced       uint64 `json:"stale_replaced"`
	Exhausted           uint64 `json:"exhausted"`
}

// used is whether anything is left of an MR.
func (l pool) used() bool {
	return l.InUse != 0 || l.Invalidating != 0 || l.Quarantined != 0 || l.PinnedPages != 0 || l.Free != l.MRs
}

// pools returns the pools of a node by device.
func (p *pair) pools(n *vm.Node) map[string]pool {
	p.Helper()
	var list []pool
	p.json(n, &list, "rdsinfo", "pool", "--json")
	m := map[string]pool{}
	for _, l := range list {
		m[l.Device] = l
	}
	return m
}

// pool returns the pool of rxe0; without one, that of a device never used.
func (p *pair) pool(n *vm.Node) pool {
	p.Helper()
	return p.pools(n)["rxe0"]
}

// An mr is what "rdsinfo mr --json" prints of one.
type mr struct {
	ID        uint32   `json:"id"`
	Device    string   `json:"device"`
	PID       uint32   `json:"pid"`
	Command   string   `json:"command"`
	UID       uint32   `json:"uid"`
	Socket    uint64   `json:"socket"`
	BoundAddr string   `json:"bound_addr"`
	BoundPort uint16   `json:"bound_port"`
	RKey      *uint32  `json:"rkey"`
	Length    uint64   `json:"length"`
	Pages     uint32   `json:"pages"`
	Flags     []string `json:"flags"`
	State     string   `json:"state"`
	ConnID    *uint32  `json:"conn_id"`
	PeerAddr  *string  `json:"peer_addr"`
}

func (p *pair) mrs(n *vm.Node, args ...string) []mr {
	p.Helper()
	var list []mr
	p.json(n, &list, append([]string{"rdsinfo", "mr", "--json"}, args...)...)
	return list
}

// mrOf returns the MR of a node with a key.
func (p *pair) mrOf(n *vm.Node, cookie uint64) (mr, bool) {
	p.Helper()
	for _, m := range p.mrs(n) {
		if m.RKey != nil && *m.RKey == rds.Cookie(cookie).Key() {
			return m, true
		}
	}
	return mr{}, false
}

// wantState checks the state of the MR with a key.
func (p *pair) wantState(n *vm.Node, cookie uint64, state string) mr {
	p.Helper()
	m, ok := p.mrOf(n, cookie)
	if !ok || m.State != state {
		p.Errorf("%s: the MR with cookie %#x is there: %v, %+v; want it %s", n.Name(), cookie, ok, m, state)
	}
	return m
}

// balanced is whether each MR that was mapped has ended in one way, or lives.
func (s mrStats) balanced() bool {
	sum := s["live"]
	for _, e := range mrEnds {
		sum += s[e]
	}
	return sum == s["mapped"]
}

// wantNothingLeft waits until nothing is left of any MR, and checks that the
// counters balance.
func (p *pair) wantNothingLeft(nodes ...*vm.Node) {
	p.Helper()
	for _, n := range nodes {
		p.eventually("no MR is left on "+n.Name(), func() (bool, string) {
			for _, l := range p.pools(n) {
				if l.used() {
					return false, fmt.Sprintf("%+v", l)
				}
			}
			return true, ""
		})
		if s := p.mrStats(n); s["live"] != 0 || !s.balanced() {
			p.Errorf("counters of MRs on %s: %v", n.Name(), s)
		}
		if list := p.mrs(n); len(list) != 0 {
			p.Errorf("%s shows %d MRs, the first: %+v", n.Name(), len(list), list[0])
		}
	}
}

// wantPins checks how many pages of processes the kernel has pinned. RDS alone
// pins any here.
func (p *pair) wantPins(n *vm.Node, want int) {
	p.Helper()
	if got := p.pins(n); got != want {
		p.Errorf("%d pages are pinned on %s, want %d", got, n.Name(), want)
	}
}

// restart gives both nodes fresh modules: no connection, all counters 0.
func (p *pair) restart() {
	p.Helper()
	p.restartWith(ours())
}

// restartWith unloads on both nodes before it loads on either: a connection that
// one of them has would be set up again.
func (p *pair) restartWith(mods []vm.Module) {
	p.Helper()
	p.use(p.a, nil)
	p.use(p.b, mods)
	p.use(p.a, mods)
}

// refusals counts the answers of a node that refuse an RDMA operation: negative
// acknowledgements for a key or an address.
func (p *pair) refusals(c *ether.Capture, by *vm.Node) int {
	p.Helper()
	return p.refusalsFrom(c, addr(by))
}

func (p *pair) refusalsFrom(c *ether.Capture, by netip.Addr) (count int) {
	p.Helper()
	const remoteAccessError = 0x62 // syndrome
	for f, err := range c.Frames() {
		if err != nil {
			p.Fatal(err)
		}
		if f.Dir != ether.FromNode {
			continue
		}
		d, err := wire.Decode(f.Data)
		if err != nil {
			p.Fatal(err)
		}
		if d.RoCE != nil && d.Src == by && d.RoCE.AETH != nil && d.RoCE.AETH.Syndrome == remoteAccessError {
			count++
		}
	}
	return count
}

// checkKeys holds all keys of a trace against the rules of remote invalidation,
// and returns those of one side that were offered to the other.
func (p *pair) checkKeys(tr *wire.Trace, owner netip.Addr) (offered []*wire.Key) {
	p.Helper()
	for _, k := range tr.Keys() {
		if err := k.CheckInvalidation(); err != nil {
			p.Error(err)
		}
		if k.Offer != nil && k.Owner == owner {
			offered = append(offered, k)
		}
	}
	return offered
}
