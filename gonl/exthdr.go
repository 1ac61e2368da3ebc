// SPDX-License-Identifier: MIT

package gonl

import (
	"context"

	"github.com/rds-ext/rds_ext/gonl/spec"
)

// ExtHdr is a type of extension header with its counters, which run over all
// connections of the host since the module was loaded.
type ExtHdr struct {
	// Type number on the wire, 1 to 255.
	Type uint8
	// Name of the type; empty where the module does not know it.
	Name string
	// Length of the payload in bytes; nil where the module does not know the type.
	Length *uint32
	// TX counts those sent.
	TX uint64
	// RX counts those received and understood.
	RX uint64
	// TXNoRoom counts those not sent for want of room in the header.
	TXNoRoom uint64
	// TXDuplicate counts those not sent since the message had one already,
	// with other contents.
	TXDuplicate uint64
	// TXRejected counts those not sent for an unknown type or a wrong length.
	TXRejected uint64
	// RXUnknown counts those received without knowing the type.
	RXUnknown uint64
	// RXTruncated counts those whose payload runs past the end of the header.
	RXTruncated uint64
	// RXDuplicate counts those ignored as the second in one message.
	RXDuplicate uint64
	// Unknown are attributes of a newer module; nil with one that this package
	// knows all of.
	Unknown []Attribute `json:",omitempty"`
}

// ExtHdrs lists the extension header types that the module knows, and each
// unknown one that it met.
func (c *Client) ExtHdrs(ctx context.Context) ([]ExtHdr, error) {
	return dump(ctx, c, spec.CmdExthdrGet, nil, parseExtHdr)
}

// parseExtHdr reads the attributes of an extension header type.
func parseExtHdr(b []byte) (ExtHdr, error) {
	d := newDecoder(spec.SetExthdr, b)
	var h ExtHdr
	for d.next() {
		switch d.typ {
		case spec.AttrExthdrType:
			n := d.uint32()
			if n < 1 || n > 255 {
				d.fail("is %d, not 1 to 255", n)
				break
			}
			h.Type = uint8(n)
		case spec.AttrExthdrName:
			h.Name = d.string()
		case spec.AttrExthdrLength:
			h.Length = ptr(d.uint32())
		case spec.AttrExthdrTX:
			h.TX = d.uint64()
		case spec.AttrExthdrRX:
			h.RX = d.uint64()
		case spec.AttrExthdrTXNoRoom:
			h.TXNoRoom = d.uint64()
		case spec.AttrExthdrTXDuplicate:
			h.TXDuplicate = d.uint64()
		case spec.AttrExthdrTXRejected:
			h.TXRejected = d.uint64()
		case spec.AttrExthdrRXUnknown:
			h.RXUnknown = d.uint64()
		case spec.AttrExthdrRXTruncated:
			h.RXTruncated = d.uint64()
		case spec.AttrExthdrRXDuplicate:
			h.RXDuplicate = d.uint64()
		}
	}
	if err := d.finish(spec.AttrExthdrType); err != nil {
		return ExtHdr{}, err
	}
	h.Unknown = d.unknown
	return h, nil
}
