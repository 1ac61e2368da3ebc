// SPDX-License-Identifier: MIT

package wire

import (
	"encoding/binary"
	"fmt"
)

// Opcode is the operation of an InfiniBand packet: the transport service in the
// upper 3 bits, the operation in the lower 5.
type Opcode uint8

// Operations of reliable connections.
const (
	SendFirst         Opcode = 0x00
	SendMiddle        Opcode = 0x01
	SendLast          Opcode = 0x02
	SendLastImm       Opcode = 0x03
	SendOnly          Opcode = 0x04
	SendOnlyImm       Opcode = 0x05
	WriteFirst        Opcode = 0x06
	WriteMiddle       Opcode = 0x07
	WriteLast         Opcode = 0x08
	WriteLastImm      Opcode = 0x09
	WriteOnly         Opcode = 0x0a
	WriteOnlyImm      Opcode = 0x0b
	ReadRequest       Opcode = 0x0c
	ReadFirst         Opcode = 0x0d
	ReadMiddle        Opcode = 0x0e
	ReadLast          Opcode = 0x0f
	ReadOnly          Opcode = 0x10
	Acknowledge       Opcode = 0x11
	AtomicAcknowledge Opcode = 0x12
	CompareSwap       Opcode = 0x13
	FetchAdd          Opcode = 0x14
	SendLastInv       Opcode = 0x16
	SendOnlyInv       Opcode = 0x17
)

// UDSendOnly is the datagram operation that the connection manager uses.
const UDSendOnly Opcode = 0x64

var opcodeNames = map[Opcode]string{
	SendFirst: "SEND first", SendMiddle: "SEND middle", SendLast: "SEND last", SendLastImm: "SEND last with immediate",
	SendOnly: "SEND only", SendOnlyImm: "SEND only with immediate",
	WriteFirst: "RDMA WRITE first", WriteMiddle: "RDMA WRITE middle", WriteLast: "RDMA WRITE last",
	WriteLastImm: "RDMA WRITE last with immediate", WriteOnly: "RDMA WRITE only", WriteOnlyImm: "RDMA WRITE only with immediate",
	ReadRequest: "RDMA READ request", ReadFirst: "RDMA READ response first", ReadMiddle: "RDMA READ response middle",
	ReadLast: "RDMA READ response last", ReadOnly: "RDMA READ response only",
	Acknowledge: "acknowledge", AtomicAcknowledge: "atomic acknowledge", CompareSwap: "compare and swap", FetchAdd: "fetch and add",
	SendLastInv: "SEND last with invalidate", SendOnlyInv: "SEND only with invalidate", UDSendOnly: "UD SEND only",
}

func (o Opcode) String() string {
	if n, ok := opcodeNames[o]; ok {
		return n
	}
	return fmt.Sprintf("opcode %#02x", uint8(o))
}

// RC reports whether it is an operation of a reliable connection.
func (o Opcode) RC() bool { return o>>5 == 0 }

// Response reports whether the packet answers a request, in the sequence numbers
// of that.
func (o Opcode) Response() bool { return o.RC() && o >= ReadFirst && o <= AtomicAcknowledge }

// Send reports whether it carries a piece of a SEND.
func (o Opcode) Send() bool {
	return o.RC() && (o <= SendOnlyImm || o == SendLastInv || o == SendOnlyInv)
}

// starts and ends say whether a SEND begins or ends with the packet.
func (o Opcode) starts() bool {
	return o == SendFirst || o == SendOnly || o == SendOnlyImm || o == SendOnlyInv
}

func (o Opcode) ends() bool { return o.Send() && o != SendFirst && o != SendMiddle }

func (o Opcode) hasRETH() bool {
	return o == WriteFirst || o == WriteOnly || o == WriteOnlyImm || o == ReadRequest
}

func (o Opcode) hasAETH() bool {
	return o == ReadFirst || o == ReadLast || o == ReadOnly || o == Acknowledge || o == AtomicAcknowledge
}

func (o Opcode) hasImm() bool {
	return o == SendLastImm || o == SendOnlyImm || o == WriteLastImm || o == WriteOnlyImm
}

func (o Opcode) hasIETH() bool { return o == SendLastInv || o == SendOnlyInv }

// RoCE is an InfiniBand packet in a UDP datagram.
type RoCE struct {
	Opcode    Opcode
	Solicited bool
	PKey      uint16
	DestQP    uint32 // 24 bits
	AckReq    bool
	PSN       uint32 // 24 bits
	RETH      *RETH
	AETH      *AETH
	DETH      *DETH
	Immediate *uint32
	// Invalidate is the key that a SEND with invalidate names.
	Invalidate *uint32
	Payload    []byte // without padding and checksum
	// Bytes is the length of the payload on the wire, which is more than Payload
	// has if the capture has only the beginning of the packet: Truncated.
	Bytes     int
	Truncated bool
	ICRC      uint32 // as it stands there; not verified; 0 if truncated
	CM        *CM    // in a datagram to queue pair 1
}

// RETH says what an RDMA operation reads or writes.
type RETH struct {
	VA     uint64
	RKey   uint32
	Length uint32
}

// AETH is an acknowledgement.
type AETH struct {
	Syndrome uint8
	MSN      uint32 // 24 bits
}

// NAK reports whether it is a negative one, other than receiver not ready.
func (a *AETH) NAK() bool { return a.Syndrome>>5 == 3 }

// RNR reports whether the receiver was not ready.
func (a *AETH) RNR() bool { return a.Syndrome>>5 == 1 }

// DETH belongs to a datagram.
type DETH struct {
	QKey  uint32
	SrcQP uint32
}

// icrcLen is the length of the checksum at the end.
const icrcLen = 4

// cursor takes headers off the front of a packet.
type cursor struct {
	b   []byte
	err error
}

// take returns the next n bytes, of zeros when there are fewer.
func (c *cursor) take(n int, what string) []byte {
	if c.err == nil && len(c.b) < n {
		c.err = fmt.Errorf("InfiniBand packet: %s has %d of %d bytes", what, len(c.b), n)
	}
	if c.err != nil {
		return make([]byte, n)
	}
	h := c.b[:n]
	c.b = c.b[n:]
	return h
}

func uint24(b []byte) uint32 { return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]) }

// decodeRoCE decodes a packet that had the given length on the wire.
func decodeRoCE(b []byte, length int) (*RoCE, error) {
	be := binary.BigEndian
	c := &cursor{b: b}
	h := c.take(12, "base header")
	r := &RoCE{
		Opcode: Opcode(h[0]), Solicited: h[1]&0x80 != 0, PKey: be.Uint16(h[2:]),
		DestQP: uint24(h[5:]), AckReq: h[8]&0x80 != 0, PSN: uint24(h[9:]),
	}
	pad := int(h[1] >> 4 & 3)
	if r.Opcode == UDSendOnly {
		d := c.take(8, "datagram header")
		r.DETH = &DETH{QKey: be.Uint32(d), SrcQP: uint24(d[5:])}
	}
	if r.Opcode.hasRETH() {
		d := c.take(16, "RDMA header")
		r.RETH = &RETH{VA: be.Uint64(d), RKey: be.Uint32(d[8:]), Length: be.Uint32(d[12:])}
	}
	if r.Opcode.hasAETH() {
		d := c.take(4, "acknowledgement")
		r.AETH = &AETH{Syndrome: d[0], MSN: uint24(d[1:])}
	}
	if r.Opcode.hasImm() {
		v := be.Uint32(c.take(4, "immediate data"))
		r.Immediate = &v
	}
	if r.Opcode.hasIETH() {
		v := be.Uint32(c.take(4, "invalidated key"))
		r.Invalidate = &v
	}
	if c.err != nil {
		return nil, c.err
	}
	// What lacks of the packet lacks at its end.
	left := len(c.b) + max(0, length-len(b))
	if left < pad+icrcLen {
		return nil, fmt.Errorf("InfiniBand packet: %d bytes left for padding of %d and the checksum", left, pad)
	}
	r.Bytes = left - pad - icrcLen
	r.Truncated = left > len(c.b)
	if !r.Truncated {
		r.ICRC = be.Uint32(c.b[left-icrcLen:])
	}
	end := min(r.Bytes, len(c.b))
	r.Payload = c.b[:end:end]
	if r.DETH != nil && r.DestQP == 1 {
		r.CM = decodeCM(r.Payload)
	}
	return r, nil
}
