// SPDX-License-Identifier: MIT

package rds

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestErrorMapping(t *testing.T) {
	all := []error{
		ErrNotLoaded, ErrNoTransport, ErrAddrInUse, ErrTooLarge, ErrNotReady, ErrCongested,
		ErrNoRDMA, ErrNoMR, ErrMapPermission, ErrNoInfo,
	}
	for _, tt := range []struct {
		op    string
		errno unix.Errno
		want  error
	}{
		{opSocket, unix.EAFNOSUPPORT, ErrNotLoaded},
		{opBind, unix.EADDRNOTAVAIL, ErrNoTransport},
		{opBind, unix.EADDRINUSE, ErrAddrInUse},
		{opSetTransport, unix.ENOPROTOOPT, ErrNoTransport},
		{opSend, unix.EMSGSIZE, ErrTooLarge},
		{opSend, unix.EAGAIN, ErrNotReady},
		{opSend, unix.ENOBUFS, ErrCongested},
		{opSend, unix.EOPNOTSUPP, ErrNoRDMA},
		{opSend, unix.EPERM, ErrMapPermission},
		{opGetMR, unix.EOPNOTSUPP, ErrNoRDMA},
		{opFreeMR, unix.EINVAL, ErrNoMR},
		{opInfo, unix.ENOPROTOOPT, ErrNoInfo},
		{opInfo, unix.EINVAL, nil},
		{opFreeMR, unix.EFAULT, nil},
		{opSend, unix.EINVAL, nil},
		{opReceive, unix.EAGAIN, nil},
	} {
		err := error(&Error{Op: tt.op, Err: tt.errno})
		for _, s := range all {
			if got := errors.Is(err, s); got != (s == tt.want) {
				t.Errorf("%s %v is %q: %v", tt.op, tt.errno, s, got)
			}
		}
		if !errors.Is(err, tt.errno) {
			t.Errorf("%s %v: errno lost", tt.op, tt.errno)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q has more than one line", err)
		}
	}
}

func TestMessageCheck(t *testing.T) {
	b, err := NewBuffer(MaxMessage)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	seg := Segment{b, 0, 10}
	whole := Segment{b, 0, MaxMessage}
	for name, m := range map[string]Message{
		"map and dest":     {Map: &Map{Segment: seg}, Dest: 1},
		"map and rdma":     {Map: &Map{Segment: seg}, RDMA: &RDMA{Local: []Segment{seg}}},
		"no local":         {RDMA: &RDMA{}},
		"too many":         {RDMA: &RDMA{Local: make([]Segment, maxSegments+1)}},
		"empty segment":    {RDMA: &RDMA{Local: []Segment{{}}}},
		"unknown flag":     {RDMA: &RDMA{Local: []Segment{seg}, Flags: 1 << 40}},
		"map of nothing":   {Map: &Map{}},
		"rdma too large":   {RDMA: &RDMA{Local: []Segment{whole, seg}}},
		"payload too long": {Payload: make([]byte, MaxMessage+1)},
	} {
		if err := m.check(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	long := Message{RDMA: &RDMA{Local: []Segment{whole, seg}}}
	if err := long.check(); !errors.Is(err, ErrTooLarge) {
		t.Errorf("rdma too large: %v, want ErrTooLarge", err)
	}
	ok := Message{RDMA: &RDMA{Local: []Segment{whole}, Flags: ReadWrite | NotifyMe}}
	if err := ok.check(); err != nil {
		t.Error(err)
	}
}

// TestListenHere: whatever this host has, the answer is typed and clear.
func TestListenHere(t *testing.T) {
	if _, err := Listen(netip.MustParseAddrPort("0.0.0.0:4000"), Config{}); err == nil {
		t.Error("wildcard address accepted")
	}
	s, err := Listen(netip.MustParseAddrPort("127.0.0.1:0"), Config{})
	if errors.Is(err, ErrNotLoaded) || errors.Is(err, ErrNoTransport) {
		t.Logf("this host: %v", err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	// A message to oneself, over the loopback transport.
	ctx, cancel := context.WithTimeout(t.Context(), 5e9)
	defer cancel()
	if _, err := s.Send(ctx, Message{To: s.LocalAddr(), Payload: []byte("hello")}); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 16)
	r, err := s.Receive(ctx, buf)
	if err != nil || string(buf[:r.N]) != "hello" || r.From != s.LocalAddr() {
		t.Fatalf("received %+v %q, %v", r, buf[:r.N], err)
	}
}
