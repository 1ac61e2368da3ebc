// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/gonl"
)

// mrView is what mrEncoder writes, for the general encoder.
type mrView struct {
	ID        uint32      `json:"id"`
	Device    string      `json:"device"`
	PID       uint32      `json:"pid"`
	Command   string      `json:"command"`
	UID       uint32      `json:"uid"`
	Socket    uint64      `json:"socket"`
	BoundAddr *netip.Addr `json:"bound_addr"`
	BoundPort uint16      `json:"bound_port"`
	RKey      *uint32     `json:"rkey"`
	Length    uint64      `json:"length"`
	Pages     uint32      `json:"pages"`
	Flags     gonl.MRFlag `json:"flags"`
	State     string      `json:"state"`
	AgeMS     int64       `json:"age_ms"`
	ConnID    *uint32     `json:"conn_id"`
	PeerAddr  *netip.Addr `json:"peer_addr"`
}

func viewMR(m gonl.MR) mrView {
	var bound *netip.Addr
	if m.BoundAddr.IsValid() {
		bound = &m.BoundAddr
	}
	return mrView{
		m.ID, m.Device, m.PID, m.Command, m.UID, m.Socket, bound, m.BoundPort, m.RKey, m.Length, m.Pages,
		m.Flags, m.State.String(), m.Age.Milliseconds(), m.ConnID, m.Peer,
	}
}

// oddMRs are MRs with the largest values, with the smallest, and with names that
// need quoting.
func oddMRs() []gonl.MR {
	list := []gonl.MR{{}, {
		ID: math.MaxUint32, Device: "d", PID: math.MaxUint32, Command: "c", UID: math.MaxUint32, Socket: math.MaxUint64,
		BoundAddr: netip.MustParseAddr("2001:db8::ffff"), BoundPort: math.MaxUint16, RKey: ptr(uint32(math.MaxUint32)),
		Length: math.MaxUint64, Pages: math.MaxUint32, Flags: math.MaxUint32, State: math.MaxUint32,
		Age: math.MaxInt64, ConnID: ptr(uint32(math.MaxUint32)), Peer: ptr(netip.MustParseAddr("192.0.2.255")),
	}}
	for _, name := range []string{`a"b`, `back\slash`, "tab\t", "\x00", "\x7f", "\xff\xfe", "<&>", "größe", "\u2028", "a b~"} {
		list = append(list, gonl.MR{ID: 1, Command: name, Device: name})
	}
	return append(list, newFake().mrs...)
}

// TestMRJSON compares what is written by hand with the general encoder.
func TestMRJSON(t *testing.T) {
	var views []mrView
	for _, m := range oddMRs() {
		views = append(views, viewMR(m))
	}
	for n := range len(views) + 1 {
		var want bytes.Buffer
		a := app{stdout: &want}
		if err := a.printJSON(append([]mrView{}, views[:n]...)); err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		a = app{stdout: &got}
		if err := a.printMRList(oddMRs()[:n]); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Fatalf("%d MRs: %v; they are\n%s\nwant\n%s", n, err, &got, want.Bytes())
		}
	}
	for i, m := range oddMRs() {
		var want bytes.Buffer
		a := app{stdout: &want}
		if err := a.printJSON(views[i]); err != nil {
			t.Fatal(err)
		}
		if got := append(newMREncoder("").append(nil, &m), '\n'); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("got\n%s\nwant\n%s", got, want.Bytes())
		}
	}
}

func manyMRs(n int) []gonl.MR {
	list := make([]gonl.MR, n)
	for i := range list {
		list[i] = newFake().mrs[0]
		list[i].ID = uint32(i + 1)
	}
	return list
}

// TestManyMRs: a list of 10,000 is whole.
func TestManyMRs(t *testing.T) {
	f := newFake()
	f.mrs = manyMRs(10000)
	start := time.Now()
	code, out, errs := rdsinfo(t.Context(), f, "mr", "--json")
	took := time.Since(start)
	var got []mrView
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitOK || len(got) != 10000 || got[9999].ID != 10000 {
		t.Fatalf("exit code %d, %d MRs, %v, %s", code, len(got), err, errs)
	}
	t.Logf("%d bytes in %v", len(out), took)
	code, out, errs = rdsinfo(t.Context(), f, "mr")
	if n := bytes.Count([]byte(out), []byte("\n")); code != exitOK || n != 10001 {
		t.Errorf("exit code %d, %d lines, %s", code, n, errs)
	}
}

func BenchmarkMRJSON(b *testing.B) {
	list := manyMRs(10000)
	a := app{stdout: io.Discard}
	b.ReportAllocs()
	for b.Loop() {
		if err := a.printMRList(list); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMRTable(b *testing.B) {
	f := newFake()
	f.mrs = manyMRs(10000)
	b.ReportAllocs()
	for b.Loop() {
		if code, _, errs := rdsinfo(b.Context(), f, "mr"); code != exitOK {
			b.Fatal(errs)
		}
	}
}
