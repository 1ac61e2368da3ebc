// SPDX-License-Identifier: MIT

package rds

import (
	"encoding/binary"
	"net/netip"
)

// SocketInfo is an RDS socket of this network namespace, of whatever process.
type SocketInfo struct {
	// Local is what the socket is bound to, not valid where it is not bound.
	Local netip.AddrPort
	// Peer is what the socket is connected to, not valid where it is not: few
	// are, since a message can name its destination.
	Peer netip.AddrPort
	// SendBuffer and ReceiveBuffer are how many bytes of payload may be queued.
	SendBuffer, ReceiveBuffer uint32
	// Inode is the inode number, as in /proc/PID/fd.
	Inode uint64
}

const (
	sizeSocket4 = 4 + 4 + 4 + 2 + 2 + 4 + 8
	sizeSocket6 = 4 + 16 + 16 + 2 + 2 + 4 + 8
)

var (
	sockets4 = layout[SocketInfo]{infoSockets, sizeSocket4, func(b []byte) SocketInfo {
		return parseSocket(b, addr4(b[4:8]), addr4(b[8:12]), b[12:])
	}}
	sockets6 = layout[SocketInfo]{info6Sockets, sizeSocket6, func(b []byte) SocketInfo {
		return parseSocket(b, addr6(b[4:20]), addr6(b[20:36]), b[36:])
	}}
)

// parseSocket reads what both families have alike: the first field, and those
// behind the addresses.
func parseSocket(b []byte, local, peer netip.Addr, rest []byte) SocketInfo {
	return SocketInfo{
		Local:         netip.AddrPortFrom(local, binary.BigEndian.Uint16(rest)),
		Peer:          netip.AddrPortFrom(peer, binary.BigEndian.Uint16(rest[2:])),
		SendBuffer:    binary.NativeEndian.Uint32(b),
		ReceiveBuffer: binary.NativeEndian.Uint32(rest[4:]),
		Inode:         binary.NativeEndian.Uint64(rest[8:]),
	}
}
