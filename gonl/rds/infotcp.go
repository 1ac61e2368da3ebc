// SPDX-License-Identifier: MIT

package rds

import (
	"encoding/binary"
	"net/netip"
)

// TCPSocket is a TCP socket that carries a path of a connection.
type TCPSocket struct {
	// Local and Peer are not valid while they are not settled.
	Local, Peer netip.AddrPort
	// HeaderLeft and DataLeft are how many bytes have still to come of the
	// message that is being received.
	HeaderLeft, DataLeft uint64
	// SentNext, ExpectedUnacked and SeenUnacked are TCP sequence numbers: where
	// the message that was sent last begins, where the one behind it will, and
	// up to where the peer had acknowledged at the last look.
	SentNext, ExpectedUnacked, SeenUnacked uint32
	// TOS is the type of service, if HasTOS: the kernel does not tell over IPv6,
	// nor before Linux 5.1.
	TOS    uint8
	HasTOS bool
}

const (
	tcpFields   = 8 + 8 + 4 + 4 + 4
	sizeTCP4    = 4 + 2 + 4 + 2 + tcpFields
	sizeTCP6    = 16 + 2 + 16 + 2 + tcpFields
	tcp4TOS     = sizeTCP4
	tcp4Numbers = sizeTCP4 - tcpFields
	tcp6Numbers = sizeTCP6 - tcpFields
)

var (
	tcpSockets4 = layout[TCPSocket]{infoTCPSockets, sizeTCP4, parseTCPSocket4}
	tcpSockets6 = layout[TCPSocket]{info6TCPSockets, sizeTCP6, parseTCPSocket6}
)

// isIPv4 goes by either address: one of them may not be settled yet.
func (s TCPSocket) isIPv4() bool { return s.Local.Addr().Is4() || s.Peer.Addr().Is4() }

func parseTCPSocket4(b []byte) TCPSocket {
	s := TCPSocket{
		Local: netip.AddrPortFrom(addr4(b[:4]), binary.BigEndian.Uint16(b[4:])),
		Peer:  netip.AddrPortFrom(addr4(b[6:10]), binary.BigEndian.Uint16(b[10:])),
	}
	s.numbers(b[tcp4Numbers:])
	s.TOS, s.HasTOS = byteAt(b, tcp4TOS)
	return s
}

func parseTCPSocket6(b []byte) TCPSocket {
	s := TCPSocket{
		Local: netip.AddrPortFrom(addr6(b[:16]), binary.BigEndian.Uint16(b[16:])),
		Peer:  netip.AddrPortFrom(addr6(b[18:34]), binary.BigEndian.Uint16(b[34:])),
	}
	s.numbers(b[tcp6Numbers:])
	return s
}

func (s *TCPSocket) numbers(b []byte) {
	s.HeaderLeft = binary.NativeEndian.Uint64(b)
	s.DataLeft = binary.NativeEndian.Uint64(b[8:])
	s.SentNext = binary.NativeEndian.Uint32(b[16:])
	s.ExpectedUnacked = binary.NativeEndian.Uint32(b[20:])
	s.SeenUnacked = binary.NativeEndian.Uint32(b[24:])
}
