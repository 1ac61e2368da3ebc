// SPDX-License-Identifier: MIT

package rds

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Connection is one connection of this host, as RDS itself reports it. All
// sockets share the connection between two addresses.
type Connection struct {
	Local, Peer    netip.Addr
	Transport      string // "infiniband", "tcp", "loopback", as the kernel spells it
	TOS            uint8  // type of service; 0 over IPv6, where the kernel does not tell
	NextTx, NextRx uint64 // sequence numbers of the next messages
	Sending        bool
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
	sizeConn4     = 8 + 8 + 4 + 4 + transportName + 1 + 1
	sizeConn6     = 8 + 8 + 16 + 16 + transportName + 1
	counterName   = 32
	sizeCounter   = counterName + 8
)

// Connections returns this host's connections, IPv4 and IPv6.
func (s *Socket) Connections() ([]Connection, error) {
	b, each, err := s.info(infoConnections)
	if err != nil {
		return nil, err
	}
	v4, err := parseConnections4(b, each)
	if err != nil {
		return nil, err
	}
	b, each, err = s.info(info6Connections)
	if errors.Is(err, unix.ENOPROTOOPT) { // kernel without IPv6
		return v4, nil
	}
	if err != nil {
		return nil, err
	}
	v6, err := parseConnections6(b, each)
	return append(v4, v6...), err
}

// Counters returns this host's RDS counters by name, summed over its CPUs.
func (s *Socket) Counters() (map[string]uint64, error) {
	b, each, err := s.info(infoCounters)
	if err != nil {
		return nil, err
	}
	return parseCounters(b, each)
}

// info reads a snapshot. Its size may change between two calls.
func (s *Socket) info(opt int) (b []byte, each int, err error) {
	b = make([]byte, 4096)
	for range 8 {
		var n int
		cerr := s.raw.Control(func(fd uintptr) {
			err = s.call(CallGetsockopt, func() (err error) {
				each, n, err = getsockopt(int(fd), solRDS, opt, b)
				return err
			})
		})
		switch {
		case cerr != nil:
			return nil, 0, s.fileError(cerr)
		case err == nil:
			return b[:min(n, len(b))], each, nil
		case !errors.Is(err, unix.ENOSPC):
			return nil, 0, &Error{Op: opInfo, Err: err}
		}
		b = make([]byte, n+n/4)
	}
	return nil, 0, &Error{Op: opInfo, Err: err}
}

// elements checks that b is an array of structures of at least size bytes; a
// newer kernel may have added fields at the end.
func elements(b []byte, each, size int) error {
	if each < size || len(b)%each != 0 {
		return fmt.Errorf("rds: info: %w: %d bytes of elements of %d, need %d each", ErrMalformed, len(b), each, size)
	}
	return nil
}

func parseConnections4(b []byte, each int) ([]Connection, error) {
	if err := elements(b, each, sizeConn4-1); err != nil { // the last byte came later
		return nil, err
	}
	var cs []Connection
	for ; len(b) > 0; b = b[each:] {
		c := Connection{
			Local:     netip.AddrFrom4([4]byte(b[16:20])),
			Peer:      netip.AddrFrom4([4]byte(b[20:24])),
			Transport: cString(b[24 : 24+transportName]),
		}
		if each >= sizeConn4 {
			c.TOS = b[sizeConn4-1]
		}
		c.common(b, b[24+transportName])
		cs = append(cs, c)
	}
	return cs, nil
}

// parseConnections6 leaves out IPv4 connections, which the kernel lists here
// once more.
func parseConnections6(b []byte, each int) ([]Connection, error) {
	if err := elements(b, each, sizeConn6); err != nil {
		return nil, err
	}
	var cs []Connection
	for ; len(b) > 0; b = b[each:] {
		c := Connection{
			Local:     netip.AddrFrom16([16]byte(b[16:32])),
			Peer:      netip.AddrFrom16([16]byte(b[32:48])),
			Transport: cString(b[48 : 48+transportName]),
		}
		if c.Peer.Is4In6() {
			continue
		}
		c.common(b, b[48+transportName])
		cs = append(cs, c)
	}
	return cs, nil
}

func (c *Connection) common(b []byte, flags byte) {
	c.NextTx = binary.NativeEndian.Uint64(b)
	c.NextRx = binary.NativeEndian.Uint64(b[8:])
	c.Sending = flags&connSending != 0
	c.Connecting = flags&connConnecting != 0
	c.Connected = flags&connConnected != 0
}

func parseCounters(b []byte, each int) (map[string]uint64, error) {
	if err := elements(b, each, sizeCounter); err != nil {
		return nil, err
	}
	m := make(map[string]uint64, len(b)/each)
	for ; len(b) > 0; b = b[each:] {
		m[cString(b[:counterName])] = binary.NativeEndian.Uint64(b[counterName:])
	}
	return m, nil
}

func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
