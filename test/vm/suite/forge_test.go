// SPDX-License-Identifier: MIT

package suite

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/rds-ext/rds_ext/internal/wire"
)

// Offsets in a frame with an RDS message over RoCE, without IP options.
const (
	offIP    = 14
	offUDP   = offIP + 20
	offBTH   = offUDP + 8
	offRDS   = offBTH + 12
	offCsum  = offRDS + 30
	offExt   = offRDS + wire.HeaderLen - wire.ExtSpace
	icrcSize = 4
)

// carriesHeader is true for the frames that begin an RDS message.
func carriesHeader(p *wire.Packet) bool {
	r := p.RoCE
	return r != nil && (r.Opcode == wire.SendFirst || r.Opcode == wire.SendOnly) && len(r.Payload) >= wire.HeaderLen
}

// forge replaces the extension space of an RDS message in a frame and makes both
// checksums right again: the message's own, and that of the RoCE packet, without
// which the receiver would not look at it.
func forge(frame []byte, ext [wire.ExtSpace]byte) error {
	if len(frame) < offRDS+wire.HeaderLen+icrcSize || frame[offIP] != 0x45 {
		return fmt.Errorf("not an RDS message over RoCE and IPv4: %d bytes", len(frame))
	}
	copy(frame[offExt:], ext[:])

	hdr := frame[offRDS : offRDS+wire.HeaderLen]
	binary.BigEndian.PutUint16(frame[offCsum:], 0)
	binary.BigEndian.PutUint16(frame[offCsum:], internetChecksum(hdr))
	seal(frame)
	return nil
}

// seal makes the checksum of a RoCE packet right.
func seal(frame []byte) {
	binary.LittleEndian.PutUint32(frame[len(frame)-icrcSize:], invariantCRC(frame[:len(frame)-icrcSize]))
}

// withInvalidate makes a SEND of one packet into one that invalidates a key of
// the receiver.
func withInvalidate(frame []byte, key uint32) ([]byte, error) {
	if len(frame) < offRDS+wire.HeaderLen+icrcSize || frame[offIP] != 0x45 || wire.Opcode(frame[offBTH]) != wire.SendOnly {
		return nil, fmt.Errorf("not a SEND of one packet over RoCE and IPv4: %d bytes", len(frame))
	}
	frame = slices.Insert(frame, offRDS, binary.BigEndian.AppendUint32(nil, key)...)
	frame[offBTH] = byte(wire.SendOnlyInv)
	be := binary.BigEndian
	for _, off := range []int{offIP + 2, offUDP + 4} { // the two lengths
		be.PutUint16(frame[off:], be.Uint16(frame[off:])+4)
	}
	be.PutUint16(frame[offIP+10:], 0)
	be.PutUint16(frame[offIP+10:], internetChecksum(frame[offIP:offUDP]))
	be.PutUint16(frame[offUDP+6:], 0) // none
	seal(frame)
	return frame, nil
}

func internetChecksum(b []byte) uint16 {
	var sum uint32
	for ; len(b) > 1; b = b[2:] {
		sum += uint32(binary.BigEndian.Uint16(b))
	}
	for sum>>16 != 0 {
		sum = sum&0xffff + sum>>16
	}
	return ^uint16(sum)
}

// invariantCRC is the CRC over all that does not change on the way (InfiniBand
// Architecture, annex A17): eight bytes of ones in the place of a link header,
// and what routers may change replaced by ones.
func invariantCRC(frame []byte) uint32 {
	b := append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, frame[offIP:]...)
	ones := func(off, n int) {
		for i := range n {
			b[8+off-offIP+i] = 0xff
		}
	}
	ones(offIP+1, 1)  // type of service
	ones(offIP+8, 1)  // time to live
	ones(offIP+10, 2) // checksum
	ones(offUDP+6, 2) // checksum
	ones(offBTH+4, 1) // congestion notification
	return crc32.ChecksumIEEE(b)
}
