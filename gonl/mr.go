// SPDX-License-Identifier: MIT

package gonl

import (
	"context"
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/mdlayher/netlink"

	"github.com/rds-ext/rds_ext/gonl/spec"
)

// MR is a memory region of the MR engine: memory of an application that RDMA
// operations of a peer may reach. MRs that net/rds registered itself are not
// shown.
type MR struct {
	// ID identifies the MR on this host until it is gone, 1 and up.
	ID uint32
	// Device is the name of the RDMA device, such as "rxe0".
	Device string
	// PID is the process that mapped it, as the initial process namespace
	// numbers it, and Command its name, up to 15 bytes.
	PID     uint32
	Command string
	// UID is the user that the pinned pages are charged to, as the initial user
	// namespace numbers it.
	UID uint32
	// Socket is the inode number of the socket, as in /proc/PID/fd; 0 where it
	// has none.
	Socket uint64
	// BoundAddr and BoundPort are the socket's own. IPv4 addresses are plain
	// IPv4, not mapped into IPv6.
	BoundAddr netip.Addr
	BoundPort uint16
	// RKey is the R_Key; nil for readers without CAP_NET_ADMIN in the initial
	// user namespace, and where the key is not valid.
	RKey *uint32
	// Length in bytes, as the application gave it.
	Length uint64
	// Pages that it pins.
	Pages uint32
	// Flags are its properties.
	Flags MRFlag
	// State is where it stands between registration and its end.
	State MRState
	// Age since it was registered, to the millisecond.
	Age time.Duration
	// ConnID is the connection that a message carried the key on last; nil
	// where none did, or the connection is gone.
	ConnID *uint32
	// Peer is the one that the key was advertised to last, or that it was
	// mapped for; nil where there is none.
	Peer *netip.Addr
	// Unknown are attributes of a newer module; nil with one that this package
	// knows all of.
	Unknown []Attribute `json:",omitempty"`
}

// MRFilter selects MRs: those that have every value that is set. The zero
// MRFilter selects all.
type MRFilter struct {
	// Device is the name of an RDMA device, empty for any.
	Device string
	// PID, nil for any.
	PID *uint32
	// Socket is an inode number, nil for any.
	Socket *uint64
	// State, nil for any.
	State *MRState
	// ConnID, nil for any.
	ConnID *uint32
	// RKey, nil for any. Who is not shown R_Keys finds none.
	RKey *uint32
	// OlderThan is the least age, 0 for any.
	OlderThan time.Duration
}

// Match tells whether m has every value that f sets.
func (f MRFilter) Match(m MR) bool {
	return (f.Device == "" || f.Device == m.Device) &&
		equal(f.PID, &m.PID) &&
		equal(f.Socket, &m.Socket) &&
		equal(f.State, &m.State) &&
		equal(f.ConnID, m.ConnID) &&
		equal(f.RKey, m.RKey) &&
		m.Age >= f.OlderThan
}

func (f MRFilter) encode() ([]byte, error) {
	return encode(func(e *netlink.AttributeEncoder) {
		if f.Device != "" {
			e.String(spec.AttrMRDevice, f.Device)
		}
		if f.PID != nil {
			e.Uint32(spec.AttrMRPID, *f.PID)
		}
		if f.Socket != nil {
			e.Uint64(spec.AttrMRSocket, *f.Socket)
		}
		if f.State != nil {
			e.Uint32(spec.AttrMRState, uint32(*f.State))
		}
		if f.ConnID != nil {
			e.Uint32(spec.AttrMRConnID, *f.ConnID)
		}
	})
}

// MRs lists the MRs that match f, in the kernel's order. A list that changes
// while it is read is read again; if it keeps changing, the last result is
// returned together with an error that wraps ErrPartial.
func (c *Client) MRs(ctx context.Context, f MRFilter) ([]MR, error) {
	attrs, err := f.encode()
	if err != nil {
		return nil, err
	}
	var p mrParser
	list, err := dump(ctx, c, spec.CmdMRGet, attrs, p.parse)
	if f.RKey != nil || f.OlderThan > 0 { // which the kernel does not look at
		list = slices.DeleteFunc(list, func(m MR) bool { return !f.Match(m) })
	}
	return list, err
}

// MR gets the MR with the given ID. The error is fs.ErrNotExist to errors.Is if
// there is none in this network namespace.
func (c *Client) MR(ctx context.Context, id uint32) (MR, error) {
	attrs, err := encodeMRID(id)
	if err != nil {
		return MR{}, err
	}
	return single(ctx, c, spec.CmdMRGet, attrs, parseMR)
}

// RevokeMR invalidates an MR and unpins its pages; when it returns, the key is
// dead. Its owner still has to free it, which succeeds. It needs CAP_NET_ADMIN
// in the initial user namespace; without it the error is fs.ErrPermission to
// errors.Is. If there is no such MR, the error is fs.ErrNotExist.
func (c *Client) RevokeMR(ctx context.Context, id uint32) error {
	attrs, err := encodeMRID(id)
	if err != nil {
		return err
	}
	return c.do(ctx, spec.CmdMRRevoke, attrs)
}

func encodeMRID(id uint32) ([]byte, error) {
	return encode(func(e *netlink.AttributeEncoder) { e.Uint32(spec.AttrMRID, id) })
}

// parseMR reads the attributes of an MR.
func parseMR(b []byte) (MR, error) {
	var p mrParser
	return p.parse(b)
}

// mrParser reads the MRs of a list, which may have many thousand. What they
// have in common is kept once, and what is optional comes out of blocks, so
// that an MR does not cost a handful of small allocations.
type mrParser struct {
	device, command string
	numbers         block[uint32]
	addrs           block[netip.Addr]
}

func (p *mrParser) parse(b []byte) (MR, error) {
	d := newDecoder(spec.SetMR, b)
	var m MR
	for d.next() {
		switch d.typ {
		case spec.AttrMRID:
			m.ID = d.uint32()
		case spec.AttrMRDevice:
			m.Device = repeated(&p.device, d.text())
		case spec.AttrMRPID:
			m.PID = d.uint32()
		case spec.AttrMRCommand:
			m.Command = repeated(&p.command, d.text())
		case spec.AttrMRUID:
			m.UID = d.uint32()
		case spec.AttrMRSocket:
			m.Socket = d.uint64()
		case spec.AttrMRBoundAddr:
			m.BoundAddr = d.addr()
		case spec.AttrMRBoundPort:
			n := d.uint32()
			if n > math.MaxUint16 {
				d.fail("is %d, which is no port", n)
				break
			}
			m.BoundPort = uint16(n)
		case spec.AttrMRRKey:
			m.RKey = p.numbers.put(d.uint32())
		case spec.AttrMRLength:
			m.Length = d.uint64()
		case spec.AttrMRPages:
			m.Pages = d.uint32()
		case spec.AttrMRFlags:
			m.Flags = MRFlag(d.uint32())
		case spec.AttrMRState:
			m.State = MRState(d.uint32())
		case spec.AttrMRAgeMS:
			m.Age = d.millis()
		case spec.AttrMRConnID:
			m.ConnID = p.numbers.put(d.uint32())
		case spec.AttrMRPeerAddr:
			m.Peer = p.addrs.put(d.addr())
		}
	}
	if err := d.finish(spec.AttrMRID, spec.AttrMRDevice, spec.AttrMRLength, spec.AttrMRState); err != nil {
		return MR{}, err
	}
	m.Unknown = d.unknown
	return m, nil
}

// repeated is b as a string: *last where that is the same, which *last becomes.
func repeated(last *string, b []byte) string {
	if *last != string(b) {
		*last = string(b)
	}
	return *last
}

// block hands out pointers to values of which blockSize share an allocation.
// The first one has an allocation of its own, so that a single object does not
// hold a block.
type block[T any] struct {
	used bool
	free []T
}

const blockSize = 128

func (b *block[T]) put(v T) *T {
	if !b.used {
		b.used = true
		p := new(T)
		*p = v
		return p
	}
	if len(b.free) == 0 {
		b.free = make([]T, blockSize)
	}
	p := &b.free[0]
	b.free = b.free[1:]
	*p = v
	return p
}
