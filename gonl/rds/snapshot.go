// SPDX-License-Identifier: MIT

package rds

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

const (
	snapshotFirst = 4096
	// snapshotTries bounds how often a list may outgrow the buffer that its last
	// length asked for.
	snapshotTries = 8
	// snapshotMax is far above any list, and far below what a wrong length could
	// make this process allocate.
	snapshotMax = 1 << 30
)

// snapshot is a list of the kernel: items of each bytes, one behind the other.
type snapshot struct {
	b    []byte
	each int
}

// snapshotFunc reads the list of an option.
type snapshotFunc func(opt int) (snapshot, error)

// readSnapshot calls get with larger and larger buffers until the list fits. get
// is a getsockopt: it returns the size of an item, the length of the whole list,
// and ENOSPC where that is more than the buffer.
func readSnapshot(get func([]byte) (each, n int, err error)) (snapshot, error) {
	size := snapshotFirst
	for range snapshotTries {
		b := make([]byte, size)
		each, n, err := get(b)
		switch {
		case err == nil && (n < 0 || n > len(b)):
			return snapshot{}, fmt.Errorf("rds: info: %w: a list of %d bytes in a buffer of %d", ErrMalformed, n, len(b))
		case err == nil:
			return snapshot{b[:n], each}, nil
		case !errors.Is(err, unix.ENOSPC):
			return snapshot{}, &Error{Op: opInfo, Err: err}
		case n < 0 || n > snapshotMax:
			return snapshot{}, fmt.Errorf("rds: info: %w: a list of %d bytes", ErrMalformed, n)
		}
		// The list may have grown when it is read next.
		size = max(n, size) + n/4
	}
	return snapshot{}, fmt.Errorf("rds: info: the list grew %d times while it was read; try again: %w", snapshotTries, unix.ENOSPC)
}

// parseItems parses each item, of which it needs size bytes at least. What a
// newer kernel has added behind them is left alone.
func parseItems[T any](s snapshot, size int, parse func([]byte) T) ([]T, error) {
	if s.each < size || len(s.b)%s.each != 0 {
		return nil, fmt.Errorf("rds: info: %w: %d bytes in items of %d, need %d each", ErrMalformed, len(s.b), s.each, size)
	}
	list := make([]T, 0, len(s.b)/s.each)
	for b := s.b; len(b) > 0; b = b[s.each:] {
		list = append(list, parse(b[:s.each:s.each]))
	}
	return list, nil
}

// layout is how an option's items are read.
type layout[T any] struct {
	opt   int
	size  int // of the oldest layout
	parse func([]byte) T
}

func (l layout[T]) read(from snapshotFunc) ([]T, error) {
	s, err := from(l.opt)
	if err != nil {
		return nil, err
	}
	return parseItems(s, l.size, l.parse)
}

// either reads the list of IPv6, which has what is IPv4 as well, or on a kernel
// without IPv6 that of IPv4.
func either[T any](from snapshotFunc, v6, v4 layout[T]) ([]T, error) {
	list, err := v6.read(from)
	if errors.Is(err, unix.ENOPROTOOPT) {
		return v4.read(from)
	}
	return list, err
}

// both reads the list of IPv4, which tells more of an item, and from that of IPv6
// what is not in the first.
func both[T any](from snapshotFunc, v4, v6 layout[T], isIPv4 func(T) bool) ([]T, error) {
	list, err := v4.read(from)
	if err != nil {
		return nil, err
	}
	more, err := v6.read(from)
	if errors.Is(err, unix.ENOPROTOOPT) { // kernel without IPv6
		return list, nil
	}
	if err != nil {
		return nil, err
	}
	for _, item := range more {
		if !isIPv4(item) {
			list = append(list, item)
		}
	}
	return list, nil
}

// addr4 and addr6 read an address; one of zeros only stands for none.
func addr4(b []byte) netip.Addr { return known(netip.AddrFrom4([4]byte(b))) }

func addr6(b []byte) netip.Addr { return known(netip.AddrFrom16([16]byte(b))) }

func known(a netip.Addr) netip.Addr {
	if a = a.Unmap(); a.IsUnspecified() {
		return netip.Addr{}
	}
	return a
}

// byteAt reads a byte that older kernels do not have.
func byteAt(b []byte, i int) (value uint8, ok bool) {
	if i >= len(b) {
		return 0, false
	}
	return b[i], true
}

func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
