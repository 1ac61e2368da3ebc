// SPDX-License-Identifier: MIT

package pattern

import "testing"

func TestEveryByteIsChecked(t *testing.T) {
	for _, n := range []int{1, 7, 8, 9, 63, 4096, 4099} {
		b := make([]byte, n)
		s := Stream{1, 2, 3}
		Fill(b, s)
		if off := Verify(b, s); off != -1 {
			t.Fatalf("size %d: fresh payload differs at %d", n, off)
		}
		for i := range b {
			b[i] ^= 0x10
			if off := Verify(b, s); off != i {
				t.Fatalf("size %d: damage at %d reported at %d", n, i, off)
			}
			b[i] ^= 0x10
		}
	}
}

func TestInverseHasNoRightByte(t *testing.T) {
	a, b := make([]byte, 1001), make([]byte, 1001)
	s := Stream{9, 9, 9}
	Fill(a, s)
	FillInverse(b, s)
	for i := range a {
		if a[i] != ^b[i] {
			t.Fatalf("byte %d: %#x and %#x", i, a[i], b[i])
		}
	}
	if off := Verify(b, s); off != 0 {
		t.Errorf("inverse differs first at %d, want 0", off)
	}
}

// TestStreamsDiffer: a payload of a neighbour, or at another offset, is wrong
// within its first words.
func TestStreamsDiffer(t *testing.T) {
	b := make([]byte, 64)
	Fill(b, Stream{1, 1, 1})
	for _, s := range []Stream{{2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {1, 1, 0}, {0, 1, 1}} {
		if off := Verify(b, s); off < 0 || off > 7 {
			t.Errorf("%v: first difference at %d", s, off)
		}
	}
	shifted := make([]byte, 72)
	Fill(shifted, Stream{1, 1, 1})
	if off := Verify(shifted[8:], Stream{1, 1, 1}); off < 0 || off > 7 {
		t.Errorf("shifted payload accepted up to %d", off)
	}
}

func BenchmarkFillVerify4K(b *testing.B) {
	buf := make([]byte, 4096)
	b.SetBytes(int64(len(buf)))
	for i := range b.N {
		s := Stream{1, 1, uint64(i)}
		Fill(buf, s)
		if Verify(buf, s) != -1 {
			b.Fatal("differs")
		}
	}
}
