// SPDX-License-Identifier: MIT

// Package pattern makes and checks payloads that are different for every run,
// task, operation and offset, so that a byte at the wrong place, of the wrong
// operation or not written at all is noticed.
package pattern

import "encoding/binary"

// step is added from word to word. It is odd, so the words of 2^64 offsets are
// all different.
const step = 0x9e3779b97f4a7c15

// Stream names one payload.
type Stream struct {
	Seed uint64 // of the run
	Task uint64 // direction and number of the task
	Op   uint64 // number of the operation in its task
}

// first mixes the three numbers into the first word of the stream. Each round
// multiplies and folds, so neighbouring operations have nothing in common.
func (s Stream) first() uint64 {
	h := uint64(step)
	for _, x := range [3]uint64{s.Seed, s.Task, s.Op} {
		h ^= x
		h *= 0xd6e8feb86659fd93
		h ^= h >> 32
		h *= 0xd6e8feb86659fd93
		h ^= h >> 29
	}
	return h
}

// Fill writes the payload.
func Fill(b []byte, s Stream) { fill(b, s, 0) }

// FillInverse writes the payload with every bit flipped: what must be there
// before somebody else writes the payload. No byte is right by chance then.
func FillInverse(b []byte, s Stream) { fill(b, s, ^uint64(0)) }

func fill(b []byte, s Stream, mask uint64) {
	w := s.first()
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, w^mask)
		b = b[8:]
		w += step
	}
	if len(b) > 0 {
		var last [8]byte
		binary.LittleEndian.PutUint64(last[:], w^mask)
		copy(b, last[:])
	}
}

// Verify returns the offset of the first byte that differs from the payload, or
// -1.
func Verify(b []byte, s Stream) int {
	w := s.first()
	off := 0
	for len(b)-off >= 8 {
		if got := binary.LittleEndian.Uint64(b[off:]); got != w {
			return off + firstDifference(got, w)
		}
		off += 8
		w += step
	}
	var last [8]byte
	binary.LittleEndian.PutUint64(last[:], w)
	for i, c := range b[off:] {
		if c != last[i] {
			return off + i
		}
	}
	return -1
}

func firstDifference(a, b uint64) int {
	for i := range 8 {
		if byte(a>>(8*i)) != byte(b>>(8*i)) {
			return i
		}
	}
	return 8
}
