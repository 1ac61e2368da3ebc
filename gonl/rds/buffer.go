// SPDX-License-Identifier: MIT

package rds

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// guardByte fills the guard areas. It is neither 0 nor 0xff, which is what most
// stray writes bring.
const guardByte = 0xa5

// Buffer is page-aligned memory outside the Go heap that can be registered for
// RDMA. Guard areas lie before and after the data, in pages of their own and in
// the rest of the last data page, so that an RDMA that misses can be seen.
//
// The methods are safe for concurrent use; the bytes are not.
type Buffer struct {
	mem   []byte // guard page, data pages, guard page
	data  []byte
	guard []byte // one page of guardByte, to compare with

	mu   sync.Mutex
	refs int // registered regions
}

// NewBuffer allocates size bytes, 1 to [MaxMessage]. The memory is zero.
func NewBuffer(size int) (*Buffer, error) {
	if size < 1 || size > MaxMessage {
		return nil, fmt.Errorf("rds: buffer of %d bytes: must be 1 to %d", size, MaxMessage)
	}
	page := os.Getpagesize()
	pages := (size + page - 1) / page
	mem, err := unix.Mmap(-1, 0, (pages+2)*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("rds: allocate %d bytes: %w", size, err)
	}
	// A child that shared the pages would turn the next write into a copy, and
	// the pinned originals would no longer be ours.
	if err := unix.Madvise(mem, unix.MADV_DONTFORK); err != nil {
		return nil, errors.Join(fmt.Errorf("rds: madvise: %w", err), unix.Munmap(mem))
	}
	b := &Buffer{
		mem:   mem,
		data:  mem[page : page+size : page+size],
		guard: bytes.Repeat([]byte{guardByte}, page),
	}
	b.ResetGuards()
	return b, nil
}

// Bytes returns the data. It is invalid after Close.
func (b *Buffer) Bytes() []byte { return b.data }

// Len returns the number of data bytes.
func (b *Buffer) Len() int { return len(b.data) }

// GuardsIntact reports whether the guard areas are as they were written.
func (b *Buffer) GuardsIntact() bool {
	ok := true
	b.eachGuard(func(g []byte) { ok = ok && bytes.Equal(g, b.guard[:len(g)]) })
	return ok
}

// ResetGuards writes the guard areas afresh, for use after they were found
// damaged.
func (b *Buffer) ResetGuards() {
	b.eachGuard(func(g []byte) { copy(g, b.guard) })
}

func (b *Buffer) eachGuard(f func([]byte)) {
	page := len(b.guard)
	f(b.mem[:page])
	if rest := b.mem[page+len(b.data) : len(b.mem)-page]; len(rest) > 0 {
		f(rest)
	}
	f(b.mem[len(b.mem)-page:])
}

// Close returns the memory to the kernel. It fails with [ErrBufferInUse], and
// changes nothing, while a registered region refers to the buffer: release the
// regions or close their sockets first.
func (b *Buffer) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refs > 0 {
		return fmt.Errorf("rds: close buffer: %w: %d regions", ErrBufferInUse, b.refs)
	}
	if b.mem == nil {
		return nil
	}
	mem := b.mem
	b.mem, b.data, b.guard = nil, nil, nil
	return unix.Munmap(mem)
}

func (b *Buffer) ref() {
	b.mu.Lock()
	b.refs++
	b.mu.Unlock()
}

func (b *Buffer) unref() {
	b.mu.Lock()
	b.refs--
	b.mu.Unlock()
}

// Segment is a part of a buffer.
type Segment struct {
	Buffer *Buffer
	Offset int // of the first byte
	Length int // in bytes, at least 1
}

// Bytes returns the segment's memory, or nil if it lies outside the buffer.
func (s Segment) Bytes() []byte {
	if s.check() != nil {
		return nil
	}
	return s.Buffer.data[s.Offset : s.Offset+s.Length]
}

func (s Segment) check() error {
	if s.Buffer == nil || s.Buffer.data == nil {
		return errors.New("rds: segment without a buffer")
	}
	if s.Offset < 0 || s.Length < 1 || s.Length > s.Buffer.Len() || s.Offset > s.Buffer.Len()-s.Length {
		return fmt.Errorf("rds: segment of %d bytes at %d is outside a buffer of %d bytes", s.Length, s.Offset, s.Buffer.Len())
	}
	return nil
}

// vec returns where the kernel finds the segment. mmap'd memory does not move,
// so the number stays good after this call.
func (s Segment) vec() vec {
	return vec{
		addr:  uint64(uintptr(unsafe.Pointer(&s.Buffer.data[s.Offset]))),
		bytes: uint64(s.Length),
	}
}
