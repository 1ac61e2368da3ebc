// SPDX-License-Identifier: MIT

package engine

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/fakerds"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

var registrations = []Registration{{}, {FreeMR: true}, {GetMR: true}, {GetMR: true, FreeMR: true}}

// Each way to register does the same work, with exactly the calls and the messages
// that belong to it.
func TestRegistrations(t *testing.T) {
	for _, g := range registrations {
		t.Run(fmt.Sprintf("%+v", g), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const count = 200
				net := fakerds.New()
				var maps, dests, once int
				net.Fault = func(_ int, _ netip.AddrPort, m rds.Message) (f fakerds.Fault) {
					if m.Map != nil {
						maps++
						if m.Map.Flags&rds.UseOnce != 0 {
							once++
						}
					}
					if m.Dest != 0 {
						dests++
					}
					return f
				}
				o := run(t, setup{net: net, params: wire.Params{Mode: wire.ModeBoth}, registration: g, count: count})
				o.good(t, count)
				calls := o.client.Local.Calls
				want := map[string]int64{"sendmsg": count, "get_mr": 0, "free_mr": 0}
				if g.GetMR {
					want["get_mr"] = count
				}
				if g.FreeMR {
					want["free_mr"] = count
				}
				for name, n := range want {
					if calls[name] != n {
						t.Errorf("%d calls of %s, want %d: %v", calls[name], name, n, calls)
					}
				}
				// One that finds the answer, and one that finds nothing, at most.
				if calls["recvmsg"] < count || calls["recvmsg"] > 2*count+20 {
					t.Errorf("%d calls of recvmsg", calls["recvmsg"])
				}
				if g.GetMR != (dests == count) || g.GetMR == (maps == count) || (!g.GetMR && !g.FreeMR) != (once == count) {
					t.Errorf("%d requests with RDMA_MAP, %d of them use once, %d with RDMA_DEST", maps, once, dests)
				}
				if o.client.Local.MRsMapped != count || o.server.Local.Calls["sendmsg"] != count {
					t.Errorf("%d regions, calls of the server %v", o.client.Local.MRsMapped, o.server.Local.Calls)
				}
				times := o.client.Times
				for name, h := range map[string]struct {
					got, want int64
				}{
					"latency": {times.Latency.Count(), count}, "sendmsg": {times.Sendmsg.Count(), count},
					"get_mr": {times.GetMR.Count(), want["get_mr"]}, "free_mr": {times.FreeMR.Count(), want["free_mr"]},
				} {
					if h.got != h.want {
						t.Errorf("%d times of %s, want %d", h.got, name, h.want)
					}
				}
				if p := times.GetMR.Summary().P50; g.GetMR && (p < 85 || p > 95) {
					t.Errorf("GET_MR took %v us", p)
				}
			})
		})
	}
}

// Faults of the network are mended whichever way memory is registered, and no
// region is left or lost.
func TestRegistrationsRecover(t *testing.T) {
	for _, g := range registrations {
		t.Run(fmt.Sprintf("%+v", g), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := fakerds.New()
				plain := 0
				net.Fault = func(n int, _ netip.AddrPort, m rds.Message) (f fakerds.Fault) {
					if m.RDMA == nil {
						plain++
					}
					switch {
					case n%37 == 0:
						f.Err = &rds.Error{Op: "send", Err: unix.ENOMEM}
					case n%41 == 0 && m.RDMA != nil:
						f.Status = rds.StatusDropped
					// The kernel tells what has become of RDMA while the connection lasts.
					case m.RDMA == nil && plain%97 == 0:
						f.Vanish = true
					}
					return f
				}
				timing := DefaultTiming()
				timing.Stall = 200 * time.Millisecond
				o := run(t, setup{net: net, params: wire.Params{Mode: wire.ModeBoth}, registration: g, count: 300, timing: &timing})
				if o.err != nil || o.client.Verdict() != nil {
					t.Fatalf("%v, %v", o.err, o.client.Verdict())
				}
				if o.client.Ops != 300 || o.client.Aborted == 0 || o.client.Local.Stalls == 0 {
					t.Errorf("%+v", o.client.Local)
				}
			})
		})
	}
}

// A kernel that has no GET_MR says so, and the session ends with its words.
func TestGetMRRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := fakerds.New()
		net.NoGetMR = unix.EOPNOTSUPP
		o := run(t, setup{net: net, params: wire.Params{Mode: wire.ModeWrite}, registration: Registration{GetMR: true}, count: 10})
		if !errors.Is(o.err, rds.ErrNoRDMA) || o.client.Ops != 0 {
			t.Errorf("%v, %d operations", o.err, o.client.Ops)
		}
	})
}

// A region that is not for one use only is the application's until it frees it.
func TestReleasedBehindOurBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := fakerds.New()
		net.Fault = func(n int, _ netip.AddrPort, m rds.Message) (f fakerds.Fault) {
			f.TakeMR = m.RDMA != nil && n > 50
			return f
		}
		o := run(t, setup{net: net, params: wire.Params{Mode: wire.ModeWrite}, registration: Registration{FreeMR: true}, count: 200})
		if !errors.Is(o.err, rds.ErrNoMR) || !strings.Contains(o.err.Error(), "not for one use only") {
			t.Errorf("%v", o.err)
		}
	})
}

// Tasks with a type of service use a connection of its own, both ways.
func TestTOS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := fakerds.New()
		o := run(t, setup{net: net, params: wire.Params{Mode: wire.ModeBoth, TOS: 3}, count: 50})
		o.good(t, 50)
		seen := map[fakerds.Pair]bool{}
		for _, p := range net.Pairs() {
			seen[p] = true
		}
		there := fakerds.Pair{From: clientIP, To: serverAddr.Addr(), TOS: 3}
		back := fakerds.Pair{From: serverAddr.Addr(), To: clientIP, TOS: 3}
		if !seen[there] || !seen[back] || len(seen) != 4 {
			t.Errorf("connections %v", net.Pairs())
		}
	})
}
