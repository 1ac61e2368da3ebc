// SPDX-License-Identifier: MIT

package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/engine"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/fakerds"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/stats"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

var (
	localIP  = netip.MustParseAddr("10.0.0.1")
	peerAddr = netip.MustParseAddrPort("10.0.0.2:4000")
)

const testCount = 120

// fakeHost makes the fake network a Host.
type fakeHost struct{ net *fakerds.Net }

func (h fakeHost) Listen(a netip.AddrPort, cfg rds.Config) (engine.Conn, error) {
	c, err := h.net.Listen(a, cfg)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// setup is a bench against a server on a fake network.
type setup struct {
	net      *fakerds.Net
	control  Control
	cfg      Config
	noServer bool
	beside   int // sockets of others
	during   func(interrupt func())
}

func (s setup) run(t *testing.T) (*Report, error) {
	t.Helper()
	host := fakeHost{s.net}
	sctx, stopServer := context.WithCancel(t.Context())
	served := make(chan error, 1)
	if s.noServer {
		served <- nil
	} else {
		srv, err := engine.NewServer(host, peerAddr, engine.ServerConfig{
			Timing: engine.DefaultTiming(), MaxMemory: 1 << 28,
			Log: func(string, ...any) {}, Report: func(*stats.Report, error) {},
		})
		if err != nil {
			t.Fatal(err)
		}
		go func() { served <- srv.Run(sctx) }()
	}
	if s.cfg.Modes == nil {
		s.cfg.Modes = Modes()
	}
	s.cfg.Local, s.cfg.Peer, s.cfg.Timing = localIP, peerAddr, engine.DefaultTiming()
	s.cfg.Rounds = max(s.cfg.Rounds, 1)
	s.cfg.Params = wire.Params{Mode: wire.ModeWrite, Size: 4096, Depth: 8, Tasks: 1, Count: testCount, Seed: 42}
	s.cfg.ReadFile = fakeProc(s.net)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	if s.during != nil {
		go s.during(interrupt)
	}
	r, err := RunAll(ctx, host, s.control, s.cfg)
	stopServer()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if open, regions := s.net.Open(), s.net.Regions(); open != s.beside || regions != 0 {
		t.Errorf("%d sockets are open, %d regions registered", open, regions)
	}
	return r, err
}

// fakeProc is /proc of a host whose kernel never unpins what it has registered, and
// whose CPU is busy three quarters of the time.
func fakeProc(net *fakerds.Net) func(string) ([]byte, error) {
	ticks := 0
	return func(name string) ([]byte, error) {
		switch name {
		case "/proc/vmstat":
			return fmt.Appendf(nil, "nr_free_pages 5\nnr_foll_pin_acquired %d\nnr_foll_pin_released 7\n", 107+net.Mapped()), nil
		case "/proc/stat":
			ticks += 800
			return fmt.Appendf(nil, "cpu  %d 0 %d %d 0 0 %d 0 0 0\ncpu0 1\n", ticks/2, ticks/8, ticks/4, ticks/8), nil
		}
		return nil, fmt.Errorf("%s is not there", name)
	}
}

// of returns the runs of a mode.
func of(r *Report, m Mode) (list []Run) {
	for _, x := range r.Runs {
		if x.Mode == m {
			list = append(list, x)
		}
	}
	return list
}

func is(p *int64, want int64) bool { return p != nil && *p == want }

// On a stock kernel some modes cannot run, which is no failure, and the others say
// what every kernel can tell.
func TestStock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := fakerds.New()
		net.NoGetMR = unix.EOPNOTSUPP
		r, err := setup{net: net}.run(t)
		if err != nil {
			t.Fatal(err)
		}
		if r.Modules != ModulesStock || r.Transport != "ib" || r.Kernel == "" || len(r.Runs) != len(Modes()) {
			t.Errorf("%+v", r)
		}
		for _, m := range []Mode{GetMRFreeMR, GetMRUseOnce, MapRemoteInv} {
			x := of(r, m)[0]
			if !x.Unsupported || x.Error == "" || x.Numbers != nil {
				t.Errorf("%s: %+v", m, x)
			}
		}
		for m, calls := range map[Mode]map[string]float64{
			MapFreeMR: {"sendmsg": 1, "free_mr": 1}, MapUseOnce: {"sendmsg": 1}, Plain: {"sendmsg": 1},
		} {
			x := of(r, m)[0]
			if x.Error != "" || x.Numbers == nil || x.Ops != testCount {
				t.Fatalf("%s: %+v", m, x)
			}
			total := 0.0
			for name, n := range x.Syscalls {
				total += n
				if want, ok := calls[name]; (ok || name != "recvmsg") && n != want {
					t.Errorf("%s: %v calls of %s an operation", m, n, name)
				}
			}
			if d := total - x.SyscallsPerOp; d > 0.01 || d < -0.01 || x.PeerSyscallsPerOp == nil || *x.PeerSyscallsPerOp < 2 {
				t.Errorf("%s: calls %v, %v an operation, the peer's %v", m, x.Syscalls, x.SyscallsPerOp, x.PeerSyscallsPerOp)
			}
			if x.SendmsgMean < 69 || x.SendmsgMean > 71 || x.SendmsgP50 < 69 || x.SendmsgP99 < 69 {
				t.Errorf("%s: sendmsg %v us, p50 %v, p99 %v", m, x.SendmsgMean, x.SendmsgP50, x.SendmsgP99)
			}
			if len(x.LatencyQuantiles) != Quantiles+1 || len(x.SendmsgQuantiles) != Quantiles+1 {
				t.Errorf("%s: %d and %d quantiles", m, len(x.LatencyQuantiles), len(x.SendmsgQuantiles))
			}
			if (x.FreeMR != nil) != (m == MapFreeMR) || x.GetMR != nil {
				t.Errorf("%s: GET_MR %v, FREE_MR %v", m, x.GetMR, x.FreeMR)
			}
			if x.Source != SourceCounters || x.LocalInv != nil || x.RemoteInv != nil || x.Features != nil || x.TOS != 0 {
				t.Errorf("%s: %+v", m, x.Numbers)
			}
			if x.CPUBusy == nil || *x.CPUBusy != 0.75 {
				t.Errorf("%s: CPU %v", m, *x.CPUBusy)
			}
		}
		// The second mode finds what the first has left.
		first, second, plain := of(r, MapFreeMR)[0], of(r, MapUseOnce)[0], of(r, Plain)[0]
		if !is(first.Allocated, testCount) || !is(first.Memory.Peak, testCount) || !is(first.PagesPeak, testCount) {
			t.Errorf("%+v", first.Memory)
		}
		if !is(second.Allocated, testCount) || !is(second.Memory.Peak, 2*testCount) || !is(second.PagesPeak, testCount) {
			t.Errorf("%+v", second.Memory)
		}
		if !is(plain.Allocated, 0) || !is(plain.PagesPeak, 0) {
			t.Errorf("%+v", plain.Memory)
		}
	})
}

// With rds_ext.ko on both hosts every mode runs, each over a connection that it is
// about, and the counters of the engine are those of the mode alone.
func TestRDSExt(t *testing.T) {
	for name, tt := range map[string]struct {
		offered   bool  // by the settings of this host
		plain, ri uint8 // types of service of MapUseOnce and MapRemoteInv
	}{
		"offered":     {true, 1, 0},
		"not offered": {false, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := fakerds.New()
				control := newFakeControl(net)
				if !tt.offered {
					control.settings.FeatureMask &^= remoteInvalidate
				}
				mask := control.settings.FeatureMask
				r, err := setup{net: net, control: control, cfg: Config{Rounds: 2}}.run(t)
				if err != nil {
					t.Fatal(err)
				}
				if r.Modules != ModulesRDSExt || control.settings.FeatureMask != mask {
					t.Errorf("modules %s, mask %v, was %v", r.Modules, control.settings.FeatureMask, mask)
				}
				for _, x := range r.Runs {
					if x.Error != "" || x.Ops != testCount || x.Source != SourcePool {
						t.Fatalf("%+v", x)
					}
					want, mapped := uint8(0), int64(testCount)
					switch x.Mode {
					case MapUseOnce:
						want = tt.plain
					case MapRemoteInv:
						want = tt.ri
					case Plain:
						mapped = 0
					}
					if x.TOS != want {
						t.Errorf("%s over type of service %d, want %d", x.Mode, x.TOS, want)
					}
					ri := slices.Contains(x.Features, "remote-invalidate")
					if x.Mode == MapUseOnce && ri || x.Mode == MapRemoteInv && !ri {
						t.Errorf("%s with features %v", x.Mode, x.Features)
					}
					// GET_MR was tried out first, with a region that was released.
					if x.GetMR != nil != strings.HasPrefix(string(x.Mode), "get_mr") {
						t.Errorf("%s: GET_MR %v", x.Mode, x.GetMR)
					}
					if !is(x.LocalInv, mapped) || !is(x.PagesPeak, 9) || !is(x.Memory.Peak, 10) || x.Allocated == nil {
						t.Errorf("%s: local invalidations %d, peaks %d, %d", x.Mode, *x.LocalInv, *x.Memory.Peak, *x.PagesPeak)
					}
				}
				if resets := control.resets; resets != len(r.Runs) {
					t.Errorf("peaks reset %d times for %d runs", resets, len(r.Runs))
				}
				var order []Mode
				for _, x := range r.Runs {
					order = append(order, x.Mode)
				}
				back := Modes()
				slices.Reverse(back)
				if !slices.Equal(order, append(Modes(), back...)) {
					t.Errorf("order %v", order)
				}
			})
		})
	}
}

// What a mode needs and does not get is said, and no failure.
func TestUnsupported(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*fakeControl)
		mode   Mode
		want   string
	}{
		"peer does not offer":    {func(c *fakeControl) { c.peer &^= remoteInvalidate }, MapRemoteInv, "not offered by 10.0.0.2"},
		"peer is stock":          {func(c *fakeControl) { c.stockPeer = true }, MapRemoteInv, "10.0.0.2 does not say"},
		"module without it":      {func(c *fakeControl) { c.settings.SupportedFeatures = 1; c.settings.FeatureMask = 1 }, MapRemoteInv, "loaded on this host"},
		"nothing announced":      {func(c *fakeControl) { c.settings.VersionHeader = false }, MapRemoteInv, "version-header=on"},
		"may not change, off":    {func(c *fakeControl) { c.refuse = unix.EPERM; c.settings.FeatureMask = 1 }, MapRemoteInv, "run as root"},
		"may not change, on":     {func(c *fakeControl) { c.refuse = unix.EPERM }, MapUseOnce, "run as root"},
		"peer that never speaks": {func(c *fakeControl) { c.mutePeer = true }, MapRemoteInv, "10.0.0.2 does not say"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := fakerds.New()
				control := newFakeControl(net)
				tt.change(control)
				r, err := setup{net: net, control: control}.run(t)
				if err != nil {
					t.Fatal(err)
				}
				for _, x := range r.Runs {
					if (x.Mode == tt.mode) != x.Unsupported || (x.Error != "") != x.Unsupported || (x.Numbers != nil) == x.Unsupported {
						t.Errorf("%+v", x)
					}
				}
				if x := of(r, tt.mode)[0]; !strings.Contains(x.Error, tt.want) {
					t.Errorf("%q does not say %q", x.Error, tt.want)
				}
			})
		})
	}
}

// A failure of the control plane is one of the bench, not of the kernel's abilities.
func TestControlFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := fakerds.New()
		control := newFakeControl(net)
		control.refuse = unix.EIO
		r, err := setup{net: net, control: control}.run(t)
		if !errors.Is(err, err) || err == nil || !strings.Contains(err.Error(), "input/output error") {
			t.Errorf("%v", err)
		}
		if x := of(r, MapUseOnce)[0]; x.Unsupported || x.Error == "" || x.Numbers != nil {
			t.Errorf("%+v", x)
		}
		if x := of(r, Plain)[0]; x.Error != "" || x.Numbers == nil {
			t.Errorf("%+v", x)
		}
	})
}

// The module is unloaded, between two modes or in the middle of one: the one in the
// middle has failed, with a reason, and the others run as on a host without it.
func TestUnloaded(t *testing.T) {
	for name, tt := range map[string]struct {
		last   Mode // before it goes
		within bool
	}{
		"between": {GetMRUseOnce, false},
		"within":  {MapFreeMR, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := fakerds.New()
				control := newFakeControl(net)
				n := 0
				net.Fault = func(_ int, _ netip.AddrPort, m rds.Message) (f fakerds.Fault) {
					if m.Map != nil {
						if n++; tt.within && n == testCount/2 {
							control.unload()
						}
					}
					return f
				}
				var lines []string
				cfg := Config{Progress: func(line string) {
					lines = append(lines, line)
					if !tt.within && strings.HasSuffix(line, string(MapFreeMR)) {
						control.unload()
					}
				}}
				r, err := setup{net: net, control: control, cfg: cfg}.run(t)
				for _, x := range r.Runs {
					source := SourceCounters
					if slices.Index(Modes(), x.Mode) <= slices.Index(Modes(), tt.last) {
						source = SourcePool
					}
					switch {
					case x.Mode == MapRemoteInv:
						if !x.Unsupported || !strings.Contains(x.Error, "not loaded") || x.Numbers != nil {
							t.Errorf("%+v", x)
						}
					case x.Mode == tt.last && tt.within:
						if x.Unsupported || x.Numbers == nil || x.Error != errUnloaded.Error() {
							t.Errorf("%+v", x)
						}
					case x.Error != "" || x.Numbers == nil || x.Source != source:
						t.Errorf("%s: %q, numbers %+v", x.Mode, x.Error, x.Numbers)
					}
				}
				if len(r.Runs) != len(Modes()) {
					t.Errorf("%d runs", len(r.Runs))
				}
				if (err != nil) != tt.within || tt.within && strings.Contains(err.Error(), "insmod") {
					t.Errorf("%v", err)
				}
				if !strings.Contains(strings.Join(lines, "\n"), "going on without it") {
					t.Errorf("%q", lines)
				}
			})
		})
	}
}

// The connection is lost during a mode and what is agreed on the next is something
// else: the mode has not measured what it is about.
func TestFeaturesChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := fakerds.New()
		control := newFakeControl(net)
		n := 0
		net.Fault = func(_ int, _ netip.AddrPort, m rds.Message) (f fakerds.Fault) {
			if m.Map != nil {
				if n++; n == testCount/2 {
					control.lose(remoteInvalidate)
				}
			}
			return f
		}
		r, err := setup{net: net, control: control, cfg: Config{Modes: []Mode{MapRemoteInv}}}.run(t)
		if err == nil || !strings.Contains(err.Error(), "made again while the mode ran") {
			t.Errorf("%v", err)
		}
		if x := r.Runs[0]; x.Unsupported || x.Numbers == nil {
			t.Errorf("%+v", x)
		}
	})
}

// Without the engine in use, or without leave to set the peaks back, what cannot be
// known is null.
func TestMemorySources(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*fakeControl)
		source string
		peak   bool
	}{
		"engine off":             {func(c *fakeControl) { c.settings.MREngine = false }, SourceCounters, true},
		"module without engine":  {func(c *fakeControl) { c.noPools = true }, SourceCounters, true},
		"peaks of an older user": {func(c *fakeControl) { c.keepPeaks = unix.EPERM }, SourcePool, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := fakerds.New()
				control := newFakeControl(net)
				tt.change(control)
				r, err := setup{net: net, control: control, cfg: Config{Modes: []Mode{MapFreeMR}}}.run(t)
				if err != nil {
					t.Fatal(err)
				}
				x := r.Runs[0]
				if x.Source != tt.source || (x.Memory.Peak != nil) != tt.peak || (x.PagesPeak != nil) != tt.peak || x.Allocated == nil {
					t.Errorf("%+v", x.Memory)
				}
				if (x.LocalInv != nil) != (tt.source == SourcePool) {
					t.Errorf("local invalidations %v", x.LocalInv)
				}
			})
		})
	}
}

func TestVerificationFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := fakerds.New()
		n := 0
		net.Fault = func(_ int, _ netip.AddrPort, m rds.Message) (f fakerds.Fault) {
			if m.RDMA != nil {
				if n++; n == 50 {
					f.Corrupt = func(s rds.Segment) { s.Bytes()[3] ^= 1 }
				}
			}
			return f
		}
		r, err := setup{net: net}.run(t)
		if err == nil || !strings.Contains(err.Error(), "round 1, "+string(GetMRFreeMR)) || !strings.Contains(err.Error(), "verification") {
			t.Errorf("%v", err)
		}
		bad, good := r.Runs[0], r.Runs[1]
		if bad.VerifyFailures != 1 || bad.Error == "" || bad.Unsupported || good.Error != "" || good.VerifyFailures != 0 {
			t.Errorf("%+v, %+v", bad, good)
		}
	})
}

func TestNobodyThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := fakerds.New()
		r, err := setup{net: net, noServer: true}.run(t)
		if r != nil || err == nil || !strings.Contains(err.Error(), "no RDS connection with 10.0.0.2") {
			t.Errorf("%v, %v", r, err)
		}
		// A host, but no rdsmr.
		other, err := net.Listen(netip.AddrPortFrom(peerAddr.Addr(), 1), rds.Config{})
		if err != nil {
			t.Fatal(err)
		}
		r, err = setup{net: net, noServer: true, beside: 1, cfg: Config{Modes: []Mode{Plain}}}.run(t)
		if r != nil || err == nil || !strings.Contains(err.Error(), "rdsmr serve") {
			t.Errorf("%v, %v", r, err)
		}
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A transport without RDMA has plain messages.
func TestTCP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := fakerds.New()
		net.Kind = rds.TransportTCP
		r, err := setup{net: net}.run(t)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Runs {
			if (x.Mode == Plain) == x.Unsupported {
				t.Errorf("%+v", x)
			}
		}
		// With nothing that can run there is no result.
		if _, err := (setup{net: fakeTCP(), cfg: Config{Modes: []Mode{MapUseOnce}}}).run(t); err == nil || !strings.Contains(err.Error(), "none of the modes") {
			t.Errorf("%v", err)
		}
	})
}

func fakeTCP() *fakerds.Net {
	net := fakerds.New()
	net.Kind = rds.TransportTCP
	return net
}

func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := fakerds.New()
		net.Fault = func(n int, _ netip.AddrPort, m rds.Message) (f fakerds.Fault) {
			if n%4 == 0 { // or simulated time never passes
				f.Err = &rds.Error{Op: "send", Err: unix.EAGAIN}
			}
			return f
		}
		r, err := setup{net: net, during: func(interrupt func()) {
			time.Sleep(60 * time.Millisecond)
			interrupt()
		}}.run(t)
		if err == nil || !strings.Contains(err.Error(), "interrupted") || r == nil || !r.Interrupted {
			t.Fatalf("%v, %+v", err, r)
		}
		if len(r.Runs) == 0 || len(r.Runs) == len(Modes()) {
			t.Errorf("%d runs", len(r.Runs))
		}
		for _, x := range r.Runs {
			if x.Error != "" || x.Numbers == nil {
				t.Errorf("%+v", x)
			}
		}
		if !strings.Contains(r.Text(), "interrupted") {
			t.Errorf("%s", r.Text())
		}
	})
}

// The names in the JSON output are part of the interface.
func TestJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := fakerds.New()
		r, err := setup{net: net, control: newFakeControl(net), cfg: Config{Modes: []Mode{GetMRFreeMR, Plain}}}.run(t)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var top map[string]any
		if err := json.Unmarshal(data, &top); err != nil {
			t.Fatal(err)
		}
		keys := func(m map[string]any, names string) {
			t.Helper()
			for _, k := range strings.Fields(names) {
				if _, ok := m[k]; !ok {
					t.Errorf("no %q in %v", k, m)
				}
			}
		}
		keys(top, "role kernel modules local_addr peer_addr transport direction size depth tasks seed rounds seconds runs interrupted")
		run := top["runs"].([]any)[0].(map[string]any)
		keys(run, `round mode ops bytes seconds ops_per_s bytes_per_s p50_us p90_us p99_us p999_us max_us mean_us
			latency_quantiles_us sendmsg_us_mean sendmsg_us_p50 sendmsg_us_p99 sendmsg_quantiles_us get_mr_us free_mr_us
			syscalls_per_op syscalls peer_syscalls_per_op mrs_allocated mrs_peak pages_peak local_inv remote_inv mr_source
			cpu_busy tos features verify_failures mrs_held resets aborted retried`)
		keys(run["get_mr_us"].(map[string]any), "mean p50 p99")
		var back Report
		if err := json.Unmarshal(data, &back); err != nil || back.Runs[0].Ops != testCount {
			t.Errorf("%v, %+v", err, back.Runs)
		}
		bad, err := json.Marshal(Run{Round: 1, Mode: MapRemoteInv, Error: "no", Unsupported: true})
		if want := `{"round":1,"mode":"rdma_map+use_once+remote_inv","error":"no","unsupported":true}`; err != nil || string(bad) != want {
			t.Errorf("%s, %v", bad, err)
		}
	})
}

func TestText(t *testing.T) {
	one, two := int64(1), int64(3)
	r := Report{Kernel: "6.1", Modules: ModulesStock, Rounds: 2, Runs: []Run{
		{Round: 1, Mode: MapFreeMR, Numbers: &Numbers{OpsPerS: 100, Memory: Memory{Allocated: &one}}},
		{Round: 1, Mode: GetMRFreeMR, Error: "no GET_MR", Unsupported: true},
		{Round: 2, Mode: GetMRFreeMR, Error: "no GET_MR", Unsupported: true},
		{Round: 2, Mode: MapFreeMR, Error: "a byte was wrong", Numbers: &Numbers{OpsPerS: 300, Memory: Memory{Allocated: &two}}},
	}}
	text := r.Text()
	for _, want := range []string{"Linux 6.1 with stock", "rdma_map+free_mr  200.0", "get_mr+free_mr    -", "rdma_map+free_mr, round 2 FAILED: a byte was wrong"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Count(text, "get_mr+free_mr: no GET_MR") != 1 {
		t.Errorf("%s", text)
	}
}

func TestParseModes(t *testing.T) {
	if all, err := ParseModes("all"); err != nil || !slices.Equal(all, Modes()) {
		t.Errorf("%v, %v", all, err)
	}
	if two, err := ParseModes("plain, rdma_map+use_once"); err != nil || !slices.Equal(two, []Mode{Plain, MapUseOnce}) {
		t.Errorf("%v, %v", two, err)
	}
	for in, want := range map[string]string{"": "unknown", "get_mr": "get_mr+use_once", "plain,plain": "twice", "plain,": "unknown"} {
		if _, err := ParseModes(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestCheck(t *testing.T) {
	good := Config{Modes: Modes(), Rounds: 1, Params: wire.Params{Mode: wire.ModeBoth, Size: 4096, Depth: 8, Tasks: 1}}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Config){
		"no mode":                func(c *Config) { c.Modes = nil },
		"0 rounds":               func(c *Config) { c.Rounds = 0 },
		"101 rounds":             func(c *Config) { c.Rounds = 101 },
		"direction \"msg\"":      func(c *Config) { c.Params.Mode = wire.ModeMsg },
		"mode plain: size":       func(c *Config) { c.Params.Size = wire.MaxSize },
		"mode get_mr+free_mr: d": func(c *Config) { c.Params.Depth = 0 },
	} {
		c := good
		change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func TestReadCPU(t *testing.T) {
	read := func(text string) func(string) ([]byte, error) {
		return func(string) ([]byte, error) { return []byte(text), nil }
	}
	a, err := readCPU(read("cpu  10 0 20 100 5 1 4 0 0 0\n"))
	if err != nil || a.busy != 35 || a.all != 140 {
		t.Fatalf("%+v, %v", a, err)
	}
	b, err := readCPU(read("cpu  20 0 40 110 5 1 4 0 0 0\n"))
	if err != nil || b.share(a) == nil || *b.share(a) != 0.75 || a.share(a) != nil || a.share(b) != nil {
		t.Errorf("%+v, %v", b, err)
	}
	for _, bad := range []string{"", "cpu 1 2", "cpu0 1 2 3 4 5 6 7 8", "cpu  1 2 3 x 5 6 7 8"} {
		if _, err := readCPU(read(bad)); err == nil {
			t.Errorf("%q accepted", bad)
		}
	}
}

func TestMedian(t *testing.T) {
	if m := Median([]float64{3, 1, 2}); m != 2 {
		t.Error(m)
	}
	if m := Median([]float64{4, 1, 2, 3}); m != 2.5 {
		t.Error(m)
	}
}
