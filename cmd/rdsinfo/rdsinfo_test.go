// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/rds-ext/rds_ext/gonl"
)

var update = flag.Bool("update", false, "write the golden files")

// rdsinfo runs one command line on a fake module.
func rdsinfo(ctx context.Context, f *fakeControl, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(ctx, args, &out, &errs, func() (control, error) { return f, nil })
	return code, out.String(), errs.String()
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
		"conn-stock":          "conn --peer-kind stock",
		"conn-one":            "conn 1",
		"conn-one-json":       "conn show 7 --json",
		"exthdr":              "exthdr",
		"exthdr-json":         "exthdr --json",
		"config":              "config get",
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
		"completion-commands": "__completeNoDesc c",
		"completion-state":    "__completeNoDesc conn --state d",
		"completion-set":      "__completeNoDesc config set v",
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := rdsinfo(t.Context(), newFake(), strings.Fields(args)...)
			if code != exitOK {
				t.Fatalf("exit code %d: %s", code, errs)
			}
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v; run the test with -update and look at what it wrote", err)
			}
			if out != string(want) {
				t.Errorf("rdsinfo %s prints\n%s\nwant\n%s", args, out, want)
			}
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
		{"config set feature-mask=0xffff", func(f *fakeControl) { f.setErr = inval }, exitFailure, "supported are: ext-types"},
		{"conns", nil, exitUsage, "unknown command"},
		{"config", nil, exitUsage, "config get or config set"},
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
		if len(f.changes) != 0 {
			t.Errorf("rdsinfo %s: changed %+v", tt.args, f.changes)
		}
	}
}

func TestNotLoaded(t *testing.T) {
	for _, args := range []string{"conn", "exthdr", "config get", "config set version-header=on", "monitor"} {
		var out, errs bytes.Buffer
		code := run(t.Context(), strings.Fields(args), &out, &errs,
			func() (control, error) { return nil, fmt.Errorf("gonl: %w", gonl.ErrNotLoaded) })
		if code != exitNotLoaded || !strings.Contains(errs.String(), "rds_rdma.ko and rds_ext.ko with insmod") || out.Len() != 0 {
			t.Errorf("rdsinfo %s: exit code %d, %q, %q", args, code, out.String(), errs.String())
		}
	}
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"version"}, &out, &errs, func() (control, error) { return nil, gonl.ErrNotLoaded })
	if code != exitOK || !strings.Contains(out.String(), "not loaded") {
		t.Errorf("rdsinfo version: exit code %d, %q", code, out.String())
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
	for _, args := range [][]string{{"conn"}, {"conn", "--json"}, {"exthdr"}} {
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
		{"feature-mask=all", gonl.SettingsChange{FeatureMask: ptr(gonl.Feature(1))}},
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
	code := run(ctx, []string{"monitor"}, &out, &errs, func() (control, error) { return f, nil })
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
		code := run(t.Context(), args, brokenPipe{}, &errs, func() (control, error) { return newFake(), nil })
		if code != exitFailure || !strings.Contains(errs.String(), "write the output") {
			t.Errorf("rdsinfo %v: exit code %d, %q", args, code, errs.String())
		}
	}
}
