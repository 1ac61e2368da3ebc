// SPDX-License-Identifier: MIT

package gonl

import (
	"fmt"
	"math"
	"net/netip"

	"github.com/mdlayher/netlink"

	"github.com/rds-ext/rds_ext/gonl/spec"
)

// decoder walks over the attributes of a message and remembers which it met,
// to tell in the end which required ones are missing.
type decoder struct {
	*netlink.AttributeDecoder
	set  *spec.AttrSet
	seen map[uint16]bool
	bad  error
}

func newDecoder(set *spec.AttrSet, b []byte) (*decoder, error) {
	ad, err := netlink.NewAttributeDecoder(b)
	if err != nil {
		return nil, malformed(set.Name, err)
	}
	return &decoder{AttributeDecoder: ad, set: set, seen: map[uint16]bool{}}, nil
}

func (d *decoder) Next() bool {
	if d.bad != nil || !d.AttributeDecoder.Next() {
		return false
	}
	d.seen[d.Type()] = true
	return true
}

// finish reports the first fault met, or the first required attribute that is
// missing.
func (d *decoder) finish(required ...uint16) error {
	if d.bad != nil {
		return malformed(d.set.Name, d.bad)
	}
	if err := d.Err(); err != nil {
		return malformed(d.set.Name, err)
	}
	for _, n := range required {
		if !d.seen[n] {
			return malformed(d.set.Name, fmt.Errorf("attribute %s is missing", attrName(d.set, n)))
		}
	}
	return nil
}

func (d *decoder) fail(format string, args ...any) {
	if d.bad == nil {
		d.bad = fmt.Errorf("attribute %s %s", attrName(d.set, d.Type()), fmt.Sprintf(format, args...))
	}
}

// addr reads 16 bytes as an address, and takes IPv4 addresses out of their
// mapping.
func (d *decoder) addr() netip.Addr {
	b := d.Bytes()
	if len(b) != 16 {
		d.fail("has %d bytes instead of 16", len(b))
		return netip.Addr{}
	}
	return netip.AddrFrom16([16]byte(b)).Unmap()
}

func (d *decoder) version() Version {
	n := d.Uint32()
	if n > math.MaxUint16 {
		d.fail("is %#x, which is no version", n)
		return 0
	}
	return Version(n)
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

func ptr[T any](v T) *T { return &v }
