// SPDX-License-Identifier: MIT

// Package spec holds the numbers and tables of the rds_ext generic netlink
// family, made from its specification. Programs want package gonl; this one is
// for tools that go through all operations and attributes, such as fuzzers
// and decoders.
package spec

// Type is the type of an attribute's payload.
type Type uint8

// The types of payload. Numbers are in the byte order of the host.
const (
	TypePad    Type = iota + 1 // padding, without meaning
	TypeFlag                   // no payload; presence is the value
	TypeU8                     // 1 byte
	TypeU16                    // 2 bytes
	TypeU32                    // 4 bytes
	TypeU64                    // 8 bytes
	TypeString                 // NUL-terminated text
	TypeBinary                 // bytes
)

// Size is the length of the payload in bytes, or -1 where it varies.
func (t Type) Size() int {
	switch t {
	case TypeFlag:
		return 0
	case TypeU8:
		return 1
	case TypeU16:
		return 2
	case TypeU32:
		return 4
	case TypeU64:
		return 8
	default:
		return -1
	}
}

// Attr describes an attribute.
type Attr struct {
	// Name in the specification, such as "peer-addr".
	Name string
	// Number on the wire, 1 and up.
	Number uint16
	// Type of the payload.
	Type Type
	// Min is the smallest value allowed.
	Min uint64
	// Max is the largest value allowed, or 0 where there is no limit.
	Max uint64
	// ExactLen is the length in bytes of a TypeBinary payload, or 0 where it varies.
	ExactLen int
	// Values lists the values of an enumeration, nil for other attributes.
	Values []uint32
	// Flags has all bits of a set of flags, 0 for other attributes.
	Flags uint32
}

// AttrSet is the set of attributes that an operation takes its own from.
type AttrSet struct {
	// Name in the specification.
	Name string
	// Attrs in order of their numbers.
	Attrs []Attr
}

// ByNumber finds an attribute by its number on the wire.
func (s *AttrSet) ByNumber(n uint16) (Attr, bool) {
	for _, a := range s.Attrs {
		if a.Number == n {
			return a, true
		}
	}
	return Attr{}, false
}

// ByName finds an attribute by its name.
func (s *AttrSet) ByName(name string) (Attr, bool) {
	for _, a := range s.Attrs {
		if a.Name == name {
			return a, true
		}
	}
	return Attr{}, false
}

// SubOp lists the attributes of one mode of an operation, by name.
type SubOp struct {
	// Request has what may be sent; anything else is refused.
	Request []string
	// Reply has what may come back.
	Reply []string
}

// Op is an operation or an event.
type Op struct {
	// Name in the specification.
	Name string
	// Number of the command on the wire.
	Number uint8
	// Set that the attributes belong to.
	Set *AttrSet
	// Admin: needs CAP_NET_ADMIN; Doc says in which user namespace.
	Admin bool
	// Do and Dump are nil where the operation does not have that mode.
	Do, Dump *SubOp
	// Group is the multicast group of an event, and empty otherwise.
	Group string
	// Event lists the attributes of an event.
	Event []string
}

// OpByNumber finds an operation or event by its number on the wire.
func OpByNumber(n uint8) (Op, bool) {
	for _, o := range Ops {
		if o.Number == n {
			return o, true
		}
	}
	return Op{}, false
}
