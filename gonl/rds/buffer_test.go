// SPDX-License-Identifier: MIT

package rds

import (
	"errors"
	"os"
	"testing"
	"unsafe"
)

func TestBufferGuards(t *testing.T) {
	page := os.Getpagesize()
	for _, size := range []int{1, 100, page - 1, page, page + 1, MaxMessage} {
		b, err := NewBuffer(size)
		if err != nil {
			t.Fatal(err)
		}
		if b.Len() != size || cap(b.Bytes()) != size {
			t.Errorf("size %d: len %d cap %d", size, b.Len(), cap(b.Bytes()))
		}
		if addr := uintptr(unsafe.Pointer(&b.Bytes()[0])); addr%uintptr(page) != 0 {
			t.Errorf("size %d: not page-aligned: %#x", size, addr)
		}
		if !b.GuardsIntact() {
			t.Errorf("size %d: fresh guards damaged", size)
		}
		for i := range b.Bytes() {
			b.Bytes()[i] = 0xff
		}
		if !b.GuardsIntact() {
			t.Errorf("size %d: filling the data damaged the guards", size)
		}
		// Each byte around the data is guarded: the neighbours, the ends.
		for _, i := range []int{0, page - 1, page + size, len(b.mem) - 1} {
			old := b.mem[i]
			b.mem[i] ^= 1
			if b.GuardsIntact() {
				t.Errorf("size %d: damage at %d not seen", size, i)
			}
			b.mem[i] = old
		}
		b.mem[page+size] = 0
		b.ResetGuards()
		if !b.GuardsIntact() {
			t.Errorf("size %d: reset did not help", size)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if err := b.Close(); err != nil {
			t.Errorf("second close: %v", err)
		}
	}
}

func TestBufferSize(t *testing.T) {
	for _, size := range []int{-1, 0, MaxMessage + 1} {
		if _, err := NewBuffer(size); err == nil {
			t.Errorf("size %d accepted", size)
		}
	}
}

// TestBufferInUse: memory stays while a region may refer to it, a key that
// comes again replaces its old region, and unknown cookies change nothing.
func TestBufferInUse(t *testing.T) {
	b, err := NewBuffer(10)
	if err != nil {
		t.Fatal(err)
	}
	s := &Socket{regions: map[uint32]*Buffer{}}
	s.addRegion(NewCookie(1, 0), b)
	s.addRegion(NewCookie(2, 0), b)
	s.addRegion(NewCookie(1, 8), b)
	if n := s.Regions(); n != 2 {
		t.Errorf("%d regions, want 2", n)
	}
	if err := b.Close(); !errors.Is(err, ErrBufferInUse) {
		t.Errorf("close: %v, want ErrBufferInUse", err)
	}
	s.removeRegion(NewCookie(3, 0))
	s.removeRegion(NewCookie(1, 0))
	if err := b.Close(); !errors.Is(err, ErrBufferInUse) {
		t.Errorf("close with one region: %v, want ErrBufferInUse", err)
	}
	s.removeRegion(NewCookie(2, 0))
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

func TestSegment(t *testing.T) {
	b, err := NewBuffer(100)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Segment{
		{nil, 0, 1}, {b, 0, 0}, {b, -1, 1}, {b, 0, 101}, {b, 100, 1}, {b, 1, 100}, {b, 0, -1},
		{b, int(^uint(0) >> 1), 1}, {b, 1, int(^uint(0) >> 1)},
	} {
		if s.check() == nil || s.Bytes() != nil {
			t.Errorf("segment %d+%d accepted", s.Offset, s.Length)
		}
	}
	good := Segment{b, 99, 1}
	if err := good.check(); err != nil || len(good.Bytes()) != 1 {
		t.Errorf("last byte: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if good.check() == nil {
		t.Error("segment of a closed buffer accepted")
	}
}
