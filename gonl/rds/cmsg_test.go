// SPDX-License-Identifier: MIT

package rds

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// words encodes 64-bit words in the byte order of this host.
func words(w ...uint64) (b []byte) {
	for _, x := range w {
		b = binary.NativeEndian.AppendUint64(b, x)
	}
	return b
}

func TestStructLayouts(t *testing.T) {
	tests := []struct {
		name string
		got  []byte
		size int
		want []byte
	}{
		{
			"get mr", appendGetMR(nil, vec{0x1000, 0x2000}, 0x3000, UseOnce|ReadWrite), sizeGetMR,
			words(0x1000, 0x2000, 0x3000, 0x09),
		},
		{
			"free mr", appendFreeMR(nil, NewCookie(7, 16), Invalidate), sizeFreeMR,
			words(16<<32|7, 0x04),
		},
		{
			"rdma args", appendRDMAArgs(nil, rdmaArgs{
				cookie: 5, remote: vec{1, 2}, localAddr: 3, localNr: 4, flags: Fence | NotifyMe, token: 6,
			}), sizeRDMAArgs,
			words(5, 1, 2, 3, 4, 0x22, 6),
		},
		{
			"get mr for dest", appendGetMRForDest(nil, []byte{1, 2, 3}, vec{1, 2}, 3, 8), sizeGetMRDest,
			append(append([]byte{1, 2, 3}, make([]byte, 125)...), words(1, 2, 3, 8)...),
		},
	}
	for _, tt := range tests {
		if len(tt.got) != tt.size {
			t.Errorf("%s: %d bytes, want %d", tt.name, len(tt.got), tt.size)
		}
		if !bytes.Equal(tt.got, tt.want) {
			t.Errorf("%s: got % x, want % x", tt.name, tt.got, tt.want)
		}
	}
}

// TestCmsgAgainstXSys lets x/sys, which has its own idea of the layout, parse
// what this package builds.
func TestCmsgAgainstXSys(t *testing.T) {
	b := appendCmsgHdr(nil, cmsgRDMADest, sizeCookie)
	b = append(b, words(0x1122334455667788)...)
	b = appendCmsgHdr(b, cmsgRDMAMap, sizeGetMR)
	b = appendGetMR(b, vec{1, 2}, 3, 4)
	if want := unix.CmsgSpace(sizeCookie) + unix.CmsgSpace(sizeGetMR); len(b) != want {
		t.Fatalf("%d bytes, want %d", len(b), want)
	}
	msgs, err := unix.ParseSocketControlMessage(b)
	if err != nil {
		t.Fatal(err)
	}
	if len(msgs) != 2 {
		t.Fatalf("%d messages, want 2", len(msgs))
	}
	for i, want := range []struct {
		typ  int32
		data []byte
	}{
		{cmsgRDMADest, words(0x1122334455667788)},
		{cmsgRDMAMap, words(1, 2, 3, 4)},
	} {
		m := msgs[i]
		if m.Header.Level != solRDS || m.Header.Type != want.typ || !bytes.Equal(m.Data, want.data) {
			t.Errorf("message %d: level %d type %d data % x", i, m.Header.Level, m.Header.Type, m.Data)
		}
	}
}

func statusMsg(token uint64, st int32) []byte {
	b := appendCmsgHdr(nil, cmsgRDMAStatus, sizeStatus)
	b = append(b, words(token)...)
	b = binary.NativeEndian.AppendUint32(b, uint32(st))
	return append(b, 0, 0, 0, 0)
}

func TestParseControl(t *testing.T) {
	cookie := append(appendCmsgHdr(nil, cmsgRDMADest, sizeCookie), words(uint64(NewCookie(0xabc, 8)))...)
	cong := append(appendCmsgHdr(nil, cmsgCongUpdate, sizeCongMask), words(CongestionBit(4000))...)
	newer := append(appendCmsgHdr(nil, 99, 8), words(1)...)

	c, err := parseControl(append(append([]byte{}, newer...), cookie...))
	if err != nil {
		t.Fatal(err)
	}
	if !c.hasCookie || c.cookie.Key() != 0xabc || c.cookie.Offset() != 8 {
		t.Errorf("cookie %v %v", c.hasCookie, c.cookie)
	}

	c, err = parseControl(append(statusMsg(1, 0), append(statusMsg(2, 3), statusMsg(3, -1)...)...))
	if err != nil {
		t.Fatal(err)
	}
	want := []Completion{{1, StatusSuccess}, {2, StatusDropped}, {3, Status(-1)}}
	if len(c.completions) != len(want) {
		t.Fatalf("completions %v", c.completions)
	}
	for i := range want {
		if c.completions[i] != want[i] {
			t.Errorf("completion %d: %v, want %v", i, c.completions[i], want[i])
		}
	}

	c, err = parseControl(cong)
	if err != nil {
		t.Fatal(err)
	}
	if c.congestion != 1<<(4000%64) {
		t.Errorf("congestion %#x", c.congestion)
	}

	c, err = parseControl(nil)
	if err != nil || c.hasCookie || c.completions != nil || c.congestion != 0 {
		t.Errorf("empty: %+v, %v", c, err)
	}
}

func TestParseControlMalformed(t *testing.T) {
	good := statusMsg(1, 0)
	short := append([]byte{}, good...)
	binary.NativeEndian.PutUint64(short, uint64(sizeCmsgHdr+8)) // half a status
	long := append([]byte{}, good...)
	binary.NativeEndian.PutUint64(long, uint64(len(good)+1))
	tiny := append([]byte{}, good...)
	binary.NativeEndian.PutUint64(tiny, 3)
	huge := append([]byte{}, good...)
	binary.NativeEndian.PutUint64(huge, 1<<63)
	for name, b := range map[string][]byte{
		"data short": short, "length over buffer": long, "length under header": tiny,
		"length overflows": huge, "half a header": good[:7],
	} {
		if _, err := parseControl(b); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v, want ErrMalformed", name, err)
		}
	}
}

func FuzzParseControl(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(statusMsg(7, 3))
	f.Add(append(statusMsg(7, 3), statusMsg(8, 1)...))
	f.Add(append(appendCmsgHdr(nil, cmsgRDMADest, sizeCookie), words(1)...))
	f.Add(append(appendCmsgHdr(nil, cmsgCongUpdate, sizeCongMask), words(3)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseControl(b)
		if err != nil && !errors.Is(err, ErrMalformed) {
			t.Fatalf("untyped error %v", err)
		}
		// Each completion takes a header and a status.
		if len(c.completions)*(sizeCmsgHdr+sizeStatus) > len(b) {
			t.Fatalf("%d completions out of %d bytes", len(c.completions), len(b))
		}
	})
}
