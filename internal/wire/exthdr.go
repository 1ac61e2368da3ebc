// SPDX-License-Identifier: MIT

package wire

import (
	"encoding/binary"
	"fmt"
)

// ExtType is the type of an extension header.
type ExtType uint8

// The types of mainline kernels up to 7.3, and from 9 on those of this project.
// Type 0 ends the list.
const (
	ExtVersion       ExtType = 1
	ExtRDMA          ExtType = 2
	ExtRDMADest      ExtType = 3
	ExtRDMABytes     ExtType = 4
	ExtPaths         ExtType = 5
	ExtGenNum        ExtType = 6
	ExtSPortIdx      ExtType = 8
	ExtRDMADestFlags ExtType = 9
)

// FirstOwn is the lowest type that a stock kernel neither sends nor understands.
const FirstOwn ExtType = 9

// The feature bits of [ExtVersion].
const (
	FeatExtTypes         = 0x0001
	FeatRemoteInvalidate = 0x0002
	ReplyWanted          = 0x8000 // not a feature
)

// MayInvalidate is the flag of [ExtRDMADestFlags]: the key of the same message
// may be invalidated by the message behind the RDMA.
const MayInvalidate = 0x01

// extLens has the length of each type's payload in bytes. There is no other
// way to find where an extension header ends.
var extLens = map[ExtType]int{
	ExtVersion: 4, ExtRDMA: 4, ExtRDMADest: 8, ExtRDMABytes: 8, ExtPaths: 2, ExtGenNum: 4, ExtSPortIdx: 1,
	ExtRDMADestFlags: 1,
}

// Ext is an extension header.
type Ext struct {
	Type ExtType
	Data []byte
}

// parseExt returns the extension headers up to the end of the list, or up to
// the first that cannot be read.
func parseExt(space [ExtSpace]byte) ([]Ext, error) {
	var exts []Ext
	for b := space[:]; len(b) > 0 && b[0] != 0; {
		t := ExtType(b[0])
		n, ok := extLens[t]
		if !ok {
			return exts, fmt.Errorf("extension header of unknown type %d at byte %d", t, ExtSpace-len(b))
		}
		if len(b) < 1+n {
			return exts, fmt.Errorf("extension header of type %d at byte %d has %d of %d bytes", t, ExtSpace-len(b), len(b)-1, n)
		}
		exts = append(exts, Ext{Type: t, Data: b[1 : 1+n : 1+n]})
		b = b[1+n:]
	}
	return exts, nil
}

// Version reads an extension header of type [ExtVersion]: the protocol version
// (0x0301 is 3.1) and the feature bits of the sender.
func (e *Ext) Version() (protocol, features uint16) {
	v := binary.BigEndian.Uint32(e.Data)
	return uint16(v), uint16(v >> 16)
}

// RKey is the key in an extension header of type [ExtRDMA] or [ExtRDMADest].
func (e *Ext) RKey() uint32 { return binary.BigEndian.Uint32(e.Data) }

// Offset is the offset in an extension header of type [ExtRDMADest].
func (e *Ext) Offset() uint32 { return binary.BigEndian.Uint32(e.Data[4:]) }

// DestFlags are the flags in an extension header of type [ExtRDMADestFlags].
func (e *Ext) DestFlags() uint8 { return e.Data[0] }
