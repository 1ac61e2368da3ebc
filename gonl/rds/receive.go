// SPDX-License-Identifier: MIT

package rds

import (
	"context"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Received is what one Receive returned: a message if From is valid, else only
// notifications.
type Received struct {
	From      netip.AddrPort
	N         int  // bytes of payload stored
	Truncated bool // the payload was longer than the buffer

	Cookie    Cookie // memory that the peer announced
	HasCookie bool

	Completions []Completion // of this socket's RDMA operations
	Congestion  uint64       // groups of ports that are free again, see CongestionBit
}

// IsMessage reports whether a peer's message was received.
func (r *Received) IsMessage() bool { return r.From.IsValid() }

// maxCompletions is how many completions one Receive takes. The kernel keeps
// the others for the next.
const maxCompletions = 64

// Receive waits for a message or a notification. The kernel delivers
// notifications first, and never together with a message. buf receives the
// payload; a message that is longer is truncated.
func (s *Socket) Receive(ctx context.Context, buf []byte) (Received, error) {
	if err := acquire(ctx, s.reading); err != nil {
		return Received{}, err
	}
	defer func() { <-s.reading }()
	var (
		r   Received
		err error
	)
	werr := untilDone(ctx, s.file.SetReadDeadline, func() error {
		return s.raw.Read(func(fd uintptr) bool {
			r, err = s.receive(int(fd), buf)
			return err != unix.EAGAIN
		})
	})
	if werr != nil {
		return Received{}, s.fileError(werr)
	}
	if errno, ok := err.(unix.Errno); ok {
		return Received{}, &Error{Op: opReceive, Addr: s.local, Err: errno}
	}
	if err == nil && r.Congestion != 0 {
		s.wakeCongested()
	}
	return r, err
}

// receive makes one recvmsg.
func (s *Socket) receive(fd int, buf []byte) (Received, error) {
	var (
		n    int
		name [sizeSockaddr6]byte
		oob  [maxCompletions * (sizeCmsgHdr + sizeStatus)]byte
		h    = unix.Msghdr{Name: &name[0], Namelen: uint32(len(name)), Control: &oob[0]}
		iov  unix.Iovec
	)
	h.SetControllen(len(oob))
	if len(buf) > 0 {
		iov.Base = &buf[0]
		iov.SetLen(len(buf))
		h.Iov = &iov
		h.SetIovlen(1)
	}
	err := s.call(CallRecvmsg, func() (err error) {
		n, err = recvmsg(fd, &h)
		return err
	})
	if err != nil {
		return Received{}, err
	}
	if h.Flags&unix.MSG_CTRUNC != 0 {
		return Received{}, fmt.Errorf("rds: receive: %w: control messages over %d bytes", ErrMalformed, len(oob))
	}
	from, err := parseSockaddr(name[:min(int(h.Namelen), len(name))])
	if err != nil {
		return Received{}, fmt.Errorf("rds: receive: %w: %w", ErrMalformed, err)
	}
	c, err := parseControl(oob[:min(int(h.Controllen), len(oob))])
	if err != nil {
		return Received{}, fmt.Errorf("rds: receive: %w", err)
	}
	return Received{
		From: from, N: min(n, len(buf)), Truncated: h.Flags&unix.MSG_TRUNC != 0,
		Cookie: c.cookie, HasCookie: c.hasCookie,
		Completions: c.completions, Congestion: c.congestion,
	}, nil
}
