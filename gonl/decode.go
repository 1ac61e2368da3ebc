// SPDX-License-Identifier: MIT

package gonl

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/mdlayher/netlink"

	"github.com/rds-ext/rds_ext/gonl/spec"
)

// decoder walks over the attributes of a message and remembers which it met,
// to tell in the end which required ones are missing. The library's copies each
// payload, which a list of many thousand MRs would feel.
type decoder struct {
	set  *spec.AttrSet
	rest []byte // behind the current attribute
	data []byte // payload of the current attribute
	typ  uint16
	seen uint64 // a bit for each number below 64
	last uint16 // highest number in the specification
	// unknown are those above.
	unknown []Attribute
	bad     error
}

// Attribute is an attribute that this version of the package does not know: the
// module is newer. What it means is in the module's own specification.
type Attribute struct {
	// Type is its number in the attribute set of the object.
	Type uint16
	// Data is its payload, in the byte order of the host.
	Data []byte
}

func newDecoder(set *spec.AttrSet, b []byte) decoder {
	return decoder{set: set, rest: b, last: set.Attrs[len(set.Attrs)-1].Number}
}

// next steps to the next attribute. It returns false at the end, and at the
// first fault.
func (d *decoder) next() bool {
	if d.bad != nil || len(d.rest) == 0 {
		return false
	}
	if len(d.rest) < attrHeaderLen {
		d.bad = fmt.Errorf("%d bytes behind the last attribute", len(d.rest))
		return false
	}
	n := int(binary.NativeEndian.Uint16(d.rest))
	d.typ = binary.NativeEndian.Uint16(d.rest[2:]) &^ (netlink.Nested | netlink.NetByteOrder)
	if n < attrHeaderLen || n > len(d.rest) {
		d.bad = fmt.Errorf("attribute %s of %d bytes with %d left", attrName(d.set, d.typ), n, len(d.rest))
		return false
	}
	d.data = d.rest[attrHeaderLen:n]
	// The last attribute need not be padded.
	d.rest = d.rest[min((n+3)&^3, len(d.rest)):]
	if d.typ < 64 {
		d.seen |= 1 << d.typ
	}
	if d.typ > d.last {
		d.unknown = append(d.unknown, Attribute{d.typ, bytes.Clone(d.data)})
	}
	return true
}

// met tells whether the attribute with a number below 64 has come by.
func (d *decoder) met(number uint16) bool { return d.seen&(1<<number) != 0 }

// finish reports the first fault met, or the first required attribute that is
// missing. Required ones have numbers below 64.
func (d *decoder) finish(required ...uint16) error {
	if d.bad != nil {
		return malformed(d.set.Name, d.bad)
	}
	for _, n := range required {
		if !d.met(n) {
			return malformed(d.set.Name, fmt.Errorf("attribute %s is missing", attrName(d.set, n)))
		}
	}
	return nil
}

func (d *decoder) fail(format string, args ...any) {
	if d.bad == nil {
		d.bad = fmt.Errorf("attribute %s %s", attrName(d.set, d.typ), fmt.Sprintf(format, args...))
	}
}

// sized tells whether the payload has n bytes.
func (d *decoder) sized(n int) bool {
	if len(d.data) != n {
		d.fail("has %d bytes instead of %d", len(d.data), n)
	}
	return d.bad == nil
}

func (d *decoder) uint8() uint8 {
	if !d.sized(1) {
		return 0
	}
	return d.data[0]
}

func (d *decoder) uint32() uint32 {
	if !d.sized(4) {
		return 0
	}
	return binary.NativeEndian.Uint32(d.data)
}

func (d *decoder) uint64() uint64 {
	if !d.sized(8) {
		return 0
	}
	return binary.NativeEndian.Uint64(d.data)
}

// flag reads an attribute whose presence is its value.
func (d *decoder) flag() bool { return d.sized(0) }

// text is the payload up to its NUL, within the message.
func (d *decoder) text() []byte {
	s, _, _ := bytes.Cut(d.data, []byte{0})
	return s
}

func (d *decoder) string() string { return string(d.text()) }

// addr reads 16 bytes as an address, and takes IPv4 addresses out of their
// mapping.
func (d *decoder) addr() netip.Addr {
	if !d.sized(16) {
		return netip.Addr{}
	}
	return netip.AddrFrom16([16]byte(d.data)).Unmap()
}

func (d *decoder) version() Version {
	n := d.uint32()
	if n > math.MaxUint16 {
		d.fail("is %#x, which is no version", n)
		return 0
	}
	return Version(n)
}

// millis reads a number of milliseconds.
func (d *decoder) millis() time.Duration {
	ms := d.uint64()
	if ms > math.MaxInt64/uint64(time.Millisecond) {
		d.fail("is %d, which is longer than 292 years", ms)
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

// encode makes the attributes of a request.
func encode(add func(e *netlink.AttributeEncoder)) ([]byte, error) {
	e := netlink.NewAttributeEncoder()
	add(e)
	b, err := e.Encode()
	if err != nil {
		return nil, fmt.Errorf("gonl: encode the request: %w", err)
	}
	return b, nil
}

// putAddr adds an address the way the family wants it: IPv4 mapped into IPv6.
func putAddr(e *netlink.AttributeEncoder, number uint16, a netip.Addr) {
	b := a.As16()
	e.Bytes(number, b[:])
}

// putSwitch adds a number that stands for on or off.
func putSwitch(e *netlink.AttributeEncoder, number uint16, on bool) {
	var v uint8
	if on {
		v = 1
	}
	e.Uint8(number, v)
}

func ptr[T any](v T) *T { return &v }
