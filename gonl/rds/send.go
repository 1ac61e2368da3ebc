// SPDX-License-Identifier: MIT

package rds

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// Message is what Send sends. At most one of Map, Dest and RDMA may be set.
type Message struct {
	To      netip.AddrPort
	Payload []byte // up to MaxMessage bytes; none is allowed

	Map  *Map   // register memory and announce it
	Dest Cookie // announce memory that is registered already
	RDMA *RDMA  // access the peer's memory, then deliver the message
}

// Map registers a segment. The kernel puts the cookie into the message's header.
type Map struct {
	Segment Segment
	Flags   Flags // ReadWrite, Invalidate, UseOnce
}

// RDMA accesses memory of the peer. The message arrives after a write, and with
// Fence after a read; its arrival releases a use-once region.
type RDMA struct {
	Local        []Segment // 1 to 1024; together up to MaxMessage bytes
	Remote       Cookie    // as received from the peer
	RemoteOffset uint64    // in bytes from the start of the announced memory
	Flags        Flags     // ReadWrite, Fence, NotifyMe, Silent
	Token        uint64    // comes back in the Completion
}

// Sent says how a message was sent.
type Sent struct {
	Cookie  Cookie        // of the region, if Map was given
	Elapsed time.Duration // of the system call that succeeded
}

// Back-off where no event tells when to try again.
const (
	backoffMin = 200 * time.Microsecond
	backoffMax = 50 * time.Millisecond
)

// Send sends a message and waits, as long as ctx allows, for room in the send
// buffer, for the connection that a registration needs, and for the destination
// to be no longer congested. When ctx ends first, the error wraps both ctx.Err()
// and the reason. The kernel has then kept nothing of the message.
func (s *Socket) Send(ctx context.Context, m Message) (Sent, error) {
	delay := backoffMin
	for {
		update := s.congestionUpdate()
		sent, err := s.TrySend(m)
		switch {
		case err == nil:
			return sent, nil
		case errors.Is(err, ErrNotReady):
			full, werr := s.sendBufferFull()
			if werr != nil {
				return Sent{}, werr
			}
			if full {
				if werr := s.waitWritable(ctx); werr != nil {
					return Sent{}, fmt.Errorf("%w: %w", werr, err)
				}
				continue
			}
			update = nil
		case !errors.Is(err, ErrCongested):
			return Sent{}, err
		}
		t := time.NewTimer(delay)
		select {
		case <-t.C:
		case <-update:
		case <-ctx.Done():
			t.Stop()
			return Sent{}, fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		t.Stop()
		delay = min(2*delay, backoffMax)
	}
}

// TrySend sends a message or returns at once, with [ErrNotReady] or
// [ErrCongested] where Send would wait. "At once" excludes the registration
// itself, for which the kernel waits.
func (s *Socket) TrySend(m Message) (Sent, error) {
	if err := m.check(); err != nil {
		return Sent{}, err
	}
	s.writing <- struct{}{}
	defer func() { <-s.writing }()
	h, err := s.send.prepare(m)
	if err != nil {
		return Sent{}, err
	}
	var sent Sent
	cerr := s.raw.Control(func(fd uintptr) {
		start := time.Now()
		_, err = sendmsg(int(fd), h)
		sent.Elapsed = time.Since(start)
		if s.onCall != nil {
			s.onCall(Call{Kind: CallSendmsg, Elapsed: sent.Elapsed, Err: err})
		}
	})
	if cerr != nil {
		return Sent{}, s.fileError(cerr)
	}
	if err != nil {
		return Sent{}, &Error{Op: opSend, Addr: m.To, Err: err}
	}
	if m.Map != nil {
		sent.Cookie = s.send.cookie()
		s.addRegion(sent.Cookie, m.Map.Segment.Buffer)
	}
	return sent, nil
}

func (m *Message) check() error {
	n := 0
	if m.Map != nil {
		n++
		if err := m.Map.Segment.check(); err != nil {
			return err
		}
	}
	if m.Dest != 0 {
		n++
	}
	if m.RDMA != nil {
		n++
		if err := m.RDMA.check(); err != nil {
			return err
		}
	}
	if n > 1 {
		return errors.New("rds: send: at most one of Map, Dest and RDMA may be set")
	}
	if len(m.Payload) > MaxMessage {
		return &Error{Op: opSend, Addr: m.To, Err: unix.EMSGSIZE}
	}
	return nil
}

func (r *RDMA) check() error {
	if len(r.Local) == 0 || len(r.Local) > maxSegments {
		return fmt.Errorf("rds: RDMA with %d local segments: must be 1 to %d", len(r.Local), maxSegments)
	}
	if r.Flags&^allFlags != 0 {
		return fmt.Errorf("rds: unknown flags %#x", uint64(r.Flags&^allFlags))
	}
	total := 0
	for _, s := range r.Local {
		if err := s.check(); err != nil {
			return err
		}
		total += s.Length
	}
	if total > MaxMessage {
		return &Error{Op: opSend, Err: unix.EMSGSIZE}
	}
	return nil
}

func (r *RDMA) bytes() (n uint64) {
	for _, s := range r.Local {
		n += uint64(s.Length)
	}
	return n
}

func (s *Socket) sendBufferFull() (full bool, err error) {
	err = s.raw.Control(func(fd uintptr) { full = !s.pollOut(int(fd)) })
	return full, s.fileError(err)
}

// waitWritable waits in the runtime's poller for room in the send buffer.
func (s *Socket) waitWritable(ctx context.Context) error {
	if err := acquire(ctx, s.writing); err != nil {
		return err
	}
	defer func() { <-s.writing }()
	return s.fileError(untilDone(ctx, s.file.SetWriteDeadline, func() error {
		return s.raw.Write(func(fd uintptr) bool { return s.pollOut(int(fd)) })
	}))
}

func (s *Socket) pollOut(fd int) bool {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	n := 0
	err := s.call(CallPoll, func() (err error) {
		n, err = unix.Poll(p, 0)
		return err
	})
	// On an error let the next sendmsg say what is wrong.
	return err != nil || n > 0
}

// congestionUpdate returns a channel that is closed at the next update.
func (s *Socket) congestionUpdate() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.congested
}

func (s *Socket) wakeCongested() {
	s.mu.Lock()
	close(s.congested)
	s.congested = make(chan struct{})
	s.mu.Unlock()
}
