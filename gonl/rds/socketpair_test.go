// SPDX-License-Identifier: MIT

package rds

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pair gives a Socket whose descriptor is one end of a Unix SEQPACKET pair: it
// has the same blocking behaviour and needs no RDS in the kernel. The other
// end is returned as it is.
func pair(t *testing.T) (*Socket, int) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &Socket{
		reading: make(chan struct{}, 1), writing: make(chan struct{}, 1),
		regions: map[uint32]*Buffer{}, congested: make(chan struct{}),
		file: os.NewFile(uintptr(fds[0]), "pair"),
	}
	if err := s.send.init(); err != nil {
		t.Fatal(err)
	}
	if s.raw, err = s.file.SyscallConn(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Close(fds[1]); err != nil {
			t.Error(err)
		}
	})
	return s, fds[1]
}

func TestReceiveWaitsAndCancels(t *testing.T) {
	s, fd := pair(t)
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	for range 3 { // a deadline must not stick
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		if _, err := s.Receive(ctx, make([]byte, 8)); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("receive: %v, want deadline exceeded", err)
		}
		cancel()
	}
	done := make(chan error, 1)
	buf := make([]byte, 8)
	go func() {
		r, err := s.Receive(t.Context(), buf)
		if err == nil && (r.N != 3 || r.IsMessage() || r.Truncated) {
			err = errors.New("wrong result")
		}
		done <- err
	}()
	if err := unix.Send(fd, []byte("abc"), 0); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil || !bytes.HasPrefix(buf, []byte("abc")) {
		t.Fatalf("receive: %v, %q", err, buf)
	}
	if err := unix.Send(fd, []byte("0123456789"), 0); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Receive(t.Context(), buf); err != nil || !r.Truncated || r.N != 8 {
		t.Fatalf("long message: %+v, %v", r, err)
	}
}

func TestCloseWakesReceive(t *testing.T) {
	s, _ := pair(t)
	done := make(chan error, 1)
	go func() {
		_, err := s.Receive(context.Background(), make([]byte, 8))
		done <- err
	}()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, os.ErrClosed) {
		t.Fatalf("receive: %v, want os.ErrClosed", err)
	}
	if _, err := s.TrySend(Message{To: netip.MustParseAddrPort("10.0.0.1:1")}); !errors.Is(err, os.ErrClosed) {
		t.Fatalf("send: %v, want os.ErrClosed", err)
	}
}

func TestWaitWritable(t *testing.T) {
	s, fd := pair(t)
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	fill := func() (n int) {
		for {
			var err error
			if cerr := s.raw.Control(func(fd uintptr) { err = unix.Send(int(fd), make([]byte, 1000), unix.MSG_DONTWAIT) }); cerr != nil {
				t.Fatal(cerr)
			}
			if err == unix.EAGAIN {
				return n
			}
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	n := fill()
	if full, err := s.sendBufferFull(); err != nil || !full {
		t.Fatalf("full %v, %v after %d messages", full, err, n)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if err := s.waitWritable(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("wait: %v, want deadline exceeded", err)
	}
	done := make(chan error, 1)
	go func() { done <- s.waitWritable(t.Context()) }()
	for range n {
		if _, err := unix.Read(fd, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// TestPrepare looks at the message header as the kernel would see it.
func TestPrepare(t *testing.T) {
	b, err := NewBuffer(4096)
	if err != nil {
		t.Fatal(err)
	}
	var st sendState
	if err := st.init(); err != nil {
		t.Fatal(err)
	}
	to := netip.MustParseAddrPort("10.0.0.2:4000")
	h, err := st.prepare(Message{To: to, RDMA: &RDMA{
		Local: []Segment{{b, 0, 16}, {b, 64, 32}}, Remote: 9, RemoteOffset: 128, Flags: NotifyMe, Token: 77,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if h.Iovlen != 0 || h.Namelen != sizeSockaddr4 || int(h.Controllen) != cmsgSpace(sizeRDMAArgs) {
		t.Errorf("header %+v", h)
	}
	base := Segment{b, 0, 1}.vec().addr
	want := append(appendCmsgHdr(nil, cmsgRDMAArgs, sizeRDMAArgs),
		words(9, 128, 48, st.scratchAddr(scratchSegments), 2, 0x20, 77)...)
	if !bytes.Equal(st.oob, want) {
		t.Errorf("control % x, want % x", st.oob, want)
	}
	if got := st.scratch[scratchSegments : scratchSegments+2*sizeIovec]; !bytes.Equal(got, words(base, 16, base+64, 32)) {
		t.Errorf("segments % x", got)
	}
	h, err = st.prepare(Message{To: to, Payload: []byte("x"), Map: &Map{Segment: Segment{b, 1, 2}, Flags: UseOnce}})
	if err != nil {
		t.Fatal(err)
	}
	want = append(appendCmsgHdr(nil, cmsgRDMAMap, sizeGetMR), words(base+1, 2, st.scratchAddr(0), 8)...)
	if h.Iovlen != 1 || !bytes.Equal(st.oob, want) {
		t.Errorf("map: %+v, control % x", h, st.oob)
	}
	h, err = st.prepare(Message{To: to})
	if err != nil || h.Control != nil || h.Controllen != 0 {
		t.Errorf("plain message has control data: %+v, %v", h, err)
	}
	if _, err := st.prepare(Message{}); err == nil {
		t.Error("message without destination accepted")
	}
	if err := errors.Join(st.close(), b.Close()); err != nil {
		t.Error(err)
	}
}
