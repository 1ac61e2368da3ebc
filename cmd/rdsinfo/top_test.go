// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/gonl"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// twoSamples are two seconds apart.
func twoSamples(t *testing.T) (before, now topSample, events []topEvent) {
	t.Helper()
	f, i := newFake(), newFakeInfo()
	a := fakeApp(f, i, nil, nil)
	before, err := a.sample(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i.conns = append([]rds.Connection{}, i.conns...)
	i.conns[0].NextTx, i.conns[0].NextRx = i.conns[0].NextTx+5, i.conns[0].NextRx+301
	i.conns[1].NextTx += 4000
	i.counters = append([]rds.Counter{{Name: "send_rdma", Value: 3}}, i.counters...)
	i.counters[1].Value += 2 // conn_reset
	i.counters[3].Value += 8 // send_queued
	f.stats.Mapped += 1000
	f.pools[0].Registrations += 6
	if now, err = a.sample(t.Context()); err != nil {
		t.Fatal(err)
	}
	before.at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now.at = before.at.Add(2 * time.Second)
	log := &eventLog{max: 3}
	for _, ev := range f.events {
		log.add(ev)
	}
	return before, now, log.take()
}

func TestTopView(t *testing.T) {
	before, now, events := twoSamples(t)
	v := newTopView(before, now, events)
	golden(t, "top", string(v.text(0)))
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "top-json", string(b)+"\n")
	// A screen that is too small has the beginning of each part.
	golden(t, "top-screen", string(v.text(18)))
	for rows := 1; rows < 40; rows++ {
		if n := strings.Count(string(v.text(rows)), "\n"); rows > 15 && n > rows {
			t.Errorf("%d lines on a screen of %d", n, rows)
		}
	}
	// Counters that began anew have no rate.
	now.counters, before.counters = before.counters, now.counters
	if v := newTopView(before, now, nil); v.Host.Resets != nil || v.Host.Operations != nil {
		t.Errorf("rates of counters that went back: %+v", v.Host)
	}
}

func TestTop(t *testing.T) {
	var out, errs strings.Builder
	f := newFake()
	code := fakeApp(f, newFakeInfo(), &out, &errs).run(t.Context(), []string{"top", "-i", "100ms", "-c", "2", "--json"})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if code != exitOK || errs.Len() != 0 || len(lines) != 2 {
		t.Fatalf("exit code %d, %q, %q", code, errs.String(), out.String())
	}
	seen := 0
	for _, line := range lines {
		var v topView
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		if !v.Loaded || v.Seconds < 0.05 || len(v.Conns) != 4 || len(v.Pools) != 2 || v.Host.Resets == nil || *v.Host.Resets != 0 {
			t.Errorf("%s", line)
		}
		seen += len(v.Events)
	}
	if want := len(newFake().events) - 2; seen != want { // but for what is none
		t.Errorf("%d events, want each of %d once", seen, want)
	}
	// Each sample, and the stream of events with its client, are closed.
	if f.closed != 3*2+2 {
		t.Errorf("closed %d times", f.closed)
	}
	code, text, errText := rdsinfoStock(t.Context(), newFakeInfo(), "top", "-i", "100ms", "-c", "1")
	if code != exitOK || errText != "" || !strings.Contains(text, "rds_ext.ko is not loaded") || !strings.Contains(text, "192.0.2.33") {
		t.Errorf("stock: exit code %d, %q, %q", code, errText, text)
	}
}

func TestTopEnds(t *testing.T) {
	// Ctrl-C.
	ctx, cancel := context.WithCancel(t.Context())
	l := &looks{left: 2, cancel: cancel}
	var errs strings.Builder
	if code := fakeApp(newFake(), newFakeInfo(), l, &errs).run(ctx, []string{"top", "-i", "100ms"}); code != exitOK || errs.Len() != 0 {
		t.Errorf("Ctrl-C: exit code %d, %q", code, errs.String())
	}
	// The module goes.
	f := newFake()
	f.eventErr = fmt.Errorf("gone: %w", gonl.ErrNotLoaded)
	if code, _, errs := rdsinfo(t.Context(), f, "top", "-i", "100ms"); code != exitNotLoaded {
		t.Errorf("unloaded: exit code %d, %q", code, errs)
	}
	// Something else.
	f = newFake()
	f.err = errors.New("broken")
	if code, _, errs := rdsinfo(t.Context(), f, "top"); code != exitFailure || errs != "rdsinfo: broken\n" {
		t.Errorf("broken: exit code %d, %q", code, errs)
	}
	for args, want := range map[string]string{"top -i 1ms": "at least 100ms", "top -c 0": "at least 1", "top x": "unknown command"} {
		if code, _, errs := rdsinfo(t.Context(), newFake(), strings.Fields(args)...); code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s: exit code %d, %q", args, code, errs)
		}
	}
}

// Connections that differ in their halves, transport or TOS are told apart.
func TestTopKeys(t *testing.T) {
	a := connState{Conn: gonl.Conn{Local: netip.MustParseAddr("192.0.2.1"), Peer: netip.MustParseAddr("192.0.2.1"), Transport: gonl.TransportLoop}}
	seen := map[topKey]bool{keyOf(&a): true}
	for _, change := range []func(*connState){
		func(c *connState) { c.Passive = true },
		func(c *connState) { c.TOS = 1 },
		func(c *connState) { c.Transport = gonl.TransportIB },
		func(c *connState) { c.Peer = netip.MustParseAddr("192.0.2.2") },
	} {
		b := a
		change(&b)
		if seen[keyOf(&b)] {
			t.Errorf("taken for another one: %+v", b)
		}
		seen[keyOf(&b)] = true
	}
}
