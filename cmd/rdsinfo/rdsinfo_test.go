// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/gonl"
)

var update = flag.Bool("update", false, "write the golden files")

// fakeApp is the program on a fake module and a fake RDS.
func fakeApp(c control, i info, stdout, stderr io.Writer) *app {
	return &app{
		stdout: stdout, stderr: stderr, proc: fakeProc, ask: nobodyThere,
		dial: func() (control, error) { return c, nil },
		info: func() (info, error) { return i, nil },
	}
}

// noModule is what dial says where rds_ext.ko is not loaded.
func noModule() (control, error) { return nil, fmt.Errorf("gonl: %w", gonl.ErrNotLoaded) }

// rdsinfo runs one command line on a fake module.
func rdsinfo(ctx context.Context, f *fakeControl, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = fakeApp(f, newFakeInfo(), &out, &errs).run(ctx, args)
	return code, out.String(), errs.String()
}

// rdsinfoStock runs one command line where rds_ext.ko is not loaded.
func rdsinfoStock(ctx context.Context, i info, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	a := fakeApp(nil, i, &out, &errs)
	a.dial = noModule
	code = a.run(ctx, args)
	return code, out.String(), errs.String()
}

// golden compares what was printed with a file, or writes that.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run the test with -update and look at what it wrote", err)
	}
	if got != string(want) {
		t.Errorf("prints\n%s\nwant\n%s", got, want)
	}
}

func TestOutput(t *testing.T) {
	version = "v1.2.3"
	for name, args := range map[string]string{
		"help":                "--help",
		"conn-help":           "conn --help",
		"exthdr-help":         "exthdr -h",
		"config-help":         "config set --help",
		"monitor-help":        "monitor --help",
		"conn":                "conn",
		"conn-json":           "conn show --json",
		"conn-none":           "conn --peer 198.51.100.1",
		"conn-none-json":      "conn --peer 198.51.100.1 --json",
		"conn-filter":         "conn --local 192.0.2.1 --peer ::ffff:192.0.2.2 --transport ib --version 3.1 --peer-version 3.1 --peer-kind rds_ext --state up",
		"conn-stock":          "conn --peer-kind stock --tos 4",
		"conn-one":            "conn 1",
		"conn-one-json":       "conn show 7 --json",
		"conn-reset-help":     "conn reset --help",
		"conn-reset":          "conn reset 2 --json",
		"conn-reset-dry":      "conn reset --all --dry-run",
		"conn-reset-filter":   "conn reset --local 192.0.2.1 --yes",
		"conn-wide":           "conn -d",
		"conn-full":           "conn --peer 192.0.2.2 -dd",
		"sock-help":           "sock --help",
		"sock":                "sock",
		"sock-json":           "sock show --json",
		"sock-wide":           "sock --details --port 4001",
		"sock-full":           "sock -dd --pid 4712",
		"sock-filter":         "sock --local ::ffff:192.0.2.1 --port 4000 --socket 34567 --pid 4711",
		"sock-none-json":      "sock --port 1 --json",
		"queue-help":          "queue --help",
		"queue":               "queue",
		"queue-json":          "queue show --json",
		"queue-two":           "queue receive se",
		"queue-filter":        "queue --local 192.0.2.1 --peer 192.0.2.33 --port 4000 --peer-port 5000 --tos 4",
		"queue-none-json":     "queue --port 1 --json",
		"stats-help":          "stats --help",
		"stats":               "stats",
		"stats-json":          "stats show --json --nonzero",
		"stats-names":         "stats ib recv_drop mr",
		"stats-none":          "stats tcp",
		"stem":                "so --port 4000",
		"exporter-help":       "exporter --help",
		"ping-help":           "ping --help",
		"top-help":            "top --help",
		"mr-wide":             "mr -d --pid 4711",
		"mr-full":             "mr -dd",
		"completion-queue":    "__completeNoDesc queue se",
		"mr-help":             "mr show --help",
		"mr-revoke-help":      "mr revoke --help",
		"mr-stats-help":       "mr stats --help",
		"pool-help":           "pool --help",
		"mr":                  "mr",
		"mr-json":             "mr show --json",
		"mr-none":             "mr --pid 1 --device none",
		"mr-none-json":        "mr --pid 1 --device none --json",
		"mr-filter":           "mr --device rxe0 --pid 4711 --socket 34567 --state advertised --conn 1",
		"mr-state":            "mr --state revoked",
		"mr-one":              "mr 5",
		"mr-one-json":         "mr show 6 --json",
		"mr-revoke":           "mr revoke 6",
		"mr-revoke-json":      "mr revoke 6 --json",
		"mr-revoke-dry":       "mr revoke --all --dry-run",
		"mr-rkey":             "mr --rkey 0xa12ff00",
		"mr-old":              "mr --older-than 1m",
		"config-dry":          "config set mr-max-age-ms=90s mr-engine=off feature-mask=none --dry-run",
		"config-dry-json":     "config set mr-engine=off feature-mask=all --dry-run --json",
		"config-show":         "config show mr-engine",
		"mr-stats":            "mr stats",
		"mr-stats-json":       "mr stats --json",
		"pool":                "pool",
		"pool-json":           "pool show --json",
		"pool-reset":          "pool reset-peaks",
		"exthdr":              "exthdr",
		"exthdr-json":         "exthdr --json",
		"config":              "config",
		"config-json":         "config get --json",
		"config-one":          "config get feature-mask",
		"config-one-json":     "config get feature_mask --json",
		"config-two":          "config get version-header module-version",
		"config-set-json":     "config set version-header=off feature-mask=none --json",
		"version":             "version",
		"version-json":        "version --json",
		"monitor":             "monitor --count 3",
		"monitor-json":        "monitor --json --count 3",
		"monitor-filter":      "monitor --transport tcp --count 1",
		"monitor-all":         "monitor --count 6",
		"monitor-mr":          "monitor --events mr --count 3",
		"monitor-mr-json":     "monitor --events mr --json --count 3",
		"monitor-mr-local":    "monitor --events mr,conn --local 2001:db8::1 --count 2",
		"monitor-mr-peer":     "monitor --peer 192.0.2.2 --count 4",
		"completion-commands": "__completeNoDesc c",
		"completion-state":    "__completeNoDesc conn --state d",
		"completion-set":      "__completeNoDesc config set v",
		"completion-mr":       "__completeNoDesc mr r",
		"completion-mr-state": "__completeNoDesc mr --state re",
		"completion-events":   "__completeNoDesc monitor --events c",
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := rdsinfo(t.Context(), newFake(), strings.Fields(args)...)
			if code != exitOK {
				t.Fatalf("exit code %d: %s", code, errs)
			}
			golden(t, name, out)
			ready := strings.HasPrefix(args, "monitor --") && !strings.Contains(args, "help")
			if ready != (errs == "ready\n") {
				t.Errorf("stderr: %q", errs)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	perm := &gonl.OpError{Op: "settings-set", Errno: syscall.EPERM, Message: "rds_ext: changing settings needs CAP_NET_ADMIN"}
	inval := &gonl.OpError{Op: "settings-set", Errno: syscall.EINVAL, Message: "feature not supported", Attr: "feature-mask", Offset: 20}
	revoke := &gonl.OpError{Op: "mr-revoke", Errno: syscall.EPERM, Message: "needs CAP_NET_ADMIN"}
	for _, tt := range []struct {
		args string
		f    func(*fakeControl)
		code int
		want string
	}{
		{"help nonsense", nil, exitUsage, "no help for"},
		{"help conn nonsense", nil, exitUsage, "no help for"},
		{"completion", nil, exitUsage, "which shell?"},
		{"completion tcsh", nil, exitUsage, "tcsh"},
		{"conn 0", nil, exitUsage, "1 or more"},
		{"monitor --count 2m", nil, exitUsage, "--count must be a whole number from 1"},
		{"conn --json=maybe", nil, exitUsage, "--json must be true or false"},
		{"config set feature-mask=0xffff", func(f *fakeControl) { f.setErr = inval }, exitFailure, "supported are: ext-types,remote-invalidate"},
		{"mr 0", nil, exitUsage, "1 or more"},
		{"mr -- -1", nil, exitUsage, "1 or more"},
		{"mr 4294967296", nil, exitUsage, "1 or more"},
		{"mr 99", nil, exitFailure, "mr-get: no such MR, attribute id (ENOENT)"},
		{"mr 5 --pid 4711", nil, exitUsage, "no sense"},
		{"mr 5 6", nil, exitUsage, "at most 1"},
		{"mr --pid x", nil, exitUsage, "--pid must be a whole number from 0 to 4294967295, not \"x\""},
		{"mr --pid 4294967296", nil, exitUsage, "--pid must be a whole number"},
		{"mr --socket -1", nil, exitUsage, "--socket must be a whole number from 0"},
		{"mr --conn 0", nil, exitUsage, "1 or more"},
		{"mr --state gone", nil, exitUsage, "none of registering, mapped"},
		{"conn --tos 256", nil, exitUsage, "from 0 to 255"},
		{"conn reset", nil, exitUsage, "name the connections in one way"},
		{"conn reset 1 --all", nil, exitUsage, "name the connections in one way"},
		{"conn reset 1 --tos 0", nil, exitUsage, "name the connections in one way"},
		{"conn reset 0", nil, exitUsage, "connection \"0\" is not a number"},
		{"conn reset 1 1", nil, exitUsage, "connection 1 is given twice"},
		{"conn reset 1 99", nil, exitFailure, "conn-get: "},
		{"conn reset --peer 198.51.100.1", nil, exitFailure, "no connection matches"},
		{"conn reset 1", func(f *fakeControl) { f.setErr = revoke }, exitPermission, "permission denied: needs CAP_NET_ADMIN"},
		{"conn reset --all --yes", func(f *fakeControl) { f.err = gonl.ErrPartial }, exitFailure, "kept changing"},
		{"mr revoke", nil, exitUsage, "name the MRs in one way: IDs, filters or --all"},
		{"mr revoke --pid 1", nil, exitFailure, `no MR matches; "rdsinfo mr" lists all`},
		{"mr revoke x", nil, exitUsage, "MR \"x\" is not a number"},
		{"mr revoke 5", func(f *fakeControl) { f.setErr = revoke }, exitPermission, "permission denied: needs CAP_NET_ADMIN (EPERM); run it as root"},
		{"mr stats 5", nil, exitUsage, "unknown command"},
		{"mr", func(f *fakeControl) { f.err = errors.New("broken") }, exitFailure, "broken"},
		{"mr stats", func(f *fakeControl) { f.err = errors.New("broken") }, exitFailure, "broken"},
		{"pool", func(f *fakeControl) { f.err = errors.New("broken") }, exitFailure, "broken"},
		{"pool rxe0", nil, exitUsage, "unknown command"},
		{"pool reset-peaks", func(f *fakeControl) { f.setErr = revoke }, exitPermission, "permission denied"},
		{"monitor --events all", nil, exitUsage, "--events is conn, mr or conn,mr, not \"all\""},
		{"monitor --events mr --transport ib", nil, exitUsage, "the others are about connections"},
		{"config set mr-engine=2", nil, exitUsage, "mr-engine is on or off"},
		{"config set mr-pool-max=15", nil, exitUsage, "mr-pool-max is a number from 16 to 1048576, not \"15\""},
		{"config set mr-pool-max=1048577", nil, exitUsage, "16 to 1048576"},
		{"config set mr-sock-max=4294967296", nil, exitUsage, "from 0 to 4294967295"},
		{"config set mr-sock-bytes=5T", nil, exitUsage, "with K, M or G behind it"},
		{"config set mr-sock-bytes=17179869184G", nil, exitUsage, "with K, M or G behind it"},
		{"config set mr-sock-bytes=", nil, exitUsage, "with K, M or G behind it"},
		{"config set mr-max-age-ms=1.5", nil, exitUsage, "a time with its unit such as 90s"},
		{"config set mr-max-age-ms=1us", nil, exitUsage, "milliseconds"},
		{"config set mr-max-age-ms=-1s", nil, exitUsage, "milliseconds"},
		{"config set mr-max-age-ms=1200h", nil, exitUsage, "4294967295"},
		{"conns", nil, exitUsage, "there is no command"},
		{"config nonsense", nil, exitUsage, "there are version-header"},
		{"config set feature-mask=bit-9 --dry-run", nil, exitFailure, "does not support bit-9; supported are: "},
		{"mr revoke --all --dry-run 5", nil, exitUsage, "in one way"},
		{"mr revoke --rkey seven", nil, exitUsage, "R_Key is a 32-bit number"},
		{"mr revoke --older-than -1s", nil, exitUsage, "must not be negative"},
		{"mr --rkey 0xa12ff01", nil, exitPermission, "R_Keys are shown to root"},
		{"conn a", nil, exitUsage, "not a number"},
		{"conn 1 2", nil, exitUsage, "at most 1"},
		{"conn 1 --state up", nil, exitUsage, "no sense"},
		{"conn --state sideways", nil, exitUsage, "none of down, connecting"},
		{"conn --transport udp", nil, exitUsage, "none of ib, tcp, loop"},
		{"conn --peer-kind odd", nil, exitUsage, "none of unknown, stock, rds-ext"},
		{"conn --version 3", nil, exitUsage, "such as 3.1"},
		{"conn --local host", nil, exitUsage, "not an IPv4 or IPv6 address"},
		{"conn --local fe80::1%eth0", nil, exitUsage, "without its zone"},
		{"conn 99", nil, exitFailure, "conn-get: no such connection, attribute id (ENOENT)"},
		{"exthdr all", nil, exitUsage, "unknown command"},
		{"config get nonsense", nil, exitUsage, "there are version-header"},
		{"config set", nil, exitUsage, "give KEY=VALUE"},
		{"config set version-header", nil, exitUsage, "KEY=VALUE"},
		{"config set version-header=maybe", nil, exitUsage, "on or off"},
		{"config set version-header=on version_header=off", nil, exitUsage, "twice"},
		{"config set module-version=2", nil, exitUsage, "read only"},
		{"config set feature-mask=0x100000000", nil, exitUsage, "32-bit number"},
		{"config set feature-mask=", nil, exitUsage, "32-bit number"},
		{"config set feature-mask=bit-9", func(f *fakeControl) { f.setErr = inval }, exitFailure,
			"settings-set: feature not supported, attribute feature-mask (EINVAL)"},
		{"config set version-header off", func(f *fakeControl) { f.setErr = perm }, exitPermission,
			"permission denied: rds_ext: changing settings needs CAP_NET_ADMIN (EPERM)"},
		{"co", nil, exitUsage, `"co" is short for several commands: completion, config, conn`},
		{"nonsense", nil, exitUsage, `there is no command "nonsense"`},
		{"conn -ddd", nil, exitUsage, "-dd is the most"},
		{"conn --watch=1ms", nil, exitUsage, "--watch must be at least 100ms"},
		{"conn --watch=soon", nil, exitUsage, "soon"},
		{"sock --port 65536", nil, exitUsage, "--port must be a whole number from 0 to 65535"},
		{"sock 1", nil, exitUsage, "unknown command"},
		{"queue r s", nil, exitUsage, `a queue is send, retransmit or receive, not "r"`},
		{"stats nonsense", nil, exitUsage, `no counter has the family "nonsense"`},
		{"stats", func(f *fakeControl) { f.err = errors.New("broken") }, exitFailure, "broken"},
		{"sock", func(f *fakeControl) { f.err = errors.New("broken") }, exitFailure, "broken"},
		{"monitor --count 0", nil, exitUsage, "at least 1"},
		{"monitor", func(f *fakeControl) { f.eventErr = fmt.Errorf("gone: %w", gonl.ErrNotLoaded) }, exitNotLoaded, "not loaded"},
		{"conn", func(f *fakeControl) { f.err = errors.New("broken") }, exitFailure, "broken"},
		{"exthdr", func(f *fakeControl) { f.err = context.Canceled }, exitFailure, "interrupted"},
		{"version", func(f *fakeControl) { f.err = errors.New("broken") }, exitFailure, "broken"},
	} {
		f := newFake()
		if tt.f != nil {
			tt.f(f)
		}
		code, out, errs := rdsinfo(t.Context(), f, strings.Fields(tt.args)...)
		last := strings.TrimPrefix(errs, "ready\n")
		if code != tt.code || !strings.HasPrefix(last, "rdsinfo: ") || !strings.Contains(last, tt.want) || strings.Count(last, "\n") != 1 {
			t.Errorf("rdsinfo %s: exit code %d, %q; want %d, one line with %q", tt.args, code, errs, tt.code, tt.want)
		}
		if out != "" && !strings.HasPrefix(tt.args, "monitor") {
			t.Errorf("rdsinfo %s: prints %q", tt.args, out)
		}
		if len(f.changes) != 0 || len(f.revoked) != 0 || len(f.dropped) != 0 || f.resets != 0 {
			t.Errorf("rdsinfo %s: changed %+v, revoked %v, dropped %v, reset %d times", tt.args, f.changes, f.revoked, f.dropped, f.resets)
		}
	}
}

func TestNotLoaded(t *testing.T) {
	for _, args := range []string{"conn 1", "conn --peer-kind stock", "conn --version 3.1", "conn --tos 0", "exthdr", "config get", "config set version-header=on", "monitor", "mr", "mr 1", "mr revoke 1", "conn reset 1", "mr stats", "pool", "pool reset-peaks"} {
		code, out, errs := rdsinfoStock(t.Context(), newFakeInfo(), strings.Fields(args)...)
		if code != exitNotLoaded || !strings.Contains(errs, "rds_rdma.ko and rds_ext.ko with insmod") || out != "" {
			t.Errorf("rdsinfo %s: exit code %d, %q, %q", args, code, out, errs)
		}
	}
	code, out, _ := rdsinfoStock(t.Context(), newFakeInfo(), "version")
	if code != exitOK || !strings.Contains(out, "not loaded") {
		t.Errorf("rdsinfo version: exit code %d, %q", code, out)
	}
}

func TestBare(t *testing.T) {
	code, out, errs := rdsinfo(t.Context(), newFake())
	if code != exitUsage || out != "" || !strings.Contains(errs, "Usage:") || !strings.Contains(errs, "\nrdsinfo: which command?") {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
}

func TestVersionSpellings(t *testing.T) {
	version = "v1.2.3"
	_, want, _ := rdsinfo(t.Context(), newFake(), "version")
	code, got, errs := rdsinfo(t.Context(), newFake(), "--version")
	if code != exitOK || got != want || !strings.Contains(got, "v1.2.3") {
		t.Errorf("exit code %d, %q, %q; want %q", code, got, errs, want)
	}
}

func TestPartialList(t *testing.T) {
	for _, args := range [][]string{{"conn"}, {"conn", "--json"}, {"exthdr"}, {"mr"}, {"mr", "--json"}, {"pool"}, {"pool", "--json"}} {
		f := newFake()
		f.err = gonl.ErrPartial
		code, out, errs := rdsinfo(t.Context(), f, args...)
		if code != exitFailure || !strings.Contains(errs, "incomplete") || strings.Count(out, "\n") < 3 {
			t.Errorf("rdsinfo %v: exit code %d, %q, %q", args, code, out, errs)
		}
	}
}

func TestConfigSet(t *testing.T) {
	for _, tt := range []struct {
		args string
		want gonl.SettingsChange
	}{
		{"version-header=on", gonl.SettingsChange{VersionHeader: ptr(true)}},
		{"version_header 0", gonl.SettingsChange{VersionHeader: ptr(false)}},
		{"feature-mask=all", gonl.SettingsChange{FeatureMask: ptr(gonl.Feature(3))}},
		{"mr-engine=off mr-age-revoke=on", gonl.SettingsChange{MREngine: ptr(false), MRAgeRevoke: ptr(true)}},
		{"mr_pool_max=16 mr-sock-max=4294967295", gonl.SettingsChange{MRPoolMax: ptr(uint32(16)), MRSockMax: ptr(uint32(1<<32 - 1))}},
		{"mr-sock-bytes=64M", gonl.SettingsChange{MRSockBytes: ptr(uint64(64 << 20))}},
		{"mr-sock-bytes 17179869183g", gonl.SettingsChange{MRSockBytes: ptr(uint64(17179869183 << 30))}},
		{"mr-sock-bytes=12345", gonl.SettingsChange{MRSockBytes: ptr(uint64(12345))}},
		{"mr-max-age-ms=1500", gonl.SettingsChange{MRMaxAge: ptr(1500 * time.Millisecond)}},
		{"mr-max-age-ms=1m30s", gonl.SettingsChange{MRMaxAge: ptr(90 * time.Second)}},
		{"mr-max-age-ms=0", gonl.SettingsChange{MRMaxAge: ptr(time.Duration(0))}},
		{"feature-mask none", gonl.SettingsChange{FeatureMask: ptr(gonl.Feature(0))}},
		{"feature-mask=ext-types,bit-9", gonl.SettingsChange{FeatureMask: ptr(gonl.Feature(0x201))}},
		{"feature-mask=0xff version-header=no", gonl.SettingsChange{VersionHeader: ptr(false), FeatureMask: ptr(gonl.Feature(0xff))}},
	} {
		f := newFake()
		code, out, errs := rdsinfo(t.Context(), f, append([]string{"config", "set"}, strings.Fields(tt.args)...)...)
		if code != exitOK || out != "" || errs != "" {
			t.Errorf("%s: exit code %d, %q, %q", tt.args, code, out, errs)
		}
		if !reflect.DeepEqual(f.changes, []gonl.SettingsChange{tt.want}) {
			t.Errorf("%s: sent %+v", tt.args, f.changes)
		}
		if f.closed != 1 {
			t.Errorf("%s: closed %d times", tt.args, f.closed)
		}
	}
}

func TestResetPeaks(t *testing.T) {
	f := newFake()
	for _, args := range [][]string{{"pool", "reset-peaks"}} {
		code, out, errs := rdsinfo(t.Context(), f, args...)
		if code != exitOK || out != "" || errs != "" {
			t.Errorf("rdsinfo %v: exit code %d, %q, %q", args, code, out, errs)
		}
	}
	if f.resets != 1 {
		t.Errorf("reset %d times", f.resets)
	}
}

// TestEventGroups: the program subscribes to no more than it prints.
func TestEventGroups(t *testing.T) {
	both := []gonl.EventGroup{gonl.GroupConn, gonl.GroupMR}
	for args, want := range map[string][]gonl.EventGroup{
		"":                               both,
		"--events mr":                    {gonl.GroupMR},
		"--events conn":                  {gonl.GroupConn},
		"--events conn,mr,conn":          both,
		"--local 192.0.2.1":              both,
		"--state up":                     {gonl.GroupConn},
		"--events conn --transport loop": {gonl.GroupConn},
	} {
		f := newFake()
		f.events, f.eventErr = nil, errors.New("end of the test")
		var got []gonl.EventGroup
		var out, errs bytes.Buffer
		fakeApp(groupSpy{f, &got}, nil, &out, &errs).run(t.Context(), append([]string{"monitor"}, strings.Fields(args)...))
		if !slices.Equal(got, want) {
			t.Errorf("monitor %s: subscribed to %v, want %v", args, got, want)
		}
	}
}

// groupSpy notes what is subscribed to.
type groupSpy struct {
	*fakeControl
	groups *[]gonl.EventGroup
}

func (s groupSpy) Events(ctx context.Context, groups ...gonl.EventGroup) (eventStream, error) {
	*s.groups = groups
	return s.fakeControl.Events(ctx, groups...)
}

// readyWriter cancels when the subscription is announced.
type readyWriter struct {
	bytes.Buffer
	cancel func()
}

func (w *readyWriter) Write(b []byte) (int, error) {
	if string(b) == "ready\n" {
		w.cancel()
	}
	return w.Buffer.Write(b)
}

func TestMonitorEndsWithInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := newFake()
	f.events = nil
	var out bytes.Buffer
	errs := readyWriter{cancel: cancel}
	code := fakeApp(f, nil, &out, &errs).run(ctx, []string{"monitor"})
	if code != exitOK || errs.String() != "ready\n" {
		t.Errorf("exit code %d, stderr %q", code, errs.String())
	}
	if f.closed != 2 {
		t.Errorf("closed %d of stream and client", f.closed)
	}
}

// brokenPipe is an output that nobody reads.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestOutputGone(t *testing.T) {
	for _, args := range [][]string{{"conn"}, {"conn", "--json"}, {"config", "get"}, {"monitor", "--count", "1"}, {"--help"}, {"help", "conn"}, {"--version"}} {
		var errs bytes.Buffer
		code := fakeApp(newFake(), newFakeInfo(), brokenPipe{}, &errs).run(t.Context(), args)
		if code != exitFailure || !strings.Contains(errs.String(), "write the output") {
			t.Errorf("rdsinfo %v: exit code %d, %q", args, code, errs.String())
		}
	}
}
