// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// storage is an address in the form of a struct sockaddr_storage.
func storage(text string) ([]byte, error) {
	a, err := netip.ParseAddrPort(text)
	if err != nil {
		return nil, fmt.Errorf("address: %w", err)
	}
	b := make([]byte, 128)
	binary.BigEndian.PutUint16(b[2:], a.Port())
	if a.Addr().Is4() {
		binary.NativeEndian.PutUint16(b, unix.AF_INET)
		copy(b[4:], a.Addr().AsSlice())
	} else {
		binary.NativeEndian.PutUint16(b, unix.AF_INET6)
		copy(b[8:], a.Addr().AsSlice())
	}
	return b, nil
}

func number(b []byte) uint64 { return binary.NativeEndian.Uint64(b) }

// line is the first line of a message.
func line(b []byte) string {
	l, _, _ := bytes.Cut(b, []byte("\n"))
	return string(l)
}
