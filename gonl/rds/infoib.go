// SPDX-License-Identifier: MIT

package rds

import (
	"encoding/binary"
	"net/netip"
)

// IBConnection is what the IB transport has of a connection. While the connection
// is not up, all but the addresses, TOS and SL is zero.
type IBConnection struct {
	Local, Peer netip.Addr
	// LocalGID and PeerGID are the RDMA ports at both ends, in the notation of
	// IPv6 addresses; not valid while the connection is not up. Over RoCE they
	// are IP addresses, those of IPv4 mapped.
	LocalGID, PeerGID netip.Addr
	// MaxSendWR and MaxReceiveWR are how many work requests fit into the queues.
	MaxSendWR, MaxReceiveWR uint32
	// MaxSendSGE is how many pieces of memory a work request can have.
	MaxSendSGE uint32
	// MRMax is how many memory regions the device's pool may have, MRSize how
	// many pages each covers at most; both are of net/rds itself.
	MRMax, MRSize uint32
	// TOS is the type of service and SL the service level that it became, if
	// HasTOS: kernels before 5.1 do not tell.
	TOS, SL uint8
	HasTOS  bool
	// CacheKiB is how many KiB of receive buffers the connection keeps to use
	// them again, if HasTOS.
	CacheKiB uint32
}

const (
	ibGIDs    = 16 + 16
	ibNumbers = 5 * 4
	ibSince51 = 1 + 1 + 2 + 4 // TOS, SL, padding, CacheKiB
	sizeIB4   = 4 + 4 + ibGIDs + ibNumbers
	sizeIB6   = 16 + 16 + ibGIDs + ibNumbers
)

var (
	ibConnections4 = layout[IBConnection]{infoIBConnections, sizeIB4, func(b []byte) IBConnection {
		return parseIB(addr4(b[:4]), addr4(b[4:8]), b[8:])
	}}
	ibConnections6 = layout[IBConnection]{info6IBConnections, sizeIB6, func(b []byte) IBConnection {
		return parseIB(addr6(b[:16]), addr6(b[16:32]), b[32:])
	}}
)

// parseIB reads what stands behind the addresses, which both families have alike.
func parseIB(local, peer netip.Addr, b []byte) IBConnection {
	numbers := b[ibGIDs:]
	c := IBConnection{
		Local: local, Peer: peer,
		LocalGID: gid(b[:16]), PeerGID: gid(b[16:32]),
		MaxSendWR:    binary.NativeEndian.Uint32(numbers),
		MaxReceiveWR: binary.NativeEndian.Uint32(numbers[4:]),
		MaxSendSGE:   binary.NativeEndian.Uint32(numbers[8:]),
		MRMax:        binary.NativeEndian.Uint32(numbers[12:]),
		MRSize:       binary.NativeEndian.Uint32(numbers[16:]),
	}
	if late := numbers[ibNumbers:]; len(late) >= ibSince51 {
		c.TOS, c.SL, c.HasTOS = late[0], late[1], true
		c.CacheKiB = binary.NativeEndian.Uint32(late[4:])
	}
	return c
}

// gid does not unmap: "::ffff:192.0.2.1" is how a GID is written.
func gid(b []byte) netip.Addr {
	a := netip.AddrFrom16([16]byte(b))
	if a.IsUnspecified() {
		return netip.Addr{}
	}
	return a
}
