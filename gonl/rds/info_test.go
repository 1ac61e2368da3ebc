// SPDX-License-Identifier: MIT

package rds

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// A made-up item is put together of these.
func u32(v ...uint32) (b []byte) {
	for _, v := range v {
		b = binary.NativeEndian.AppendUint32(b, v)
	}
	return b
}

func ports(v ...uint16) (b []byte) {
	for _, v := range v {
		b = binary.BigEndian.AppendUint16(b, v)
	}
	return b
}

func ip4(s string) []byte { b := netip.MustParseAddr(s).As4(); return b[:] }

func ip6(s string) []byte { b := netip.MustParseAddr(s).As16(); return b[:] }

func name(s string, size int) []byte { return append([]byte(s), make([]byte, size-len(s))...) }

func cat(parts ...[]byte) []byte { return slices.Concat(parts...) }

// A fakeKernel has lists by the number of their option.
type fakeKernel map[int]snapshot

func (k fakeKernel) read(opt int) (snapshot, error) {
	s, ok := k[opt]
	if !ok {
		return snapshot{}, &Error{Op: opInfo, Err: unix.ENOPROTOOPT}
	}
	return s, nil
}

// list makes a snapshot of items of equal length.
func list(items ...[]byte) snapshot { return snapshot{slices.Concat(items...), len(items[0])} }

// resized adds n bytes to the end of each item, or takes -n off.
func (s snapshot) resized(n int) snapshot {
	var b []byte
	for item := range slices.Chunk(s.b, s.each) {
		b = append(b, item[:min(s.each, s.each+n)]...)
		b = append(b, make([]byte, max(0, n))...)
	}
	return snapshot{b, s.each + n}
}

func addrPort(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

func conn4(flags, tos byte) []byte {
	return cat(words(11, 22), ip4("10.0.0.1"), ip4("10.0.0.2"), name("infiniband", 16), []byte{flags, tos})
}

func conn6(peer string, flags byte) []byte {
	return cat(words(33, 44), ip6("fd00::1"), ip6(peer), name("tcp", 16), []byte{flags})
}

func counter(n string, v uint64) []byte { return cat(name(n, 32), words(v)) }

// full is a kernel with IPv6 and every list.
func full() fakeKernel {
	return fakeKernel{
		infoCounters:     list(counter("conn_reset", 5), counter("recv_drop_no_sock", 7)),
		infoConnections:  list(conn4(4, 3), conn4(3, 0)),
		info6Connections: list(conn6("fd00::2", 4), conn6("::ffff:10.0.0.2", 4)),
		infoSockets: list(
			cat(u32(1000), ip4("10.0.0.1"), ip4("0.0.0.0"), ports(4000, 0), u32(2000), words(77))),
		info6Sockets: list(
			cat(u32(1000), ip6("::ffff:10.0.0.1"), ip6("::"), ports(4000, 0), u32(2000), words(77)),
			cat(u32(1001), ip6("fd00::1"), ip6("fd00::2"), ports(4001, 5001), u32(2001), words(78)),
			cat(u32(1), ip6("::"), ip6("::"), ports(0, 0), u32(2), words(79))),
		infoSendMessages: list(
			cat(words(8), u32(100), ip4("0.0.0.0"), ip4("0.0.0.0"), ports(4000, 5000), []byte{0, 6})),
		info6SendMessages: list(
			cat(words(8), u32(100), ip6("::ffff:10.0.0.1"), ip6("::ffff:10.0.0.2"), ports(4000, 5000), []byte{0, 6})),
		info6RetransMessages: list(
			cat(words(9), u32(101), ip6("fd00::1"), ip6("fd00::2"), ports(4001, 5001), []byte{0, 0})),
		info6RecvMessages: list(
			cat(words(10), u32(1<<20), ip6("fd00::1"), ip6("fd00::2"), ports(4002, 5002), []byte{0, 1})),
		infoTCPSockets: list(
			cat(ip4("10.0.0.1"), ports(16385), ip4("10.0.0.2"), ports(40000), words(48, 1<<33), u32(1, 2, 3), []byte{9})),
		info6TCPSockets: list(
			cat(ip6("::ffff:10.0.0.1"), ports(16385), ip6("::ffff:10.0.0.2"), ports(40000), words(48, 1<<33), u32(1, 2, 3)),
			cat(ip6("fd00::1"), ports(16385), ip6("fd00::2"), ports(40001), words(0, 5), u32(4, 5, 6)),
			cat(ip6("::ffff:10.0.0.1"), ports(1), ip6("::"), ports(0), words(0, 0), u32(0, 0, 0))),
		infoIBConnections: list(
			cat(ip4("10.0.0.1"), ip4("10.0.0.2"), ip6("fe80::1"), ip6("fe80::2"), u32(256, 1024, 8, 8192, 257), []byte{2, 1, 0, 0}, u32(64))),
		info6IBConnections: list(
			cat(ip6("::ffff:10.0.0.1"), ip6("::ffff:10.0.0.2"), ip6("::ffff:10.0.0.1"), ip6("::ffff:10.0.0.2"), u32(256, 1024, 8, 8192, 257), []byte{2, 1, 0, 0}, u32(64)),
			cat(ip6("fd00::1"), ip6("fd00::2"), ip6("::"), ip6("::"), u32(0, 0, 0, 0, 0), []byte{0, 0, 0, 0}, u32(0))),
	}
}

// without takes lists away.
func (k fakeKernel) without(opts ...int) fakeKernel {
	for _, o := range opts {
		delete(k, o)
	}
	return k
}

func wantList[T comparable](t *testing.T, what string, got []T, err error, want ...T) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	} else if !slices.Equal(got, want) {
		t.Errorf("%s: got\n%+v\nwant\n%+v", what, got, want)
	}
}

func TestConnections(t *testing.T) {
	a, p := addr("10.0.0.1"), addr("10.0.0.2")
	up := Connection{Local: a, Peer: p, Transport: "infiniband", TOS: 3, HasTOS: true, NextTx: 11, NextRx: 22, Connected: true}
	busy := Connection{Local: a, Peer: p, Transport: "infiniband", HasTOS: true, NextTx: 11, NextRx: 22, Sending: true, Connecting: true}
	// IPv4 connections are among the IPv6 ones too and must not come twice.
	six := Connection{Local: addr("fd00::1"), Peer: addr("fd00::2"), Transport: "tcp", NextTx: 33, NextRx: 44, Connected: true}
	i := Info{read: full().read}
	got, err := i.Connections()
	wantList(t, "all", got, err, up, busy, six)

	i.read = full().without(info6Connections).read
	got, err = i.Connections()
	wantList(t, "without IPv6", got, err, up, busy)

	k := full().without(info6Connections)
	k[infoConnections] = k[infoConnections].resized(6)
	i.read = k.read
	got, err = i.Connections()
	wantList(t, "newer kernel", got, err, up, busy)

	k[infoConnections] = full()[infoConnections].resized(-1)
	got, err = i.Connections()
	up.TOS, up.HasTOS, busy.HasTOS = 0, false, false
	wantList(t, "older kernel", got, err, up, busy)
}

func TestCounters(t *testing.T) {
	i := Info{read: full().read}
	got, err := i.Counters()
	wantList(t, "counters", got, err, Counter{"conn_reset", 5}, Counter{"recv_drop_no_sock", 7})
}

func TestSockets(t *testing.T) {
	four := SocketInfo{Local: addrPort("10.0.0.1:4000"), SendBuffer: 1000, ReceiveBuffer: 2000, Inode: 77}
	six := SocketInfo{Local: addrPort("[fd00::1]:4001"), Peer: addrPort("[fd00::2]:5001"), SendBuffer: 1001, ReceiveBuffer: 2001, Inode: 78}
	unbound := SocketInfo{SendBuffer: 1, ReceiveBuffer: 2, Inode: 79}
	i := Info{read: full().read}
	got, err := i.Sockets()
	wantList(t, "all", got, err, four, six, unbound)
	if unbound.Local.IsValid() || four.Peer.IsValid() {
		t.Error("an address that is not there is valid")
	}
	i.inode = 79
	got, err = i.Sockets()
	wantList(t, "without its own", got, err, four, six)
	i.read = full().without(info6Sockets).read
	got, err = i.Sockets()
	wantList(t, "without IPv6", got, err, four)
}

func TestMessages(t *testing.T) {
	i := Info{read: full().read}
	for q, want := range map[Queue]MessageInfo{
		QueueSend:       {addrPort("10.0.0.1:4000"), addrPort("10.0.0.2:5000"), 8, 100, 6, true},
		QueueRetransmit: {addrPort("[fd00::1]:4001"), addrPort("[fd00::2]:5001"), 9, 101, 0, true},
		QueueReceive:    {addrPort("[fd00::1]:4002"), addrPort("[fd00::2]:5002"), 10, 1 << 20, 1, true},
	} {
		got, err := i.Messages(q)
		wantList(t, q.String(), got, err, want)
	}
	k := full()
	k[info6SendMessages] = k[info6SendMessages].resized(-1)
	i.read = k.read
	got, err := i.Messages(QueueSend)
	wantList(t, "older kernel", got, err, MessageInfo{addrPort("10.0.0.1:4000"), addrPort("10.0.0.2:5000"), 8, 100, 0, false})

	// The kernel then has no addresses: they are not taken for 0.0.0.0.
	i.read = full().without(info6SendMessages).read
	got, err = i.Messages(QueueSend)
	if err != nil || len(got) != 1 || got[0].Local.IsValid() || got[0].Peer.Port() != 5000 || got[0].TOS != 6 {
		t.Errorf("without IPv6: %+v, %v", got, err)
	}
	if _, err := i.Messages(queues); err == nil {
		t.Error("a queue that does not exist was read")
	}
	if q := Queues(); len(q) != int(queues) || q[0].String() != "send" || queues.String() != "queue 3" {
		t.Errorf("queues %v", q)
	}
}

func TestTCPSockets(t *testing.T) {
	four := TCPSocket{addrPort("10.0.0.1:16385"), addrPort("10.0.0.2:40000"), 48, 1 << 33, 1, 2, 3, 9, true}
	// The third of IPv6 is an IPv4 one that has no peer yet.
	six := TCPSocket{addrPort("[fd00::1]:16385"), addrPort("[fd00::2]:40001"), 0, 5, 4, 5, 6, 0, false}
	i := Info{read: full().read}
	got, err := i.TCPSockets()
	wantList(t, "all", got, err, four, six)
	i.read = full().without(infoTCPSockets, info6TCPSockets).read
	if _, err := i.TCPSockets(); !errors.Is(err, ErrNoInfo) {
		t.Errorf("without rds_tcp: %v", err)
	}
	k := full().without(info6TCPSockets)
	k[infoTCPSockets] = k[infoTCPSockets].resized(-1)
	i.read = k.read
	got, err = i.TCPSockets()
	four.TOS, four.HasTOS = 0, false
	wantList(t, "older kernel", got, err, four)
}

func TestIBConnections(t *testing.T) {
	four := IBConnection{
		addr("10.0.0.1"), addr("10.0.0.2"), addr("::ffff:10.0.0.1"), addr("::ffff:10.0.0.2"),
		256, 1024, 8, 8192, 257, 2, 1, true, 64,
	}
	down := IBConnection{Local: addr("fd00::1"), Peer: addr("fd00::2"), HasTOS: true}
	i := Info{read: full().read}
	got, err := i.IBConnections()
	wantList(t, "all", got, err, four, down)
	i.read = full().without(info6IBConnections).read
	four.LocalGID, four.PeerGID = addr("fe80::1"), addr("fe80::2")
	got, err = i.IBConnections()
	wantList(t, "without IPv6", got, err, four)
	k := full().without(info6IBConnections)
	k[infoIBConnections] = k[infoIBConnections].resized(-8)
	i.read = k.read
	four.TOS, four.SL, four.HasTOS, four.CacheKiB = 0, 0, false, 0
	got, err = i.IBConnections()
	wantList(t, "older kernel", got, err, four)
}

// reads has each way to read a list, by the options that it needs.
func reads(i *Info) map[int]func() error {
	return map[int]func() error{
		infoCounters:         func() error { _, err := i.Counters(); return err },
		infoConnections:      func() error { _, err := i.Connections(); return err },
		info6Connections:     func() error { _, err := i.Connections(); return err },
		info6Sockets:         func() error { _, err := i.Sockets(); return err },
		info6SendMessages:    func() error { _, err := i.Messages(QueueSend); return err },
		info6RetransMessages: func() error { _, err := i.Messages(QueueRetransmit); return err },
		info6RecvMessages:    func() error { _, err := i.Messages(QueueReceive); return err },
		infoTCPSockets:       func() error { _, err := i.TCPSockets(); return err },
		info6TCPSockets:      func() error { _, err := i.TCPSockets(); return err },
		info6IBConnections:   func() error { _, err := i.IBConnections(); return err },
	}
}

// Items that are longer than known are taken, shorter ones and broken lists are
// refused, whichever list it is.
func TestItemSizes(t *testing.T) {
	for opt := range reads(&Info{}) {
		for _, c := range []struct {
			grow int
			want error
		}{{16, nil}, {-9, ErrMalformed}} {
			k := full()
			k[opt] = k[opt].resized(c.grow)
			if err := reads(&Info{read: k.read})[opt](); !errors.Is(err, c.want) {
				t.Errorf("option %d with items of %+d bytes: %v", opt, c.grow, err)
			}
		}
		k := full()
		k[opt] = snapshot{k[opt].b[1:], k[opt].each}
		if err := reads(&Info{read: k.read})[opt](); !errors.Is(err, ErrMalformed) {
			t.Errorf("option %d without its first byte: %v", opt, err)
		}
	}
}

func FuzzInfo(f *testing.F) {
	for _, s := range full() {
		f.Add(s.b, s.each)
	}
	f.Fuzz(func(t *testing.T, b []byte, each int) {
		i := Info{read: func(int) (snapshot, error) { return snapshot{b, each}, nil }}
		for opt, read := range reads(&i) {
			if err := read(); err != nil && !errors.Is(err, ErrMalformed) {
				t.Fatalf("option %d: untyped error %v", opt, err)
			}
		}
	})
}
