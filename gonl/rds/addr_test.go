// SPDX-License-Identifier: MIT

package rds

import (
	"net/netip"
	"testing"
)

func TestSockaddr(t *testing.T) {
	for _, tt := range []struct {
		in, want string
		size     int
	}{
		{"10.0.0.1:4000", "10.0.0.1:4000", sizeSockaddr4},
		{"[::ffff:10.0.0.1]:4000", "10.0.0.1:4000", sizeSockaddr4},
		{"[fd00::1]:1", "[fd00::1]:1", sizeSockaddr6},
		{"[fe80::1%3]:65535", "[fe80::1%3]:65535", sizeSockaddr6},
	} {
		b, err := appendSockaddr(nil, netip.MustParseAddrPort(tt.in))
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		if len(b) != tt.size {
			t.Errorf("%s: %d bytes, want %d", tt.in, len(b), tt.size)
		}
		got, err := parseSockaddr(b)
		if err != nil || got.String() != tt.want {
			t.Errorf("%s: got %v, %v, want %s", tt.in, got, err, tt.want)
		}
	}
}

func TestSockaddrBytes(t *testing.T) {
	b, err := appendSockaddr(nil, netip.MustParseAddrPort("1.2.3.4:258"))
	if err != nil {
		t.Fatal(err)
	}
	// Port and address are in network order behind the two-byte family.
	if string(b[2:8]) != "\x01\x02\x01\x02\x03\x04" {
		t.Errorf("got % x", b)
	}
}

func TestSockaddrBad(t *testing.T) {
	if _, err := appendSockaddr(nil, netip.AddrPort{}); err == nil {
		t.Error("zero address accepted")
	}
	zone := netip.AddrPortFrom(netip.MustParseAddr("fe80::1%no-such-interface"), 1)
	if _, err := appendSockaddr(nil, zone); err == nil {
		t.Error("unknown zone accepted")
	}
	for _, b := range [][]byte{{1}, {0xff, 0xff, 1, 1}, {2, 0, 1, 1, 1}, append([]byte{10, 0}, make([]byte, 20)...)} {
		if a, err := parseSockaddr(b); err == nil {
			t.Errorf("% x accepted as %v", b, a)
		}
	}
	if a, err := parseSockaddr(nil); err != nil || a.IsValid() {
		t.Errorf("empty: %v, %v", a, err)
	}
}

func FuzzSockaddr(f *testing.F) {
	for _, s := range []string{"10.0.0.1:4000", "[fd00::1]:1", "[fe80::1%3]:7"} {
		b, err := appendSockaddr(nil, netip.MustParseAddrPort(s))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := parseSockaddr(b)
		if err != nil || !a.IsValid() {
			return
		}
		// What was parsed can be built and parsed again to the same.
		c, err := appendSockaddr(nil, a)
		if err != nil {
			t.Fatalf("%v: %v", a, err)
		}
		if d, err := parseSockaddr(c); err != nil || d != a {
			t.Fatalf("%v came back as %v, %v", a, d, err)
		}
	})
}
