// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/rds-ext/rds_ext/gonl/rds"
)

// fakeInfo is RDS in memory.
type fakeInfo struct {
	counters []rds.Counter
	conns    []rds.Connection
	socks    []rds.SocketInfo
	queues   map[rds.Queue][]rds.MessageInfo
	ib       []rds.IBConnection
	tcp      []rds.TCPSocket
	err      error // of every call

	mu     sync.Mutex // scrapes can come at once
	closed int
}

func (f *fakeInfo) Counters() ([]rds.Counter, error)       { return f.counters, f.err }
func (f *fakeInfo) Connections() ([]rds.Connection, error) { return f.conns, f.err }
func (f *fakeInfo) Sockets() ([]rds.SocketInfo, error)     { return f.socks, f.err }

func (f *fakeInfo) Messages(q rds.Queue) ([]rds.MessageInfo, error) { return f.queues[q], f.err }

// A transport that is not loaded has no list.
func (f *fakeInfo) IBConnections() ([]rds.IBConnection, error) {
	if f.ib == nil {
		return nil, &rds.Error{Op: "info", Err: syscall.ENOPROTOOPT}
	}
	return f.ib, f.err
}

func (f *fakeInfo) TCPSockets() ([]rds.TCPSocket, error) {
	if f.tcp == nil {
		return nil, &rds.Error{Op: "info", Err: syscall.ENOPROTOOPT}
	}
	return f.tcp, f.err
}

func (f *fakeInfo) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed++
	return nil
}

// newFakeInfo tells of the connections of newFake, but for the passive one.
func newFakeInfo() *fakeInfo {
	one, two := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	six1, six2 := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	message := func(local, peer string, seq uint64, length uint32) rds.MessageInfo {
		return rds.MessageInfo{
			Local: netip.MustParseAddrPort(local), Peer: netip.MustParseAddrPort(peer), Sequence: seq, Length: length, HasTOS: true,
		}
	}
	urgent := message("192.0.2.1:4000", "192.0.2.33:5000", 3, 30)
	urgent.TOS = 4
	return &fakeInfo{
		counters: []rds.Counter{
			{Name: "conn_reset", Value: 1}, {Name: "recv_drop_bad_checksum"}, {Name: "send_queued", Value: 1 << 40},
			{Name: "ib_tx_ring_full", Value: 7},
		},
		conns: []rds.Connection{
			{Local: one, Peer: two, Transport: "infiniband", HasTOS: true, NextTx: 1001, NextRx: 2002, Sending: true, Connected: true},
			{Local: one, Peer: netip.MustParseAddr("192.0.2.33"), Transport: "infiniband", TOS: 4, HasTOS: true, NextTx: 1, NextRx: 1, Connected: true},
			{Local: six1, Peer: six2, Transport: "tcp", NextTx: 1 << 63, NextRx: 5, Connecting: true},
			{Local: one, Peer: one, Transport: "loopback", HasTOS: true, NextTx: 9, NextRx: 9},
		},
		socks: []rds.SocketInfo{
			{Local: netip.MustParseAddrPort("192.0.2.1:4000"), SendBuffer: 212992, ReceiveBuffer: 1000, Inode: 34567},
			{
				Local: netip.MustParseAddrPort("[2001:db8::1]:4001"), Peer: netip.MustParseAddrPort("[2001:db8::2]:5001"),
				SendBuffer: 1, ReceiveBuffer: 2, Inode: 34568,
			},
			{SendBuffer: 3, ReceiveBuffer: 4, Inode: 34569},
		},
		queues: map[rds.Queue][]rds.MessageInfo{
			rds.QueueSend:       {message("192.0.2.1:4000", "192.0.2.2:5000", 0, 100), urgent},
			rds.QueueRetransmit: {message("192.0.2.1:4000", "192.0.2.2:5000", 1000, 4096), message("[2001:db8::1]:4001", "[2001:db8::2]:5001", 12, 0)},
			rds.QueueReceive:    {message("192.0.2.1:4000", "192.0.2.2:5000", 2000, 1000), message("192.0.2.1:4000", "192.0.2.2:5000", 2001, 1)},
		},
		ib: []rds.IBConnection{
			{
				Local: one, Peer: two, LocalGID: netip.MustParseAddr("::ffff:192.0.2.1"), PeerGID: netip.MustParseAddr("::ffff:192.0.2.2"),
				MaxSendWR: 256, MaxReceiveWR: 1024, MaxSendSGE: 8, MRMax: 8192, MRSize: 257, SL: 3, HasTOS: true, CacheKiB: 64,
			},
			{Local: one, Peer: netip.MustParseAddr("192.0.2.33"), TOS: 4, HasTOS: true},
			{Local: six1, Peer: six2},
		},
		tcp: []rds.TCPSocket{
			{Local: netip.MustParseAddrPort("[2001:db8::1]:16385"), Peer: netip.MustParseAddrPort("[2001:db8::2]:40001"), DataLeft: 5, SentNext: 4, ExpectedUnacked: 5, SeenUnacked: 6},
			{Local: netip.MustParseAddrPort("192.0.2.1:16385"), Peer: netip.MustParseAddrPort("192.0.2.2:40000"), HeaderLeft: 48, TOS: 9, HasTOS: true},
		},
	}
}

// fakeProc is a procfs with three processes, two of which share a socket.
var fakeProc string

func TestMain(m *testing.M) {
	code, err := testMain(m)
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func testMain(m *testing.M) (code int, err error) {
	if fakeProc, err = os.MkdirTemp("", "rdsinfo-proc"); err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(fakeProc) }()
	for _, p := range []struct {
		pid, command string
		files        []string
	}{
		{"4711", "oracle", []string{"/dev/null", "socket:[34567]", "socket:[34567]"}},
		{"4712", "bad\t\x1b[2J", []string{"socket:[34567]", "socket:[34568]", "socket:[x]"}},
		{"1", "init", nil},
	} {
		fds := filepath.Join(fakeProc, p.pid, "fd")
		if err := os.MkdirAll(fds, 0o755); err != nil {
			return 0, err
		}
		if err := os.WriteFile(filepath.Join(fakeProc, p.pid, "comm"), []byte(p.command+"\n"), 0o644); err != nil {
			return 0, err
		}
		for i, target := range p.files {
			if err := os.Symlink(target, filepath.Join(fds, fmt.Sprint(i))); err != nil {
				return 0, err
			}
		}
	}
	return m.Run(), nil
}
