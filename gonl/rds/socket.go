// SPDX-License-Identifier: MIT

package rds

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Config has the options of a socket. The zero value is a good default.
type Config struct {
	// Transport demands a transport; TransportAny leaves the choice to the
	// kernel, which goes by the address.
	Transport Transport
	// SendBuffer and ReceiveBuffer are in bytes, 0 for the kernel's default. A
	// message larger than the send buffer cannot be sent; a receive buffer that
	// is full makes the port congested. Without CAP_NET_ADMIN the kernel caps
	// them at net.core.wmem_max and rmem_max.
	SendBuffer, ReceiveBuffer int
	// ReceiveErrors asks for completions of failed RDMA operations that did not
	// ask for a notification.
	ReceiveErrors bool
	// TOS is the type of service, which RDS over InfiniBand makes the service
	// level of the traffic. Each has a connection of its own between two
	// addresses. Over TCP it means nothing.
	TOS uint8
	// OnCall is called after each system call on the bound socket, except those
	// of the Go runtime (epoll_wait) and the close, by the goroutine that made
	// it. It must return soon and must not use the socket.
	OnCall func(Call)
}

// Socket is a bound AF_RDS socket. Its methods are safe for concurrent use.
type Socket struct {
	file  *os.File
	raw   syscall.RawConn
	local netip.AddrPort

	reading chan struct{} // holds one token: one goroutine waits to receive
	writing chan struct{} // the same for sending

	send sendState

	closed atomic.Bool
	onCall func(Call) // may be nil

	mu        sync.Mutex
	regions   map[uint32]*Buffer // by key
	congested chan struct{}      // closed and replaced at a congestion update
}

// Listen opens a socket and binds it to a local address. Port 0 lets the kernel
// choose one; see [Socket.LocalAddr]. RDS has no wildcard address: every socket
// is bound to one address.
func Listen(addr netip.AddrPort, cfg Config) (*Socket, error) {
	if !addr.IsValid() || addr.Addr().IsUnspecified() {
		return nil, errors.New("rds: bind: RDS has no wildcard address: give one address of this host")
	}
	fd, err := unix.Socket(unix.AF_RDS, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, &Error{Op: opSocket, Err: err}
	}
	s, err := setUp(fd, addr, cfg)
	if err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return s, nil
}

func setUp(fd int, addr netip.AddrPort, cfg Config) (*Socket, error) {
	if err := applyConfig(fd, cfg); err != nil {
		return nil, err
	}
	sa, err := appendSockaddr(nil, addr)
	if err != nil {
		return nil, err
	}
	if err := bind(fd, sa); err != nil {
		return nil, &Error{Op: opBind, Addr: addr, Err: err}
	}
	// Only a bound socket has a transport, which has the last word on it.
	if cfg.TOS != 0 {
		if err := setTOS(fd, cfg.TOS); err != nil {
			return nil, &Error{Op: opSetTOS, Addr: addr, Err: err}
		}
	}
	sa, err = getsockname(fd)
	if err != nil {
		return nil, &Error{Op: opGetOption, Err: err}
	}
	local, err := parseSockaddr(sa)
	if err != nil {
		return nil, err
	}
	s := &Socket{
		local:     local,
		reading:   make(chan struct{}, 1),
		writing:   make(chan struct{}, 1),
		regions:   make(map[uint32]*Buffer),
		congested: make(chan struct{}),
		onCall:    cfg.OnCall,
	}
	if err := s.send.init(); err != nil {
		return nil, err
	}
	// os.NewFile registers a non-blocking descriptor with the runtime's poller.
	s.file = os.NewFile(uintptr(fd), "rds "+local.String())
	if s.raw, err = s.file.SyscallConn(); err != nil {
		return nil, errors.Join(err, s.send.close())
	}
	return s, nil
}

func applyConfig(fd int, cfg Config) error {
	if cfg.Transport != TransportAny {
		n, ok := cfg.Transport.kernelNumber()
		if !ok {
			return fmt.Errorf("rds: transport %v cannot be asked for", cfg.Transport)
		}
		if err := unix.SetsockoptInt(fd, solRDS, optTransport, n); err != nil {
			return &Error{Op: opSetTransport, Err: err}
		}
	}
	if err := setBuffer(fd, unix.SO_SNDBUFFORCE, unix.SO_SNDBUF, cfg.SendBuffer); err != nil {
		return err
	}
	if err := setBuffer(fd, unix.SO_RCVBUFFORCE, unix.SO_RCVBUF, cfg.ReceiveBuffer); err != nil {
		return err
	}
	if cfg.ReceiveErrors {
		if err := unix.SetsockoptInt(fd, solRDS, optRecvErr, 1); err != nil {
			return &Error{Op: opSetOption, Err: err}
		}
	}
	// With the runtime's poller there is no other way to learn that a
	// destination is free again: RDS adds a poller to the queue that is woken
	// at congestion updates only when it was congested at that very moment,
	// and epoll asks just once, when the descriptor is added.
	if err := unix.SetsockoptInt(fd, solRDS, optCongMonitor, 1); err != nil {
		return &Error{Op: opSetOption, Err: err}
	}
	return nil
}

// setBuffer sizes a buffer beyond the system's limit where the process may.
func setBuffer(fd, force, plain, size int) error {
	if size == 0 {
		return nil
	}
	err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, force, size)
	if errors.Is(err, unix.EPERM) {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, plain, size)
	}
	if err != nil {
		return &Error{Op: opSetOption, Err: err}
	}
	return nil
}

// LocalAddr returns the bound address and port.
func (s *Socket) LocalAddr() netip.AddrPort { return s.local }

// Close closes the socket. The kernel then drops messages that have not been
// sent, cancels what it can and releases every region that the socket has
// registered. Calls that wait return os.ErrClosed.
func (s *Socket) Close() error {
	if s.closed.Swap(true) {
		return os.ErrClosed
	}
	if err := s.file.Close(); err != nil {
		return err
	}
	s.writing <- struct{}{} // nobody uses the scratch memory any more
	defer func() { <-s.writing }()
	s.mu.Lock()
	for key, b := range s.regions {
		delete(s.regions, key)
		b.unref()
	}
	s.mu.Unlock()
	return s.send.close()
}

// Transport returns what carries the socket's messages.
func (s *Socket) Transport() (Transport, error) {
	n, err := s.getInt(solRDS, optTransport)
	if err != nil {
		return TransportAny, err
	}
	t, ok := transportOf(n)
	if !ok {
		return TransportAny, fmt.Errorf("rds: %w: transport number %d", ErrMalformed, n)
	}
	return t, nil
}

// SendBuffer returns how many bytes of unacknowledged messages the socket
// takes; a larger message cannot be sent at all.
func (s *Socket) SendBuffer() (int, error) {
	n, err := s.getInt(unix.SOL_SOCKET, unix.SO_SNDBUF)
	return n / 2, err // RDS counts half of what the option says
}

// ReceiveBuffer returns how many bytes of received messages make the socket's
// port congested.
func (s *Socket) ReceiveBuffer() (int, error) {
	n, err := s.getInt(unix.SOL_SOCKET, unix.SO_RCVBUF)
	return n / 2, err
}

func (s *Socket) getInt(level, opt int) (n int, err error) {
	cerr := s.raw.Control(func(fd uintptr) {
		err = s.call(CallGetsockopt, func() (err error) {
			n, err = unix.GetsockoptInt(int(fd), level, opt)
			return err
		})
	})
	if cerr != nil {
		return 0, s.fileError(cerr)
	}
	if err != nil {
		return 0, &Error{Op: opGetOption, Err: err}
	}
	return n, nil
}

// setOpt sets an RDS option with a structure as its value.
func (s *Socket) setOpt(op string, addr netip.AddrPort, opt int, val []byte) error {
	kind := CallSetsockopt
	switch op {
	case opGetMR:
		kind = CallGetMR
	case opFreeMR:
		kind = CallFreeMR
	}
	v := string(val)
	var err error
	cerr := s.raw.Control(func(fd uintptr) {
		err = s.call(kind, func() error { return unix.SetsockoptString(int(fd), solRDS, opt, v) })
	})
	if cerr != nil {
		return s.fileError(cerr)
	}
	if err != nil {
		return &Error{Op: op, Addr: addr, Err: err}
	}
	return nil
}

// CancelSentTo drops every message to dest that its host has not acknowledged
// yet. RDMA operations among them complete with [StatusCanceled].
func (s *Socket) CancelSentTo(dest netip.AddrPort) error {
	sa, err := appendSockaddr(nil, dest)
	if err != nil {
		return err
	}
	return s.setOpt(opCancel, dest, optCancelSentTo, sa)
}

// fileError gives an error of the raw connection its public name: on a closed
// file that one comes unwrapped out of a package internal to Go.
func (s *Socket) fileError(err error) error {
	if err != nil && s.closed.Load() {
		return os.ErrClosed
	}
	return err
}

// acquire takes the token of c, or gives up with the context.
func acquire(ctx context.Context, c chan struct{}) error {
	select {
	case c <- struct{}{}:
		return nil
	default:
	}
	select {
	case c <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// untilDone runs wait, which blocks in the poller, and interrupts it by means of
// the deadline when ctx is done. The caller holds the token for this deadline.
func untilDone(ctx context.Context, setDeadline func(time.Time) error, wait func() error) error {
	if ctx.Done() == nil {
		return wait()
	}
	fired := make(chan struct{})
	var derr error
	stop := context.AfterFunc(ctx, func() {
		derr = setDeadline(time.Unix(1, 0)) // long ago: wakes the poller
		close(fired)
	})
	err := wait()
	if !stop() {
		<-fired
		derr = errors.Join(derr, setDeadline(time.Time{}))
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = ctx.Err()
		}
		if err == nil && derr != nil && !errors.Is(derr, os.ErrClosed) {
			err = derr
		}
	}
	return err
}
