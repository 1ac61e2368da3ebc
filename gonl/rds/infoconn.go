// SPDX-License-Identifier: MIT

package rds

import (
	"encoding/binary"
	"net/netip"
)

// Connection is one connection of this host, as RDS itself reports it. All
// sockets share the connection between two addresses. Of several paths, which TCP
// can have, this is the first.
type Connection struct {
	Local, Peer    netip.Addr
	Transport      string // "infiniband", "tcp", "loopback", as the kernel spells it
	TOS            uint8  // type of service, if HasTOS
	HasTOS         bool   // false over IPv6, and before Linux 5.1: the kernel does not tell
	NextTx, NextRx uint64 // sequence numbers of the next messages
	Sending        bool   // somebody is handing messages to the transport
	Connecting     bool
	Connected      bool
}

// Bits of the flags of a connection.
const (
	connSending    = 1
	connConnecting = 2
	connConnected  = 4
)

const (
	transportName = 16
	// Offsets of the transport's name, and behind it the flags.
	conn4Name  = 8 + 8 + 4 + 4
	conn4Flags = conn4Name + transportName
	conn4TOS   = conn4Flags + 1
	conn6Name  = 8 + 8 + 16 + 16
	conn6Flags = conn6Name + transportName
)

var (
	connections4 = layout[Connection]{infoConnections, conn4Flags + 1, parseConnection4}
	connections6 = layout[Connection]{info6Connections, conn6Flags + 1, parseConnection6}
)

func readConnections(from snapshotFunc) ([]Connection, error) {
	return both(from, connections4, connections6, func(c Connection) bool { return c.Peer.Is4() })
}

func parseConnection4(b []byte) Connection {
	c := Connection{
		Local:     addr4(b[16:20]),
		Peer:      addr4(b[20:24]),
		Transport: cString(b[conn4Name:conn4Flags]),
	}
	c.TOS, c.HasTOS = byteAt(b, conn4TOS)
	c.common(b, b[conn4Flags])
	return c
}

func parseConnection6(b []byte) Connection {
	c := Connection{
		Local:     addr6(b[16:32]),
		Peer:      addr6(b[32:48]),
		Transport: cString(b[conn6Name:conn6Flags]),
	}
	c.common(b, b[conn6Flags])
	return c
}

func (c *Connection) common(b []byte, flags byte) {
	c.NextTx = binary.NativeEndian.Uint64(b)
	c.NextRx = binary.NativeEndian.Uint64(b[8:])
	c.Sending = flags&connSending != 0
	c.Connecting = flags&connConnecting != 0
	c.Connected = flags&connConnected != 0
}
