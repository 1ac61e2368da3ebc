// SPDX-License-Identifier: MIT

package gonl

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Messages are put together here byte by byte and with literal numbers, not
// with the library or the generated tables, so that the tests do not check an
// encoder against itself.

func u16(v uint16) []byte { return binary.NativeEndian.AppendUint16(nil, v) }
func u32(v uint32) []byte { return binary.NativeEndian.AppendUint32(nil, v) }
func u64(v uint64) []byte { return binary.NativeEndian.AppendUint64(nil, v) }

func cat(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

func pad4(b []byte) []byte { return append(b, make([]byte, (4-len(b)%4)%4)...) }

// at makes an attribute.
func at(number uint16, payload []byte) []byte {
	return pad4(cat(u16(uint16(4+len(payload))), u16(number), payload))
}

// genl makes a generic netlink header with attributes behind it.
func genl(cmd byte, attrs ...[]byte) []byte { return cat([]byte{cmd, 1, 0, 0}, cat(attrs...)) }

// Flags and types of netlink messages.
const (
	fMulti  = 0x2
	fIntr   = 0x10
	fCapped = 0x100
	fTLVs   = 0x200

	tError = 2
	tDone  = 3
)

// msg makes a netlink message.
func msg(typ, flags uint16, seq uint32, payload []byte) []byte {
	return cat(u32(uint32(16+len(payload))), u16(typ), u16(flags), u32(seq), u32(0), payload)
}

// request is what the fake kernel gets.
type request struct {
	raw        []byte
	typ, flags uint16
	seq        uint32
	cmd        byte
	attrs      []byte
}

// dump tells whether the request is for a list.
func (r request) dump() bool { return r.flags&0x300 == 0x300 }

func (r request) reply(flags uint16, payload []byte) []byte { return msg(r.typ, flags, r.seq, payload) }
func (r request) done(flags uint16, errno int32) []byte {
	return msg(tDone, fMulti|flags, r.seq, u32(uint32(-errno)))
}

// refuse makes the answer of a kernel that has NETLINK_CAP_ACK and
// NETLINK_EXT_ACK set for the socket: the request's header and the remarks.
func (r request) refuse(errno int32, tlvs ...[]byte) []byte {
	flags := uint16(fCapped)
	if len(tlvs) > 0 {
		flags |= fTLVs
	}
	return msg(tError, flags, r.seq, cat(u32(uint32(-errno)), r.raw[:16], cat(tlvs...)))
}

func extMsg(s string) []byte     { return at(1, append([]byte(s), 0)) }
func extOff(n uint32) []byte     { return at(2, u32(n)) }
func extMissing(n uint32) []byte { return at(5, u32(n)) }

// offsetOf finds an attribute in a request, counted from the netlink header.
func (r request) offsetOf(t *testing.T, number uint16) uint32 {
	t.Helper()
	for off := 20; off+4 <= len(r.raw); {
		n := int(binary.NativeEndian.Uint16(r.raw[off:]))
		if binary.NativeEndian.Uint16(r.raw[off+2:]) == number {
			return uint32(off)
		}
		off += (n + 3) &^ 3
	}
	t.Fatalf("no attribute %d in the request %x", number, r.raw)
	return 0
}

// attr returns the payload of an attribute of the request, nil if there is none.
func (r request) attr(number uint16) []byte {
	for off := 0; off+4 <= len(r.attrs); {
		n := int(binary.NativeEndian.Uint16(r.attrs[off:]))
		if binary.NativeEndian.Uint16(r.attrs[off+2:]) == number {
			return r.attrs[off+4 : off+n]
		}
		off += (n + 3) &^ 3
	}
	return nil
}

const (
	testFamily  = 0x23
	testGroup   = 7
	testMRGroup = 9
	ctrlNotify  = 16
)

// fakeKernel is a link with a function at its other end.
type fakeKernel struct {
	t testing.TB
	// handle answers a request to the family with datagrams.
	handle func(request) [][]byte
	family uint16 // 0: not loaded
	groups []string

	mu     sync.Mutex
	joined []uint32
	out    chan []byte
	over   chan struct{}
	lost   chan struct{}
}

func newFakeKernel(t testing.TB, handle func(request) [][]byte) *fakeKernel {
	return &fakeKernel{
		t: t, handle: handle, family: testFamily, groups: []string{"conn", "mr"},
		out: make(chan []byte, 1024), over: make(chan struct{}), lost: make(chan struct{}, 1),
	}
}

func (k *fakeKernel) send(ctx context.Context, b []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := request{
		raw: b, typ: binary.NativeEndian.Uint16(b[4:]), flags: binary.NativeEndian.Uint16(b[6:]),
		seq: binary.NativeEndian.Uint32(b[8:]), cmd: b[16], attrs: b[20:],
	}
	if int(binary.NativeEndian.Uint32(b)) != len(b) {
		k.t.Errorf("request says %d bytes and has %d", binary.NativeEndian.Uint32(b), len(b))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var answer [][]byte
	switch {
	case r.typ == 0x10:
		answer = k.controller(r)
	case k.family == 0 || r.typ != k.family:
		answer = [][]byte{r.refuse(int32(syscall.ENOENT))}
	default:
		answer = k.handle(r)
	}
	for _, d := range answer {
		k.out <- d
	}
	return nil
}

// controller answers requests for families by name.
func (k *fakeKernel) controller(r request) [][]byte {
	groups := func(names ...string) []byte {
		var list []byte
		for i, name := range names {
			id := map[string]uint32{"notify": ctrlNotify, "conn": testGroup, "mr": testMRGroup}[name]
			list = cat(list, at(uint16(i+1), cat(at(1, append([]byte(name), 0)), at(2, u32(id)))))
		}
		return at(7, list)
	}
	switch name := string(r.attr(2)); {
	case name == "nlctrl\x00":
		return [][]byte{r.reply(0, genl(1, at(1, u16(0x10)), at(2, []byte("nlctrl\x00")), at(3, u32(2)), groups("notify")))}
	case name == "rds_ext\x00" && k.family != 0:
		return [][]byte{r.reply(0, genl(1, at(1, u16(k.family)), at(2, []byte("rds_ext\x00")), at(3, u32(1)), groups(k.groups...)))}
	default:
		return [][]byte{r.refuse(int32(syscall.ENOENT))}
	}
}

func (k *fakeKernel) setFamily(id uint16) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.family = id
}

func (k *fakeKernel) recv(ctx context.Context) ([]byte, error) {
	// As in the real socket, what has arrived comes before the end.
	select {
	case b := <-k.out:
		return b, nil
	default:
	}
	select {
	case b := <-k.out:
		return b, nil
	case <-k.lost:
		return nil, syscall.ENOBUFS
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-k.over:
		return nil, net.ErrClosed
	}
}

func (k *fakeKernel) join(group uint32) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.joined = append(k.joined, group)
	return nil
}

func (k *fakeKernel) close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	select {
	case <-k.over:
	default:
		close(k.over)
	}
	return nil
}

// client opens a client on the fake kernel.
func (k *fakeKernel) client() *Client {
	k.t.Helper()
	c, err := newClient(k, 0)
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() {
		if err := c.Close(); err != nil {
			k.t.Error(err)
		}
	})
	return c
}

func mapped(s string) []byte {
	b := netip.MustParseAddr(s).As16()
	return b[:]
}

// connAttrs is a connection with every attribute, numbered as in the YAML file.
func connAttrs(id uint32, peer string) []byte {
	return cat(
		at(1, u32(id)), at(2, u32(0)), at(3, mapped("192.0.2.1")), at(4, mapped(peer)),
		at(5, []byte{3}), at(6, u32(3)), at(7, u32(1)), at(8, nil), at(9, nil),
		at(10, u32(0x301)), at(11, u32(1)), at(12, u32(0x301)), at(13, u32(5)), at(14, u32(1)),
		at(15, u32(2)), at(16, u32(2)),
		at(20, nil), at(17, u64(4)), at(20, nil), at(18, u64(3)), at(20, nil), at(19, u64(61500)),
		at(20, nil), at(21, u64(90500)), at(22, u32(2)), at(23, u32(12)), at(24, u32(3)), at(25, u32(7)), at(26, u32(110)),
		at(27, []byte("rxe0\x00")), at(28, u32(0x11)), at(29, []byte{3}), at(30, nil),
	)
}

// bareConn has only what every connection has.
func bareConn(id uint32, peer string) []byte {
	return cat(at(1, u32(id)), at(2, u32(2)), at(3, mapped("2001:db8::1")), at(4, mapped(peer)),
		at(5, []byte{0}), at(6, u32(0)), at(7, u32(8)), at(10, u32(0)), at(14, u32(0)),
		at(15, u32(0)), at(16, u32(0)), at(17, u64(0)), at(18, u64(0)))
}

// mrAttrs is an MR with every attribute, numbered as in the YAML file.
func mrAttrs(id uint32) []byte { return mrAttrsOf(id, "oracle", 0x8a12ff00) }

func mrAttrsOf(id uint32, command string, rkey uint32) []byte {
	return cat(
		at(1, u32(id)), at(2, []byte("rxe0\x00")), at(3, u32(4711)), at(4, append([]byte(command), 0)),
		at(5, u32(1000)), at(17, nil), at(6, u64(1<<33)), at(7, mapped("192.0.2.1")), at(8, u32(4000)),
		at(9, u32(rkey)), at(17, nil), at(10, u64(8191)), at(11, u32(3)), at(12, u32(0x1000009)),
		at(13, u32(2)), at(17, nil), at(14, u64(1500)), at(15, u32(12)), at(16, mapped("192.0.2.2")),
	)
}

func fullMR(id uint32) MR {
	return MR{
		ID: id, Device: "rxe0", PID: 4711, Command: "oracle", UID: 1000, Socket: 1 << 33,
		BoundAddr: netip.MustParseAddr("192.0.2.1"), BoundPort: 4000, RKey: ptr(uint32(0x8a12ff00)),
		Length: 8191, Pages: 3, Flags: MRFlagUseOnce | MRFlagInSendmsg | 1<<24, State: MRStateAdvertised,
		Age: 1500 * time.Millisecond, ConnID: ptr(uint32(12)), Peer: ptr(netip.MustParseAddr("192.0.2.2")),
	}
}

// bareMR has only what every MR has, for a reader without privilege.
func bareMR(id uint32) []byte {
	return cat(at(1, u32(id)), at(2, []byte("mlx5_0\x00")), at(3, u32(1)), at(4, []byte("x\x00")), at(5, u32(0)),
		at(6, u64(0)), at(7, mapped("2001:db8::1")), at(8, u32(0)), at(10, u64(1)), at(11, u32(1)), at(12, u32(0)),
		at(13, u32(77)), at(14, u64(0)))
}

func bareMRWant(id uint32) MR {
	return MR{
		ID: id, Device: "mlx5_0", PID: 1, Command: "x", BoundAddr: netip.MustParseAddr("2001:db8::1"),
		Length: 1, Pages: 1, State: 77,
	}
}
