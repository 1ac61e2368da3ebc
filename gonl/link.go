// SPDX-License-Identifier: MIT

package gonl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/mdlayher/socket"
	"golang.org/x/sys/unix"
)

// link carries datagrams to and from the kernel. Tests put recorded ones in
// its place.
type link interface {
	send(ctx context.Context, b []byte) error
	// recv returns one datagram of the kernel, which is good until the next call.
	recv(ctx context.Context) ([]byte, error)
	join(group uint32) error
	close() error
}

// maxDatagram is more than the kernel puts into one netlink datagram: dumps
// are cut at 32 KiB, and a single message of this family is far smaller.
const maxDatagram = 64 << 10

// sysLink is a generic netlink socket.
type sysLink struct {
	sock *socket.Conn
	buf  []byte
}

// newSysLink opens a socket in the network namespace of the calling thread, or
// in the one that netns, a file descriptor, refers to unless it is 0.
func newSysLink(netns int) (*sysLink, error) {
	s, err := socket.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_GENERIC,
		"gonl", &socket.Config{NetNS: netns})
	if err != nil {
		return nil, fmt.Errorf("gonl: open a netlink socket: %w", err)
	}
	l := &sysLink{sock: s, buf: make([]byte, maxDatagram)}
	if err := l.configure(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return l, nil
}

func (l *sysLink) configure() error {
	if err := l.sock.Bind(&unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("gonl: bind a netlink socket: %w", err)
	}
	for _, o := range []struct {
		name string
		opt  int
	}{
		{"NETLINK_EXT_ACK", unix.NETLINK_EXT_ACK},
		{"NETLINK_CAP_ACK", unix.NETLINK_CAP_ACK},
		{"NETLINK_GET_STRICT_CHK", unix.NETLINK_GET_STRICT_CHK},
	} {
		if err := l.sock.SetsockoptInt(unix.SOL_NETLINK, o.opt, 1); err != nil {
			return fmt.Errorf("gonl: set %s: %w", o.name, err)
		}
	}
	return nil
}

// portID is the address that the kernel gave to the socket.
func (l *sysLink) portID() (uint32, error) {
	sa, err := l.sock.Getsockname()
	if err != nil {
		return 0, fmt.Errorf("gonl: address of a netlink socket: %w", err)
	}
	nl, ok := sa.(*unix.SockaddrNetlink)
	if !ok {
		return 0, fmt.Errorf("gonl: a netlink socket has an address of type %T", sa)
	}
	return nl.Pid, nil
}

// until runs f, which uses the socket, and breaks it off when ctx ends. The
// contexts that the socket package takes are of no use here: one with a
// deadline cannot be cancelled before it, and a cancellation at the wrong
// moment leaves an expired deadline to the next call.
func (l *sysLink) until(ctx context.Context, f func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	expired := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { expired <- l.sock.SetDeadline(time.Unix(1, 0)) })
	err := f(context.Background())
	if !stop() {
		if err := errors.Join(<-expired, l.sock.SetDeadline(time.Time{})); err != nil {
			return closedErr(err)
		}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ctx.Err()
	}
	return closedErr(err)
}

func (l *sysLink) send(ctx context.Context, b []byte) error {
	return l.until(ctx, func(ctx context.Context) error {
		_, err := l.sock.Sendmsg(ctx, b, nil, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}, 0)
		return err
	})
}

func (l *sysLink) recv(ctx context.Context) ([]byte, error) {
	for {
		var n, flags int
		var from unix.Sockaddr
		err := l.until(ctx, func(ctx context.Context) (err error) {
			n, _, flags, from, err = l.sock.Recvmsg(ctx, l.buf, nil, 0)
			return err
		})
		if err != nil {
			return nil, err
		}
		if flags&unix.MSG_TRUNC != 0 {
			return nil, malformed("datagram", fmt.Errorf("longer than %d bytes", len(l.buf)))
		}
		// Another process may send to this socket too; only port 0 is the kernel.
		if nl, ok := from.(*unix.SockaddrNetlink); !ok || nl.Pid != 0 {
			continue
		}
		return l.buf[:n:n], nil
	}
}

func (l *sysLink) join(group uint32) error {
	return closedErr(l.sock.SetsockoptInt(unix.SOL_NETLINK, unix.NETLINK_ADD_MEMBERSHIP, int(group)))
}

func (l *sysLink) close() error { return l.sock.Close() }

// closedErr makes the use of a closed socket recognisable: the error numbers
// differ with the moment at which it was closed.
func closedErr(err error) error {
	if errors.Is(err, unix.EBADF) || errors.Is(err, os.ErrClosed) {
		return net.ErrClosed
	}
	return err
}
