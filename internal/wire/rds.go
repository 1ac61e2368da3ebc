// SPDX-License-Identifier: MIT

package wire

import (
	"encoding/binary"
	"fmt"
)

// HeaderLen is the length of an RDS header in bytes, ExtSpace that of the
// extension headers at its end.
const (
	HeaderLen = 48
	ExtSpace  = 16
)

// The flags of an RDS header.
const (
	FlagCongestion    = 0x01 // the payload is a congestion map
	FlagAckRequired   = 0x02
	FlagRetransmitted = 0x04
	FlagByteCount     = 0x20 // kernel 7.3
)

// A Header is an RDS header.
type Header struct {
	Sequence, Ack uint64
	Len           uint32 // of the whole message, all fragments
	SPort, DPort  uint16
	Flags, Credit uint8
	Pad           [4]byte
	Checksum      uint16
	// ChecksumOK is whether the checksum is right. A checksum of 0 stands for
	// none, and is right.
	ChecksumOK bool
	ExtRaw     [ExtSpace]byte
	// Ext are the extension headers as far as they can be read, and ExtErr why not
	// further.
	Ext    []Ext
	ExtErr error
}

// DecodeHeader decodes the first 48 bytes of an RDS message.
func DecodeHeader(b []byte) (*Header, error) {
	if len(b) < HeaderLen {
		return nil, fmt.Errorf("wire: RDS header of %d bytes, expected %d", len(b), HeaderLen)
	}
	be := binary.BigEndian
	h := &Header{
		Sequence: be.Uint64(b), Ack: be.Uint64(b[8:]), Len: be.Uint32(b[16:]),
		SPort: be.Uint16(b[20:]), DPort: be.Uint16(b[22:]), Flags: b[24], Credit: b[25],
		Pad: [4]byte(b[26:]), Checksum: be.Uint16(b[30:]), ExtRaw: [ExtSpace]byte(b[32:]),
	}
	h.ChecksumOK = h.Checksum == 0 || onesSum(b[:HeaderLen]) == 0xffff
	h.Ext, h.ExtErr = parseExt(h.ExtRaw)
	return h, nil
}

// onesSum is the one's complement sum of 16-bit words, which is all ones over
// data that contains its own Internet checksum.
func onesSum(b []byte) uint16 {
	var sum uint32
	for i := 0; i < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}

// Find returns the first extension header of a type, or nil.
func (h *Header) Find(t ExtType) *Ext {
	for i := range h.Ext {
		if h.Ext[i].Type == t {
			return &h.Ext[i]
		}
	}
	return nil
}

// Types are the types of the extension headers in their order.
func (h *Header) Types() []ExtType {
	var ts []ExtType
	for _, e := range h.Ext {
		ts = append(ts, e.Type)
	}
	return ts
}
