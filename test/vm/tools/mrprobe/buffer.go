// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// newBuffer makes memory of a kind:
//
//	plain     that can be read and written
//	readonly  that can be read
//	hole      plain in the first half of its pages, and nothing in the second
//	nothing   that nobody may read or write
//
// Nothing is unmapped: the runtime would soon put memory of its own there.
//
// The result is for its address and length. Of those that are not plain, the
// bytes must not be touched.
func newBuffer(kind string, size int) ([]byte, error) {
	page := os.Getpagesize()
	if size < 1 {
		return nil, fmt.Errorf("buffer of %d bytes", size)
	}
	size = (size + page - 1) / page * page
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("mmap of %d bytes: %v", size, err)
	}
	switch kind {
	case "plain":
	case "readonly":
		err = unix.Mprotect(mem, unix.PROT_READ)
	case "hole":
		err = unix.Mprotect(mem[size/2/page*page:], unix.PROT_NONE)
	case "nothing":
		err = unix.Mprotect(mem, unix.PROT_NONE)
	default:
		return nil, fmt.Errorf("no kind of buffer %q", kind)
	}
	if err != nil {
		return nil, fmt.Errorf("buffer of kind %q: %v", kind, err)
	}
	return mem, nil
}

// address is where the kernel finds a part of a buffer, or would if it were
// there.
func address(mem []byte, offset int64) uint64 {
	return uint64(uintptr(unsafe.Pointer(&mem[0]))) + uint64(offset)
}

// changed waits for a byte that somebody else writes to be another than b.
func changed(mem []byte, at int, b byte, limit time.Duration) bool {
	for end := time.Now().Add(limit); ; {
		for range 1000 {
			if byteAt(mem, at) != b {
				return true
			}
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// byteAt reads memory anew each time.
//
//go:noinline
func byteAt(mem []byte, at int) byte { return mem[at] }
