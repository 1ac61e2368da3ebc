// SPDX-License-Identifier: MIT

package wire

import (
	"encoding/binary"
	"fmt"
)

// CMType is the attribute of a connection manager's datagram.
type CMType uint16

// The attributes.
const (
	CMReq     CMType = 0x10
	CMMra     CMType = 0x11
	CMRej     CMType = 0x12
	CMRep     CMType = 0x13
	CMRtu     CMType = 0x14
	CMDreq    CMType = 0x15
	CMDrep    CMType = 0x16
	CMSidrReq CMType = 0x17
	CMSidrRep CMType = 0x18
	CMLap     CMType = 0x19
	CMApr     CMType = 0x1a
)

var cmNames = map[CMType]string{
	CMReq: "REQ", CMMra: "MRA", CMRej: "REJ", CMRep: "REP", CMRtu: "RTU", CMDreq: "DREQ", CMDrep: "DREP",
	CMSidrReq: "SIDR_REQ", CMSidrRep: "SIDR_REP", CMLap: "LAP", CMApr: "APR",
}

func (t CMType) String() string {
	if n, ok := cmNames[t]; ok {
		return n
	}
	return fmt.Sprintf("attribute %#04x", uint16(t))
}

// CM is a datagram of the connection manager.
type CM struct {
	Type CMType
	// LocalID is the sender's name for the connection, RemoteID the receiver's (0
	// in a REQ).
	LocalID, RemoteID uint32
	ServiceID         uint64 // REQ
	QPN               uint32 // REQ, REP: the sender's queue pair
	StartPSN          uint32 // REQ, REP: of the first packet that the receiver will send
	PathMTU           int    // REQ: bytes, 0 if invalid
	Reason            uint16 // REJ
	Private           []byte // REQ, REP, RTU, REJ: private data, with what the RDMA CM puts in front
}

// The layout of the datagram: a common header, then the message.
const (
	madHeaderLen = 24
	madLen       = 256
	madClassCM   = 0x07
)

// rdmaCMHeaderLen is what the RDMA CM puts in front of a REQ's private data: IP
// version and addresses.
const rdmaCMHeaderLen = 36

// UserPrivate is the private data of the user of the RDMA CM, RDS here.
func (c *CM) UserPrivate() []byte {
	if c.Type == CMReq && len(c.Private) >= rdmaCMHeaderLen {
		return c.Private[rdmaCMHeaderLen:]
	}
	return c.Private
}

// decodeCM returns nil for anything but a connection manager's datagram.
func decodeCM(b []byte) *CM {
	if len(b) < madLen || b[1] != madClassCM {
		return nil
	}
	be := binary.BigEndian
	m := b[madHeaderLen:madLen]
	c := &CM{Type: CMType(be.Uint16(b[16:])), LocalID: be.Uint32(m)}
	if c.Type != CMReq {
		c.RemoteID = be.Uint32(m[4:])
	}
	switch c.Type {
	case CMReq:
		c.ServiceID = be.Uint64(m[8:])
		c.QPN = uint24(m[32:])
		c.StartPSN = uint24(m[44:])
		if code := m[50] >> 4; code >= 1 && code <= 5 {
			c.PathMTU = 128 << code
		}
		c.Private = m[140:]
	case CMRep:
		c.QPN = uint24(m[12:])
		c.StartPSN = uint24(m[20:])
		c.Private = m[36:]
	case CMRej:
		c.Reason = be.Uint16(m[10:])
		c.Private = m[84:]
	case CMRtu:
		c.Private = m[8:]
	}
	return c
}
