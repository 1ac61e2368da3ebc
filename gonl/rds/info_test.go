// SPDX-License-Identifier: MIT

package rds

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"testing"
)

func conn4(flags byte) []byte {
	b := words(11, 22)
	b = append(b, 10, 0, 0, 1, 10, 0, 0, 2)
	b = append(b, append([]byte("infiniband"), make([]byte, 6)...)...)
	return append(b, flags, 0)
}

func conn6(peer string, flags byte) []byte {
	b := words(33, 44)
	l, p := netip.MustParseAddr("fd00::1").As16(), netip.MustParseAddr(peer).As16()
	b = append(append(b, l[:]...), p[:]...)
	b = append(b, append([]byte("tcp"), make([]byte, 13)...)...)
	return append(b, flags)
}

func TestParseConnections(t *testing.T) {
	cs, err := parseConnections4(append(conn4(4), conn4(3)...), sizeConn4)
	if err != nil {
		t.Fatal(err)
	}
	a, p := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	want := []Connection{
		{Local: a, Peer: p, Transport: "infiniband", NextTx: 11, NextRx: 22, Connected: true},
		{Local: a, Peer: p, Transport: "infiniband", NextTx: 11, NextRx: 22, Sending: true, Connecting: true},
	}
	for i := range want {
		if cs[i] != want[i] {
			t.Errorf("got %+v, want %+v", cs[i], want[i])
		}
	}
	// IPv4 connections appear among the IPv6 ones too and must not come twice.
	cs, err = parseConnections6(append(conn6("fd00::2", 4), conn6("::ffff:10.0.0.2", 4)...), sizeConn6)
	if err != nil {
		t.Fatal(err)
	}
	if len(cs) != 1 || cs[0].Peer.String() != "fd00::2" || cs[0].Transport != "tcp" || !cs[0].Connected || cs[0].NextRx != 44 {
		t.Errorf("got %+v", cs)
	}
	// A kernel with a larger structure.
	cs, err = parseConnections4(append(conn4(4), 1, 2, 3, 4, 5, 6), sizeConn4+6)
	if err != nil || len(cs) != 1 || !cs[0].Connected {
		t.Errorf("larger structure: %+v, %v", cs, err)
	}
	// Older kernels end with the flags.
	tos := conn4(4)
	tos[sizeConn4-1] = 3
	cs, err = parseConnections4(tos, sizeConn4)
	if err != nil || len(cs) != 1 || cs[0].TOS != 3 {
		t.Errorf("type of service: %+v, %v", cs, err)
	}
	cs, err = parseConnections4(tos[:sizeConn4-1], sizeConn4-1)
	if err != nil || len(cs) != 1 || cs[0].TOS != 0 || !cs[0].Connected {
		t.Errorf("without type of service: %+v, %v", cs, err)
	}
}

func TestParseInfoMalformed(t *testing.T) {
	for _, each := range []int{0, -1, 1, sizeConn4 - 2, 1 << 30} {
		if _, err := parseConnections4(conn4(0), each); !errors.Is(err, ErrMalformed) {
			t.Errorf("each %d: %v", each, err)
		}
		if _, err := parseCounters(conn4(0), each); !errors.Is(err, ErrMalformed) {
			t.Errorf("counters, each %d: %v", each, err)
		}
		if _, err := parseConnections6(conn4(0), each); !errors.Is(err, ErrMalformed) {
			t.Errorf("connections6, each %d: %v", each, err)
		}
	}
}

func TestParseCounters(t *testing.T) {
	b := make([]byte, 2*sizeCounter)
	copy(b, "conn_reset")
	binary.NativeEndian.PutUint64(b[counterName:], 5)
	copy(b[sizeCounter:], "recv_drop_no_sock")
	binary.NativeEndian.PutUint64(b[sizeCounter+counterName:], 7)
	m, err := parseCounters(b, sizeCounter)
	if err != nil || len(m) != 2 || m["conn_reset"] != 5 || m["recv_drop_no_sock"] != 7 {
		t.Errorf("got %v, %v", m, err)
	}
}

func FuzzInfo(f *testing.F) {
	f.Add(conn4(4), sizeConn4)
	f.Add(conn6("fd00::2", 4), sizeConn6)
	f.Add(make([]byte, 3*sizeCounter), sizeCounter)
	f.Fuzz(func(t *testing.T, b []byte, each int) {
		for _, parse := range []func([]byte, int) error{
			func(b []byte, each int) error { _, err := parseConnections4(b, each); return err },
			func(b []byte, each int) error { _, err := parseConnections6(b, each); return err },
			func(b []byte, each int) error { _, err := parseCounters(b, each); return err },
		} {
			if err := parse(b, each); err != nil && !errors.Is(err, ErrMalformed) {
				t.Fatalf("untyped error %v", err)
			}
		}
	})
}
