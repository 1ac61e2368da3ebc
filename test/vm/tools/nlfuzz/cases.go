// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"syscall"

	"github.com/rds-ext/rds_ext/gonl/spec"
)

// Kinds of requests.
const (
	kindValid      = "valid"
	kindShort      = "short"       // a byte less than the type has
	kindEmpty      = "empty"       // no payload
	kindLong       = "long"        // a byte more than the type has
	kindMuchLonger = "much-longer" // 1,000 bytes more
	kindRepeated   = "repeated"    // twice in one request
	kindAbsent     = "absent"      // required and not there
	kindNested     = "nested"      // marked as holding attributes
	kindRange      = "range"       // a value that is not defined
	kindForeign    = "foreign"     // of the set, but not of this request
	kindUnknown    = "unknown"     // a number that the set does not have
	kindTrailing   = "trailing"    // bytes behind the last attribute
	kindOverrun    = "overrun"     // longer than the message
	kindUnderrun   = "underrun"    // shorter than its own header
	kindNotThere   = "no-such-op"  // an operation or mode that does not exist
)

// Offsets and sizes of the netlink format.
const (
	headersLen = 16 + 4
	nestedFlag = 0x8000
)

// testCase is one request.
type testCase struct {
	op   spec.Op
	dump bool
	attr string
	kind string
	// attrs is everything behind the generic netlink header.
	attrs []byte
	// want lists the error numbers that are right; 0 is accepted.
	want []syscall.Errno
	// offset of the bad attribute from the netlink header, 0 where there is none.
	offset uint32
}

func (c testCase) mode() string {
	if c.dump {
		return "dump"
	}
	return "do"
}

// builder makes the cases of one operation in one mode.
type builder struct {
	op     spec.Op
	dump   bool
	values map[string][]byte
	out    []testCase
}

// nothing is the number of no MR and no connection before 2^32 of them were made.
// Nothing but that may be revoked or reset, even if the kernel takes what it should
// refuse.
const nothing = ^uint32(0)

// maxName is how long the name of an RDMA device can be.
const maxName = 63

// cases makes all requests. Valid requests to change the settings repeat the
// values that they have, which settings has by name.
func cases(settings map[string][]byte) []testCase {
	u32 := func(v uint32) []byte { return binary.NativeEndian.AppendUint32(nil, v) }
	mapped := func(last byte) []byte {
		return append(make([]byte, 10), 0xff, 0xff, 192, 0, 2, last)
	}
	values := map[string][]byte{
		"transport": u32(0), "local-addr": mapped(1), "peer-addr": mapped(2), "tos": {0},
		"state": u32(3), "version": u32(0x301), "peer-version": u32(0x301), "peer-kind": u32(1), "id": u32(1),
		"device": []byte("x\x00"), "pid": u32(1), "conn-id": u32(1),
	}
	maps.Copy(values, settings)
	var out []testCase
	for _, op := range spec.Ops {
		for _, dump := range []bool{false, true} {
			sub := op.Do
			if dump {
				sub = op.Dump
			}
			b := &builder{op: op, dump: dump, values: values}
			if op.Number == spec.CmdMRRevoke || op.Number == spec.CmdConnReset {
				b.values = maps.Clone(values)
				b.values["id"] = u32(nothing)
			}
			if sub == nil {
				b.add(testCase{kind: kindNotThere, want: []syscall.Errno{syscall.EOPNOTSUPP}})
			} else {
				b.faults(sub.Request)
			}
			out = append(out, b.out...)
		}
	}
	return out
}

func (b *builder) add(c testCase) {
	c.op, c.dump = b.op, b.dump
	if c.want == nil {
		c.want = []syscall.Errno{syscall.EINVAL}
	}
	b.out = append(b.out, c)
}

// base is a valid request, without the attribute that is to be broken.
func (b *builder) base(without string) []byte {
	var names []string
	switch {
	case (b.op.Number == spec.CmdConnGet || b.op.Number == spec.CmdConnReset) && without == "id":
		// A connection is named by its id or by the rest, not by both.
	case b.op.Number == spec.CmdConnReset && !b.dump:
		// No connection has these addresses.
		names = []string{"local-addr", "peer-addr"}
	case b.op.Number == spec.CmdConnGet && !b.dump:
		names = []string{"transport", "local-addr", "peer-addr", "tos"}
	case b.op.Number == spec.CmdSettingsSet, b.op.Number == spec.CmdMRRevoke, b.op.Number == spec.CmdMRGet && !b.dump:
		names = b.op.Do.Request
	case b.op.Number == spec.CmdMRGet:
		names = b.op.Dump.Request
	}
	var out []byte
	for _, n := range names {
		if n != without {
			out = append(out, b.valid(n)...)
		}
	}
	return out
}

// valid is an attribute with the right payload.
func (b *builder) valid(name string) []byte {
	a, ok := b.op.Set.ByName(name)
	if !ok {
		panic("no attribute " + name + " in set " + b.op.Set.Name)
	}
	return attribute(a.Number, b.payload(a))
}

// payload is what the kernel would take, or at least of the right size.
func (b *builder) payload(a spec.Attr) []byte {
	if v, ok := b.values[a.Name]; ok {
		return v
	}
	switch {
	case a.Type.Size() >= 0:
		return make([]byte, a.Type.Size())
	case a.ExactLen > 0:
		return make([]byte, a.ExactLen)
	case a.Type == spec.TypeString:
		return []byte("x\x00")
	default:
		return nil
	}
}

// attribute makes one, padded to 4 bytes.
func attribute(number uint16, payload []byte) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(4+len(payload)))
	b = binary.NativeEndian.AppendUint16(b, number)
	b = append(b, payload...)
	return append(b, make([]byte, (4-len(b)%4)%4)...)
}

// broken adds a case with a bad attribute behind a base that is valid.
func (b *builder) broken(attr, kind string, base, bad []byte, want ...syscall.Errno) {
	b.add(testCase{
		attr: attr, kind: kind, attrs: slices.Concat(base, bad), want: want,
		offset: uint32(headersLen + len(base)),
	})
}

// faults makes all cases for an operation that takes the attributes of request.
func (b *builder) faults(request []string) {
	valid := []syscall.Errno{0}
	switch {
	case b.op.Number == spec.CmdMRRevoke, b.op.Number == spec.CmdConnReset:
		valid = []syscall.Errno{syscall.ENOENT}
	case (b.op.Number == spec.CmdConnGet || b.op.Number == spec.CmdMRGet) && !b.dump:
		// There need not be such an object; the request is valid all the same.
		valid = append(valid, syscall.ENOENT)
	}
	b.add(testCase{kind: kindValid, attrs: b.base(""), want: valid})
	for _, a := range b.op.Set.Attrs {
		if slices.Contains(request, a.Name) {
			b.attrFaults(a)
		} else {
			b.broken(a.Name, kindForeign, b.base(""), attribute(a.Number, b.payload(a)))
		}
	}
	last := b.op.Set.Attrs[len(b.op.Set.Attrs)-1].Number
	for _, n := range []uint16{0, last + 1, 0x3fff} {
		b.broken("", kindUnknown, b.base(""), attribute(n, []byte{1, 2, 3, 4}))
	}
	for _, n := range []int{1, 2, 3} {
		b.add(testCase{kind: kindTrailing, attrs: append(b.base(""), make([]byte, n)...)})
	}
	b.absences(request)
}

// attrFaults breaks an attribute that the request may have.
func (b *builder) attrFaults(a spec.Attr) {
	base, good := b.base(a.Name), b.payload(a)
	number := a.Number
	bad := func(kind string, payload []byte, want ...syscall.Errno) {
		b.broken(a.Name, kind, base, attribute(number, payload), want...)
	}
	tooSmall := []syscall.Errno{syscall.EINVAL, syscall.ERANGE}
	if len(good) > 1 {
		bad(kindShort, good[:len(good)-1], tooSmall...)
	}
	if len(good) > 0 {
		bad(kindEmpty, nil, tooSmall...)
	}
	for _, l := range []struct {
		kind string
		more int
	}{{kindLong, 1}, {kindMuchLonger, 1000}} {
		if a.Type == spec.TypeString {
			// What is behind the NUL does not count; the name has to be too long.
			bad(l.kind, append(bytes.Repeat([]byte("x"), maxName+l.more), 0), tooSmall...)
		} else {
			bad(l.kind, append(slices.Clone(good), make([]byte, l.more)...), tooSmall...)
		}
	}
	b.broken(a.Name, kindNested, base, attribute(number|nestedFlag, good))
	one := attribute(number, good)
	b.add(testCase{
		attr: a.Name, kind: kindRepeated, attrs: slices.Concat(base, one, one),
		offset: uint32(headersLen + len(base) + len(one)),
	})
	overrun := attribute(number, good)
	binary.NativeEndian.PutUint16(overrun, uint16(len(overrun)+8))
	b.add(testCase{attr: a.Name, kind: kindOverrun, attrs: slices.Concat(base, overrun)})
	underrun := attribute(number, good)
	binary.NativeEndian.PutUint16(underrun, 3)
	b.add(testCase{attr: a.Name, kind: kindUnderrun, attrs: slices.Concat(base, underrun)})
	for _, v := range undefined(a) {
		bad(kindRange, v, syscall.EINVAL, syscall.ERANGE, syscall.EOPNOTSUPP)
	}
}

// undefined lists payloads of the right size that mean nothing.
func undefined(a spec.Attr) [][]byte {
	u32 := func(v ...uint32) (out [][]byte) {
		for _, n := range v {
			out = append(out, binary.NativeEndian.AppendUint32(nil, n))
		}
		return out
	}
	switch {
	case a.Name == "id", a.Name == "conn-id":
		return u32(0)
	case a.Name == "peer-version", a.Name == "version":
		return u32(0x10000, 1<<31)
	case a.Type == spec.TypeU8 && a.Max > 0:
		return [][]byte{{uint8(a.Max) + 1}, {255}}
	case a.Type == spec.TypeU32 && a.Max > 0:
		out := u32(uint32(a.Max)+1, ^uint32(0))
		if a.Min > 0 {
			out = append(out, u32(uint32(a.Min)-1, 0)...)
		}
		return out
	case len(a.Values) > 0:
		out := u32(slices.Max(a.Values)+1, 1<<31)
		for v := range slices.Max(a.Values) {
			if !slices.Contains(a.Values, v) {
				out = append(out, u32(v)...)
			}
		}
		return out
	case a.Flags != 0:
		return u32(1<<31, ^uint32(0))
	default:
		return nil
	}
}

// absences leaves out what a request cannot do without.
func (b *builder) absences(request []string) {
	switch {
	case b.op.Number == spec.CmdSettingsSet, b.op.Number == spec.CmdMRRevoke, b.op.Number == spec.CmdMRGet && !b.dump:
		b.add(testCase{attr: strings.Join(request, ", "), kind: kindAbsent})
	case b.op.Number == spec.CmdConnReset && !b.dump:
		b.add(testCase{attr: "id, or any other", kind: kindAbsent})
	case b.op.Number == spec.CmdConnGet && !b.dump:
		for _, n := range []string{"transport", "local-addr", "peer-addr"} {
			b.add(testCase{attr: n, kind: kindAbsent, attrs: b.base(n)})
		}
		b.add(testCase{attr: "id, transport, local-addr, peer-addr", kind: kindAbsent})
	}
}
