// SPDX-License-Identifier: MIT

package rds

import (
	"errors"
	"net/netip"
	"strings"

	"golang.org/x/sys/unix"
)

// Errors to test for with errors.Is. What the kernel said is wrapped as well,
// so errors.Is(err, syscall.ENOBUFS) works too.
var (
	// ErrNotLoaded: this kernel has no RDS, or its module is not loaded.
	ErrNotLoaded = errors.New("RDS is not available: load the distribution's with `modprobe rds_rdma`, or the project's rds.ko, rds_rdma.ko and rds_ext.ko with insmod (README, \"On a machine of your own\")")
	// ErrNoTransport: no RDS transport serves the address.
	ErrNoTransport = errors.New("no RDS transport serves this address: it must be a local address of an InfiniBand or RoCE device with rds_rdma loaded (or any local address with rds_tcp loaded)")
	// ErrAddrInUse: another socket is bound to the address and port.
	ErrAddrInUse = errors.New("address and port are in use by another RDS socket")
	// ErrTooLarge: over [MaxMessage], or over the socket's send buffer.
	ErrTooLarge = errors.New("larger than RDS takes: a message or RDMA is limited to 1 MiB, and a message to the socket's send buffer (net.core.wmem_max)")
	// ErrNotReady: the send buffer is full, or a registration needs a
	// connection that is not up yet. Send waits for both.
	ErrNotReady = errors.New("not possible at the moment")
	// ErrCongested: the destination port's receive buffer is full.
	ErrCongested = errors.New("destination is congested")
	// ErrNoRDMA: the transport of the socket cannot do what was asked.
	ErrNoRDMA = errors.New("not supported by the RDS transport of this socket")
	// ErrNoMR: the socket has no registered region with this key (any more).
	ErrNoMR = errors.New("no such memory region: released already, or never registered")
	// ErrMapPermission: the process may not lock memory.
	ErrMapPermission = errors.New("registering memory needs CAP_IPC_LOCK or a non-zero memlock limit (ulimit -l)")
	// ErrBufferInUse: a registered region still refers to the buffer.
	ErrBufferInUse = errors.New("buffer is still registered")
	// ErrNoInfo: RDS has no such list at the moment.
	ErrNoInfo = errors.New("this kernel has no such list: it belongs to a transport that is not loaded (rds_rdma for IB, rds_tcp for TCP)")
	// ErrMalformed: the kernel returned something this package cannot parse.
	ErrMalformed = errors.New("malformed data from the kernel")
)

// Error is what the methods of [Socket] return when the kernel refuses.
type Error struct {
	Op   string         // "socket", "bind", "send", "receive", "free mr", ...
	Addr netip.AddrPort // local address for bind, destination for send
	Err  error          // the errno
}

// Error returns one line: operation, address, errno text, and what to do.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("rds: ")
	b.WriteString(e.Op)
	if e.Addr.IsValid() {
		b.WriteByte(' ')
		b.WriteString(e.Addr.String())
	}
	b.WriteString(": ")
	b.WriteString(e.Err.Error())
	if s := e.sentinel(); s != nil {
		b.WriteString(": ")
		b.WriteString(s.Error())
	}
	return b.String()
}

// Unwrap returns the errno.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the package error that stands for this errno in
// this operation.
func (e *Error) Is(target error) bool {
	s := e.sentinel()
	return s != nil && s == target
}

// sentinel maps errno and operation: RDS uses some errnos for several things.
func (e *Error) sentinel() error {
	var errno unix.Errno
	if !errors.As(e.Err, &errno) {
		return nil
	}
	switch e.Op {
	case opSocket:
		if errno == unix.EAFNOSUPPORT {
			return ErrNotLoaded
		}
	case opBind, opSetTransport:
		switch errno {
		case unix.EADDRNOTAVAIL, unix.ENOPROTOOPT:
			return ErrNoTransport
		case unix.EADDRINUSE:
			return ErrAddrInUse
		}
	case opFreeMR:
		if errno == unix.EINVAL {
			return ErrNoMR
		}
	case opInfo:
		if errno == unix.ENOPROTOOPT {
			return ErrNoInfo
		}
	case opSend, opGetMR:
		switch errno {
		case unix.EMSGSIZE:
			return ErrTooLarge
		case unix.EAGAIN:
			return ErrNotReady
		case unix.ENOBUFS:
			return ErrCongested
		case unix.EOPNOTSUPP:
			return ErrNoRDMA
		case unix.EPERM:
			return ErrMapPermission
		}
	}
	return nil
}

// Values of [Error.Op].
const (
	opSocket       = "socket"
	opBind         = "bind"
	opSend         = "send"
	opReceive      = "receive"
	opGetMR        = "get mr"
	opFreeMR       = "free mr"
	opFlushMRs     = "flush mrs"
	opCancel       = "cancel sent to"
	opSetTransport = "set transport"
	opSetTOS       = "set type of service"
	opSetOption    = "set option"
	opGetOption    = "get option"
	opInfo         = "info"
)
