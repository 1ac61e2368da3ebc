// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/rds-ext/rds_ext/gonl/rds"
)

// What RDS itself tells is shown without rds_ext.ko, and what is not known is said.
func TestStockOutput(t *testing.T) {
	for name, args := range map[string]string{
		"stock-conn":        "conn",
		"stock-conn-json":   "conn --json",
		"stock-conn-wide":   "conn -d",
		"stock-conn-filter": "conn --transport ib --state up --tos 4",
		"stock-sock":        "sock",
		"stock-sock-json":   "sock --json --port 4001",
		"stock-stats":       "stats",
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := rdsinfoStock(t.Context(), newFakeInfo(), strings.Fields(args)...)
			if code != exitOK {
				t.Fatalf("exit code %d: %s", code, errs)
			}
			if noted := strings.Contains(errs, "rds_ext.ko is not loaded"); noted != strings.HasPrefix(args, "conn") {
				t.Errorf("stderr: %q", errs)
			}
			golden(t, name, out)
		})
	}
}

func TestStockErrors(t *testing.T) {
	i := newFakeInfo()
	i.conns = append(i.conns, rds.Connection{Local: i.conns[0].Local, Peer: i.conns[0].Peer, Transport: "pigeon"})
	if code, _, errs := rdsinfoStock(t.Context(), i, "conn"); code != exitFailure || !strings.Contains(errs, `"pigeon"`) {
		t.Errorf("unknown transport: exit code %d, %q", code, errs)
	}
	for _, args := range []string{"conn", "sock", "queue", "stats"} {
		i := newFakeInfo()
		i.err = errors.New("broken")
		if code, out, errs := rdsinfoStock(t.Context(), i, args); code != exitFailure || errs != "rdsinfo: broken\n" || out != "" {
			t.Errorf("%s: exit code %d, %q, %q", args, code, errs, out)
		}
		a := fakeApp(nil, nil, &strings.Builder{}, &strings.Builder{})
		a.dial = noModule
		a.info = func() (info, error) { return nil, &rds.Error{Op: "socket", Err: syscall.EAFNOSUPPORT} }
		if code := a.run(t.Context(), []string{args}); code != exitNotLoaded {
			t.Errorf("%s without RDS: exit code %d", args, code)
		}
	}
}

// Two connections that RDS's lists do not tell apart get nothing from them.
func TestAmbiguous(t *testing.T) {
	f, i := newFake(), newFakeInfo()
	twin := f.conns[2] // IPv6, of which RDS tells no TOS
	twin.TOS = 1
	f.conns = append(f.conns[2:3], twin)
	six := i.conns[2]
	six.NextTx = 77
	i.conns = append(i.conns, six)
	var out, errs strings.Builder
	code := fakeApp(f, i, &out, &errs).run(t.Context(), []string{"conn", "--json"})
	if code != exitOK || strings.Count(out.String(), `"next_tx": null`) != 2 {
		t.Errorf("exit code %d, %s, %s", code, out.String(), errs.String())
	}
	// Over two transports, a message is of either.
	tcp := i.conns[0]
	tcp.Transport = "tcp"
	i.conns = append(i.conns, tcp)
	out.Reset()
	code = fakeApp(newFake(), i, &out, &errs).run(t.Context(), []string{"conn", "--json", "--peer", "192.0.2.2"})
	if code != exitOK || !strings.Contains(out.String(), `"send_queue": null`) || !strings.Contains(out.String(), `"next_tx": 1001`) {
		t.Errorf("exit code %d, %s, %s", code, out.String(), errs.String())
	}
}

func TestCompat(t *testing.T) {
	for name, args := range map[string]string{
		"compat-help":    "--help",
		"compat":         "",
		"compat-all":     "-a",
		"compat-letters": "-ck",
		"compat-queues":  "-a -t -rs",
		"compat-ib":      "-Iv",
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs strings.Builder
			a := fakeApp(nil, newFakeInfo(), &out, &errs)
			if code := a.runCompat(t.Context(), strings.Fields(args)); code != exitOK {
				t.Fatalf("exit code %d: %s", code, errs.String())
			}
			golden(t, name, out.String())
		})
	}
}

func TestCompatErrors(t *testing.T) {
	noTransports := newFakeInfo()
	noTransports.ib, noTransports.tcp = nil, nil
	broken := newFakeInfo()
	broken.err = errors.New("broken")
	for _, tt := range []struct {
		args string
		i    *fakeInfo
		code int
		want string
	}{
		{"", noTransports, exitOK, ""},
		{"-T", noTransports, exitFailure, "rds-info: sockets of the TCP transport: "},
		{"-x", newFakeInfo(), exitUsage, "(see rds-info --help)"},
		{"x", newFakeInfo(), exitUsage, "(see rds-info --help)"},
		{"", broken, exitFailure, "rds-info: connections over IB: broken"},
	} {
		var out, errs strings.Builder
		code := fakeApp(nil, tt.i, &out, &errs).runCompat(t.Context(), strings.Fields(tt.args))
		if code != tt.code || !strings.Contains(errs.String(), tt.want) || (tt.want == "") != (errs.Len() == 0) {
			t.Errorf("rds-info %s: exit code %d, %q; want %d, %q", tt.args, code, errs.String(), tt.code, tt.want)
		}
	}
}
