// SPDX-License-Identifier: MIT

package rds

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	sizeSockaddr4 = 16
	sizeSockaddr6 = 28
)

var errSockaddr = errors.New("malformed socket address")

// appendSockaddr appends the kernel's form of a. IPv4-mapped addresses become
// IPv4: the kernel treats them alike and this package returns IPv4.
func appendSockaddr(b []byte, a netip.AddrPort) ([]byte, error) {
	ip := a.Addr().Unmap()
	switch {
	case ip.Is4():
		v4 := ip.As4()
		b = binary.NativeEndian.AppendUint16(b, unix.AF_INET)
		b = binary.BigEndian.AppendUint16(b, a.Port())
		b = append(b, v4[:]...)
		return append(b, make([]byte, 8)...), nil
	case ip.Is6():
		scope, err := scopeOf(ip.Zone())
		if err != nil {
			return b, err
		}
		v6 := ip.As16()
		b = binary.NativeEndian.AppendUint16(b, unix.AF_INET6)
		b = binary.BigEndian.AppendUint16(b, a.Port())
		b = append(b, 0, 0, 0, 0) // no flow label
		b = append(b, v6[:]...)
		return binary.NativeEndian.AppendUint32(b, scope), nil
	}
	return b, errors.New("no IP address given")
}

// parseSockaddr is the opposite. An empty b gives the zero AddrPort: the kernel
// names no sender in a notification.
func parseSockaddr(b []byte) (netip.AddrPort, error) {
	if len(b) == 0 {
		return netip.AddrPort{}, nil
	}
	if len(b) < 2 {
		return netip.AddrPort{}, errSockaddr
	}
	switch binary.NativeEndian.Uint16(b) {
	case unix.AF_UNSPEC:
		return netip.AddrPort{}, nil
	case unix.AF_INET:
		if len(b) < 8 {
			return netip.AddrPort{}, errSockaddr
		}
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:8])), binary.BigEndian.Uint16(b[2:])), nil
	case unix.AF_INET6:
		if len(b) < sizeSockaddr6 {
			return netip.AddrPort{}, errSockaddr
		}
		ip := netip.AddrFrom16([16]byte(b[8:24]))
		if scope := binary.NativeEndian.Uint32(b[24:]); scope != 0 {
			ip = ip.WithZone(strconv.FormatUint(uint64(scope), 10))
		}
		return netip.AddrPortFrom(ip.Unmap(), binary.BigEndian.Uint16(b[2:])), nil
	}
	return netip.AddrPort{}, errSockaddr
}

// scopeOf turns a zone, an interface name or a number, into an index.
func scopeOf(zone string) (uint32, error) {
	if zone == "" {
		return 0, nil
	}
	if n, err := strconv.ParseUint(zone, 10, 32); err == nil {
		return uint32(n), nil
	}
	ifi, err := net.InterfaceByName(zone)
	if err != nil {
		return 0, fmt.Errorf("zone %q: %w", zone, err)
	}
	return uint32(ifi.Index), nil
}
