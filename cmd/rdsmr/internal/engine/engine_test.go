// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/fakerds"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/stats"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// All tests here run in simulated time: seconds cost nothing, and every limit is
// the real one.

var (
	clientIP   = netip.MustParseAddr("10.0.0.1")
	serverAddr = netip.MustParseAddrPort("10.0.0.2:4000")
)

// fakeHost makes the fake network a Host.
type fakeHost struct{ net *fakerds.Net }

func (h fakeHost) Listen(a netip.AddrPort, cfg rds.Config) (Conn, error) {
	c, err := h.net.Listen(a, cfg)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// outcome is what both sides of a test ended with.
type outcome struct {
	client, server *stats.Report
	err, serverErr error // why the session was cut short
	log            []string
}

type setup struct {
	net          *fakerds.Net
	params       wire.Params
	registration Registration
	count        int64
	duration     time.Duration
	timing       *Timing
	memory       int
	during       func(t *testing.T, interrupt, stopServer func())
	noServer     bool
	peer         netip.AddrPort // serverAddr, if not set
}

func run(t *testing.T, s setup) (o outcome) {
	t.Helper()
	if s.params.Size == 0 {
		s.params.Size = 4096
	}
	if s.params.Depth == 0 {
		s.params.Depth = 4
	}
	if s.params.Tasks == 0 {
		s.params.Tasks = 2
	}
	timing := DefaultTiming()
	if s.timing != nil {
		timing = *s.timing
	}
	if s.memory == 0 {
		s.memory = 1 << 28
	}
	if !s.peer.IsValid() {
		s.peer = serverAddr
	}
	s.params.Seed, s.params.Count = 42, s.count
	host := fakeHost{s.net}
	sctx, stopServer := context.WithCancel(t.Context())
	served := make(chan error, 1)
	if s.noServer {
		served <- nil
	} else {
		srv, err := NewServer(host, serverAddr, ServerConfig{
			Timing: timing, MaxMemory: s.memory,
			Log:    func(f string, a ...any) { o.log = append(o.log, fmt.Sprintf(f, a...)) },
			Report: func(r *stats.Report, why error) { o.server, o.serverErr = r, why },
		})
		if err != nil {
			t.Fatal(err)
		}
		go func() { served <- srv.Run(sctx) }()
	}
	cctx, interrupt := context.WithCancel(t.Context())
	if s.during != nil {
		go s.during(t, interrupt, stopServer)
	}
	o.client, o.err = RunClient(cctx, host, ClientConfig{
		Local: clientIP, Peer: s.peer, Params: s.params, Registration: s.registration, Timing: timing, Duration: s.duration,
	})
	interrupt()
	stopServer()
	if err := <-served; err != nil {
		t.Errorf("server: %v", err)
	}
	if n := s.net.Open(); n != 0 {
		t.Errorf("%d sockets are still open", n)
	}
	if n := s.net.Regions(); n != 0 {
		t.Errorf("%d regions are still registered", n)
	}
	return o
}

// good fails the test unless the run was flawless and did count operations.
func (o *outcome) good(t *testing.T, count int64) {
	t.Helper()
	if o.err != nil || o.serverErr != nil {
		t.Fatalf("client: %v, server: %v", o.err, o.serverErr)
	}
	if err := o.client.Verdict(); err != nil {
		t.Errorf("client's verdict: %v", err)
	}
	if err := o.server.Verdict(); err != nil {
		t.Errorf("server's verdict: %v", err)
	}
	if o.client.Ops != count || o.server.Local.Served < count {
		t.Errorf("client did %d, server served %d, want %d", o.client.Ops, o.server.Local.Served, count)
	}
}

func TestModes(t *testing.T) {
	for _, mode := range wire.Modes {
		for _, duplex := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,duplex=%v", mode, duplex), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o := run(t, setup{net: fakerds.New(), params: wire.Params{Mode: mode, Duplex: duplex}, count: 500})
					o.good(t, 500)
					reads, writes := o.client.Local.Reads, o.client.Local.Writes
					switch mode {
					case wire.ModeRead:
						writes += 500
					case wire.ModeWrite:
						reads += 500
					case wire.ModeBoth:
						reads, writes = reads+250, writes+250
					case wire.ModeMsg:
						reads, writes = 500, 500
					}
					if reads < 490 || writes < 490 || reads+writes < 998 {
						t.Errorf("reads %d, writes %d", o.client.Local.Reads, o.client.Local.Writes)
					}
					if duplex != (o.server.Ops > 0) || o.server.Ops > 500 {
						t.Errorf("server did %d operations of its own", o.server.Ops)
					}
					if o.client.Peer == nil || o.client.Peer.Served < 500 || o.server.Peer == nil || o.server.Peer.Ops != 500 {
						t.Errorf("results were not exchanged: %+v, %+v", o.client.Peer, o.server.Peer)
					}
					if o.server.Peer != nil && o.server.Peer.Served < o.server.Ops {
						t.Errorf("client served %d of the server's %d operations: not its last count", o.server.Peer.Served, o.server.Ops)
					}
				})
			})
		}
	}
}

func TestDurationAndInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := fakerds.New()
		// The network answers at once, so limit the rate, or simulated time
		// never passes: every tenth message has to wait.
		slow.Fault = everyNth(10)
		o := run(t, setup{net: slow, params: wire.Params{Mode: wire.ModeWrite}, duration: 2 * time.Second})
		o.good(t, o.client.Ops)
		if o.client.Ops == 0 || o.client.Seconds < 2 || o.client.Seconds > 3 || o.client.Interrupted {
			t.Errorf("%d operations in %v s", o.client.Ops, o.client.Seconds)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		slow := fakerds.New()
		slow.Fault = everyNth(10)
		o := run(t, setup{
			net: slow, params: wire.Params{Mode: wire.ModeBoth, Duplex: true},
			during: func(_ *testing.T, interrupt, _ func()) {
				time.Sleep(1500 * time.Millisecond)
				interrupt()
			},
		})
		o.good(t, o.client.Ops)
		if !o.client.Interrupted || o.client.Seconds > 3 {
			t.Errorf("interrupted %v after %v s", o.client.Interrupted, o.client.Seconds)
		}
	})
}

// TestDuplexCount: with requests both ways each side makes as many operations as the
// count says, also where one of them is much slower than the other; but nobody waits
// for that at an early end.
func TestDuplexCount(t *testing.T) {
	for _, mode := range []wire.Mode{wire.ModeBoth, wire.ModeMsg} {
		for _, slow := range []netip.Addr{clientIP, serverAddr.Addr()} {
			t.Run(fmt.Sprintf("%s, slow %v", mode, slow), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o := run(t, setup{net: slowRequests(slow), params: wire.Params{Mode: mode, Duplex: true, Tasks: 2}, count: 500})
					o.good(t, 500)
					if o.client.Peer.Ops != 500 || o.server.Ops != 500 {
						t.Errorf("the peer made %d operations, by its own account %d; want 500", o.client.Peer.Ops, o.server.Ops)
					}
				})
			})
		}
	}
	for name, s := range map[string]setup{
		"interrupted": {during: func(_ *testing.T, interrupt, _ func()) {
			time.Sleep(10 * time.Second)
			interrupt()
		}},
		"time is over": {duration: 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				s.net, s.params, s.count = slowRequests(serverAddr.Addr()), wire.Params{Mode: wire.ModeWrite, Duplex: true}, 500
				o := run(t, s)
				o.good(t, 500)
				if n := o.client.Peer.Ops; n == 0 || n >= 500 {
					t.Errorf("the peer made %d operations", n)
				}
				if d := time.Since(start); d > 12*time.Second {
					t.Errorf("it took %v", d)
				}
			})
		})
	}
}

// slowRequests is a network in which the requests of a host need a tenth of a second
// each.
func slowRequests(host netip.Addr) *fakerds.Net {
	n := fakerds.New()
	var last time.Time
	n.Fault = func(_ int, from netip.AddrPort, m rds.Message) (f fakerds.Fault) {
		request := m.Map != nil || len(m.Payload) == wire.HeaderSize+4096
		if from.Addr() != host || !request {
			return f
		}
		if now := time.Now(); now.Sub(last) >= 100*time.Millisecond {
			last = now
			return f
		}
		f.Err = &rds.Error{Op: "send", Err: unix.EAGAIN}
		return f
	}
	return n
}

// everyNth makes every nth message impossible for a moment.
func everyNth(n int) func(int, netip.AddrPort, rds.Message) fakerds.Fault {
	return func(i int, _ netip.AddrPort, _ rds.Message) (f fakerds.Fault) {
		if i%n == 0 {
			f.Err = &rds.Error{Op: "send", Err: unix.EAGAIN}
		}
		return f
	}
}

func TestServerEndsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := fakerds.New()
		net.Fault = everyNth(10)
		o := run(t, setup{
			net: net, params: wire.Params{Mode: wire.ModeWrite},
			during: func(_ *testing.T, _, stopServer func()) {
				time.Sleep(1500 * time.Millisecond)
				stopServer()
			},
		})
		if o.err == nil || !strings.Contains(o.err.Error(), "ended the session") {
			t.Errorf("client: %v", o.err)
		}
		// Both still know what was done, and agree on it.
		if o.client == nil || o.client.Ops == 0 || o.server == nil || o.server.Local.Served != o.client.Ops {
			t.Errorf("client %+v, server %+v", o.client, o.server)
		}
		if o.client.VerifyFailures+o.client.MRsHeld != 0 || o.client.Peer == nil {
			t.Errorf("client %+v", o.client)
		}
	})
}

// TestVerification: whatever is wrong with the data is counted, on the side
// that owns the buffer.
func TestVerification(t *testing.T) {
	first := func(seg rds.Segment) { seg.Bytes()[17] ^= 1 }
	guard := func(seg rds.Segment) {
		// One byte beyond the data, which lies in the same mapping.
		b := seg.Buffer.Bytes()
		beyond(b)[0] ^= 1
	}
	for _, tt := range []struct {
		name    string
		mode    wire.Mode
		corrupt func(rds.Segment)
		data    bool
		atPeer  bool
	}{
		{"write, data", wire.ModeWrite, first, true, false},
		{"write, guard", wire.ModeWrite, guard, false, false},
		{"read, data", wire.ModeRead, first, true, true},
		{"read, guard", wire.ModeRead, guard, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := fakerds.New()
				hits := int64(0)
				net.Fault = func(n int, _ netip.AddrPort, m rds.Message) (f fakerds.Fault) {
					if m.RDMA != nil && n%50 == 0 {
						hits++
						f.Corrupt = tt.corrupt
					}
					return f
				}
				o := run(t, setup{net: net, params: wire.Params{Mode: tt.mode, Size: 4000}, count: 300})
				if o.err != nil {
					t.Fatal(o.err)
				}
				side := o.client.Local
				if tt.atPeer {
					side = *o.client.Peer
				}
				got := side.GuardFailures
				if tt.data {
					got = side.DataFailures
				}
				if hits == 0 || got != hits || o.client.VerifyFailures != hits {
					t.Errorf("%d corruptions, %d counted, %d in all: %+v", hits, got, o.client.VerifyFailures, o.client)
				}
				if err := o.client.Verdict(); err == nil || !strings.Contains(err.Error(), "verification") {
					t.Errorf("verdict %v", err)
				}
			})
		})
	}
}

// TestHeldRegions: a region that the peer's message failed to release is found,
// counted and freed.
func TestHeldRegions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := fakerds.New()
		held := int64(0)
		net.Fault = func(n int, _ netip.AddrPort, m rds.Message) (f fakerds.Fault) {
			if m.RDMA != nil && n%40 == 0 {
				held++
				f.KeepMR = true
			}
			return f
		}
		o := run(t, setup{net: net, params: wire.Params{Mode: wire.ModeBoth}, count: 300})
		if o.err != nil {
			t.Fatal(o.err)
		}
		if held == 0 || o.client.MRsHeld != held || o.client.Local.MRsMapped != 300 {
			t.Errorf("%d kept, %d counted of %d", held, o.client.MRsHeld, o.client.Local.MRsMapped)
		}
		if err := o.client.Verdict(); err == nil || !strings.Contains(err.Error(), "memory regions") {
			t.Errorf("verdict %v", err)
		}
	})
}
