// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rds-ext/rds_ext/gonl/rds"
)

// fakePeers are peers in memory, by address. What is not there never answers.
type fakePeers struct {
	answers map[string]int // to the first so many messages
	stray   bool           // others send, too
	sendErr error

	mu     sync.Mutex
	opened []rds.Config
	bound  []netip.AddrPort
	closed int
}

type fakePingSocket struct {
	f       *fakePeers
	waiting []netip.AddrPort // who has sent
}

func (f *fakePeers) listen(addr netip.AddrPort, cfg rds.Config) (pingSocket, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opened, f.bound = append(f.opened, cfg), append(f.bound, addr)
	return &fakePingSocket{f: f}, nil
}

func (s *fakePingSocket) Send(_ context.Context, m rds.Message) (rds.Sent, error) {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	if s.f.sendErr != nil {
		return rds.Sent{}, s.f.sendErr
	}
	if m.To.Port() != 0 || len(m.Payload) != 0 {
		return rds.Sent{}, errors.New("this is no ping")
	}
	if s.f.stray {
		s.waiting = append(s.waiting, netip.AddrPortFrom(m.To.Addr(), 4000), netip.MustParseAddrPort("192.0.2.99:0"), netip.AddrPort{})
	}
	peer := m.To.Addr().String()
	if s.f.answers[peer] > 0 {
		s.f.answers[peer]--
		s.waiting = append(s.waiting, m.To)
	}
	return rds.Sent{}, nil
}

func (s *fakePingSocket) Receive(ctx context.Context, _ []byte) (rds.Received, error) {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	if len(s.waiting) > 0 {
		r := rds.Received{From: s.waiting[0]}
		s.waiting = s.waiting[1:]
		return r, nil
	}
	s.f.mu.Unlock()
	<-ctx.Done()
	s.f.mu.Lock()
	return rds.Received{}, ctx.Err()
}

func (s *fakePingSocket) Transport() (rds.Transport, error) { return rds.TransportIB, nil }

func (s *fakePingSocket) Close() error {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	s.f.closed++
	return nil
}

// pinged runs "rdsinfo ping".
func pinged(t *testing.T, f *fakePeers, change func(*app), args string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr strings.Builder
	a := fakeApp(newFake(), nil, &stdout, &stderr)
	a.listen = f.listen
	if change != nil {
		change(a)
	}
	code = a.runAs(t.Context(), pingName, strings.Fields(args))
	if len(f.opened) != f.closed {
		t.Errorf("ping %s: %d sockets opened, %d closed", args, len(f.opened), f.closed)
	}
	return code, stdout.String(), stderr.String()
}

// steady replaces the times, which differ each time.
func steady(out string) string {
	out = regexp.MustCompile(`\b\d+(\.\d+)? us`).ReplaceAllString(out, "N us")
	out = regexp.MustCompile(`("\w+_us":)[\d.e+-]+`).ReplaceAllString(out, "${1}N")
	out = regexp.MustCompile(`("time":")[^"]*`).ReplaceAllString(out, "${1}T")
	out = regexp.MustCompile(`  +`).ReplaceAllString(out, "  ")
	return regexp.MustCompile(`(  \d+){4}(  \S+  \S+  \S+\n)`).ReplaceAllString(out, "  N  N  N  N$2")
}

func TestPing(t *testing.T) {
	for name, tt := range map[string]struct {
		args    string
		answers map[string]int
		code    int
		errs    string
	}{
		"ping":       {"-c 3 -i 1ms -I 192.0.2.1 192.0.2.2", map[string]int{"192.0.2.2": 3}, exitOK, ""},
		"ping-json":  {"-c 2 -i 1ms -I 192.0.2.1 --json 192.0.2.2", map[string]int{"192.0.2.2": 2}, exitOK, ""},
		"ping-lost":  {"-c 3 -i 1ms -W 20ms -I 192.0.2.1 192.0.2.2", map[string]int{"192.0.2.2": 1}, exitOK, ""},
		"ping-none":  {"-c 1 -i 1ms -W 20ms -I 192.0.2.1 --json 192.0.2.3", nil, exitFailure, "rdsinfo: no answer from 192.0.2.3\n"},
		"ping-stock": {"-c 1 -I 192.0.2.1 -Q 4 192.0.2.33", map[string]int{"192.0.2.33": 1}, exitOK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakePeers{answers: tt.answers, stray: true}
			code, out, errs := pinged(t, f, nil, tt.args)
			if code != tt.code || errs != tt.errs {
				t.Fatalf("exit code %d, %q; want %d, %q", code, errs, tt.code, tt.errs)
			}
			golden(t, name, steady(out))
			for i, b := range f.bound {
				if b != netip.MustParseAddrPort("192.0.2.1:0") || (f.opened[i].TOS == 4) != strings.Contains(tt.args, "-Q") {
					t.Errorf("bound to %v with %+v", b, f.opened[i])
				}
			}
		})
	}
}

// Several peers are pinged at once; each has its own numbers.
func TestPingSeveral(t *testing.T) {
	f := &fakePeers{answers: map[string]int{"192.0.2.2": 9, "192.0.2.33": 2}}
	code, out, errs := pinged(t, f, func(a *app) { a.dial = noModule }, "-c 4 -i 1ms -W 20ms -I 192.0.2.1 --json 192.0.2.2 192.0.2.33 192.0.2.4")
	if code != exitFailure || errs != "rdsinfo: no answer from 192.0.2.4\n" {
		t.Errorf("exit code %d, %q", code, errs)
	}
	got := map[string][2]uint{}
	for line := range strings.Lines(out) {
		var v pingSummary
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		if v.Event == "summary" {
			got[v.Peer.String()] = [2]uint{v.Sent, v.Received}
			if v.PeerKind != nil || v.Version != nil {
				t.Errorf("without rds_ext.ko: %s", line)
			}
			if (v.MinUS == nil) != (v.Received == 0) || v.MinUS != nil && (*v.MinUS > *v.MeanUS || *v.P50US > *v.P99US || *v.P99US > *v.MaxUS) {
				t.Errorf("times: %s", line)
			}
		}
	}
	if len(got) != 3 || got["192.0.2.2"] != [2]uint{4, 4} || got["192.0.2.33"] != [2]uint{4, 2} || got["192.0.2.4"] != [2]uint{4, 0} {
		t.Errorf("sent and received: %v", got)
	}
}

func TestPingErrors(t *testing.T) {
	for _, tt := range []struct {
		args string
		err  error
		code int
		want string
	}{
		{"", nil, exitUsage, "requires at least 1 arg"},
		{"-c 0 192.0.2.2", nil, exitUsage, "--count must be at least 1"},
		{"-i 1us 192.0.2.2", nil, exitUsage, "--interval must be at least 1ms"},
		{"-W 0s 192.0.2.2", nil, exitUsage, "--timeout must be more than 0"},
		{"-Q 256 192.0.2.2", nil, exitUsage, "from 0 to 255"},
		{"-I 192.0.2.1 192.0.2.2 ::ffff:192.0.2.2", nil, exitUsage, "peer 192.0.2.2 is given twice"},
		{"-I 192.0.2.1 192.0.2.2", &rds.Error{Op: "send", Err: syscall.ENETUNREACH}, exitFailure, "192.0.2.2: rds: send: network is unreachable"},
	} {
		code, _, errs := pinged(t, &fakePeers{sendErr: tt.err}, nil, tt.args)
		if code != tt.code || !strings.Contains(errs, tt.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("ping %s: exit code %d, %q; want %d, %q", tt.args, code, errs, tt.code, tt.want)
		}
	}
	code, _, errs := pinged(t, &fakePeers{}, func(a *app) {
		a.listen = func(netip.AddrPort, rds.Config) (pingSocket, error) {
			return nil, &rds.Error{Op: "socket", Err: syscall.EAFNOSUPPORT}
		}
	}, "-I 192.0.2.1 192.0.2.2")
	if code != exitNotLoaded || !strings.Contains(errs, "modprobe") {
		t.Errorf("without RDS: exit code %d, %q", code, errs)
	}
}

// Ctrl-C is a normal end, with the summary.
func TestPingInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l := &looks{left: 2, cancel: cancel}
	var errs strings.Builder
	a := fakeApp(newFake(), nil, l, &errs)
	a.listen = (&fakePeers{answers: map[string]int{"192.0.2.2": 100}}).listen
	code := a.run(ctx, []string{"ping", "-i", "1ms", "-I", "192.0.2.1", "192.0.2.2"})
	if code != exitOK || errs.Len() != 0 || !strings.Contains(l.String(), "PEER VERSION") {
		t.Errorf("exit code %d, %q, %q", code, errs.String(), l.String())
	}
}
