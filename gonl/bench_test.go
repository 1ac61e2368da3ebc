// SPDX-License-Identifier: MIT

package gonl

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"time"
)

// benchMRs is as many MRs as an operator should be able to list at once.
const benchMRs = 10000

// mrDump is the reply to a dump of n MRs as a kernel gives it, in datagrams of
// up to 32 KiB, and how many attributes there are in it. Command and R_Key
// differ, as they would.
func mrDump(n int) (datagrams [][]byte, attrs int) {
	var d []byte
	for i := range n {
		m := msg(testFamily, fMulti, 0, genl(8, mrAttrsOf(uint32(i+1), fmt.Sprintf("task-%d", i/64), uint32(i)<<8)))
		if len(d)+len(m) > 32<<10 {
			datagrams, d = append(datagrams, d), nil
		}
		d = append(d, m...)
	}
	d = append(d, msg(tDone, fMulti, 0, u32(0))...)
	return append(datagrams, d), 19 * n // padding included
}

// dumpKernel answers a dump with the same datagrams each time.
func dumpKernel(t testing.TB, datagrams [][]byte) *fakeKernel {
	return newFakeKernel(t, func(r request) [][]byte {
		out := make([][]byte, 0, len(datagrams))
		for _, d := range datagrams {
			for rest := d; len(rest) > 0; {
				binary.NativeEndian.PutUint32(rest[8:], r.seq)
				rest = rest[binary.NativeEndian.Uint32(rest):]
			}
			out = append(out, bytes.Clone(d))
		}
		return out
	})
}

// TestMRDumpCost: what a long list costs for each MR, since an allocation for
// each attribute once made it ten times as slow.
func TestMRDumpCost(t *testing.T) {
	datagrams, attrs := mrDump(benchMRs)
	c := dumpKernel(t, datagrams).client()
	list := func() {
		mrs, err := c.MRs(context.Background(), MRFilter{})
		if err != nil || len(mrs) != benchMRs {
			t.Fatalf("%d MRs, %v", len(mrs), err)
		}
	}
	allocs := testing.AllocsPerRun(3, list) / benchMRs
	start := time.Now()
	list()
	took := time.Since(start)
	t.Logf("%d MRs in %d datagrams: %v, %.0f attributes/s, %.3f allocations/MR",
		benchMRs, len(datagrams), took, float64(attrs)/took.Seconds(), allocs)
	if allocs > 0.25 {
		t.Errorf("%.3f allocations for each MR, want at most 0.25", allocs)
	}
}

func BenchmarkMRs(b *testing.B) {
	datagrams, attrs := mrDump(benchMRs)
	c := dumpKernel(b, datagrams).client()
	b.ReportAllocs()
	for b.Loop() {
		if mrs, err := c.MRs(b.Context(), MRFilter{}); err != nil || len(mrs) != benchMRs {
			b.Fatalf("%d MRs, %v", len(mrs), err)
		}
	}
	b.ReportMetric(float64(attrs)*float64(b.N)/b.Elapsed().Seconds(), "attrs/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchMRs, "ns/MR")
}

// benchConns is as many connections as a host of a large cluster has.
const benchConns = 1000

// connDump is the reply to a dump of n connections, and how many attributes there
// are in it.
func connDump(n int) (datagrams [][]byte, attrs int) {
	var d []byte
	for i := range n {
		peer := fmt.Sprintf("192.0.%d.%d", i/250, i%250+1)
		m := msg(testFamily, fMulti, 0, genl(1, connAttrs(uint32(i+1), peer)))
		if len(d)+len(m) > 32<<10 {
			datagrams, d = append(datagrams, d), nil
		}
		d = append(d, m...)
	}
	d = append(d, msg(tDone, fMulti, 0, u32(0))...)
	return append(datagrams, d), 33 * n // padding included
}

// TestConnDumpCost: what a long list costs for each connection.
func TestConnDumpCost(t *testing.T) {
	datagrams, attrs := connDump(benchConns)
	c := dumpKernel(t, datagrams).client()
	list := func() {
		conns, err := c.Conns(context.Background(), Filter{})
		if err != nil || len(conns) != benchConns {
			t.Fatalf("%d connections, %v", len(conns), err)
		}
	}
	allocs := testing.AllocsPerRun(3, list) / benchConns
	start := time.Now()
	list()
	took := time.Since(start)
	t.Logf("%d connections in %d datagrams: %v, %.0f attributes/s, %.3f allocations/connection",
		benchConns, len(datagrams), took, float64(attrs)/took.Seconds(), allocs)
	if allocs > 3 {
		t.Errorf("%.3f allocations for each connection, want at most 3", allocs)
	}
}

func BenchmarkConns(b *testing.B) {
	datagrams, attrs := connDump(benchConns)
	c := dumpKernel(b, datagrams).client()
	b.ReportAllocs()
	for b.Loop() {
		if conns, err := c.Conns(b.Context(), Filter{}); err != nil || len(conns) != benchConns {
			b.Fatalf("%d connections, %v", len(conns), err)
		}
	}
	b.ReportMetric(float64(attrs)*float64(b.N)/b.Elapsed().Seconds(), "attrs/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchConns, "ns/conn")
}

// BenchmarkEvents reads events that come one in a datagram, as from a kernel.
func BenchmarkEvents(b *testing.B) {
	event := msg(testFamily, 0, 0, genl(5, connAttrs(1, "192.0.2.2")))
	k, s := stream(b, b.Context())
	b.ReportAllocs()
	for b.Loop() {
		k.out <- event
		if ev, err := s.Next(); err != nil || ev.Conn == nil {
			b.Fatalf("%+v, %v", ev, err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
