// SPDX-License-Identifier: MIT

package gonl

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// sibling opens another socket in the network namespace of l, whatever
// namespace the calling thread is in by now.
func (l *sysLink) sibling() (link, error) {
	s, err := newSysLink(0)
	if err != nil {
		return nil, err
	}
	same, err := l.sameNetns(s)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	if !same {
		if err := s.close(); err != nil {
			return nil, err
		}
		if s, err = l.enterNetns(); err != nil {
			return nil, err
		}
	}
	// A smaller buffer than asked for only makes EventLost more likely.
	if err := s.sock.SetReadBuffer(eventBuffer); err != nil {
		return nil, errors.Join(fmt.Errorf("gonl: size of the event buffer: %w", err), s.close())
	}
	return s, nil
}

// sameNetns compares the network namespaces of two sockets.
func (l *sysLink) sameNetns(o *sysLink) (bool, error) {
	a, err := l.netnsCookie()
	if err != nil {
		return false, err
	}
	b, err := o.netnsCookie()
	return a == b, err
}

// netnsCookie is a number that each network namespace has to itself.
func (l *sysLink) netnsCookie() (cookie uint64, err error) {
	err = l.control(func(fd int) error {
		var err error
		cookie, err = unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("gonl: network namespace of a socket: %w", err)
	}
	return cookie, nil
}

// enterNetns opens a socket in the namespace of l from a thread in another
// one, which needs the privilege to switch namespaces. Whoever made the thread
// switch between Dial and now had it.
func (l *sysLink) enterNetns() (*sysLink, error) {
	var ns int
	err := l.control(func(fd int) error {
		var err error
		ns, err = unix.IoctlRetInt(fd, unix.SIOCGSKNS)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("gonl: open the client's network namespace from a thread in another one: %w", err)
	}
	s, err := newSysLink(ns)
	return s, errors.Join(err, unix.Close(ns))
}

func (l *sysLink) control(f func(fd int) error) error {
	rc, err := l.sock.SyscallConn()
	if err != nil {
		return closedErr(err)
	}
	var inner error
	if err := rc.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return closedErr(err)
	}
	return inner
}
