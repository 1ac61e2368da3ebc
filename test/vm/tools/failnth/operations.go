// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/rds-ext/rds_ext/gonl/rds"
)

// An operation is a call and what has to follow it, whatever became of it.
type operation struct {
	call func() error
	undo func(callErr error) error
}

// operations prepare a call, by what it does.
var operations = map[string]func(local netip.Addr, peer netip.AddrPort) (*operation, error){
	"send":  func(l netip.Addr, p netip.AddrPort) (*operation, error) { return sending(l, p, false) },
	"map":   func(l netip.Addr, p netip.AddrPort) (*operation, error) { return sending(l, p, true) },
	"getmr": gettingMR,
	"free":  freeingMR,
	"close": closing,
}

func names() []string { return slices.Sorted(maps.Keys(operations)) }

// bufferSize is more than a page, so that a region has a list of pages.
const bufferSize = 3 * 4096

// patience is for a connection that has to come up.
const patience = 30 * time.Second

// A user is a socket with memory.
type user struct {
	sock *rds.Socket
	buf  *rds.Buffer
	peer netip.AddrPort
}

func newUser(local netip.Addr, peer netip.AddrPort) (*user, error) {
	sock, err := rds.Listen(netip.AddrPortFrom(local, 0), rds.Config{})
	if err != nil {
		return nil, err
	}
	buf, err := rds.NewBuffer(bufferSize)
	if err != nil {
		return nil, errors.Join(err, sock.Close())
	}
	return &user{sock, buf, peer}, nil
}

func (u *user) close() error {
	err := u.sock.Close()
	if errors.Is(err, os.ErrClosed) {
		err = nil
	}
	return errors.Join(err, u.buf.Close())
}

func (u *user) message(region bool) rds.Message {
	m := rds.Message{To: u.peer, Payload: []byte("failnth")}
	if region {
		m.Map = &rds.Map{Segment: rds.Segment{Buffer: u.buf, Length: bufferSize}, Flags: rds.ReadWrite}
	}
	return m
}

// mapped registers the buffer with a message that gets through.
func (u *user) mapped() (rds.Cookie, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := u.sock.Send(ctx, u.message(true))
	return s.Cookie, err
}

func sending(local netip.Addr, peer netip.AddrPort, region bool) (*operation, error) {
	u, err := newUser(local, peer)
	if err != nil {
		return nil, err
	}
	// So that the connection is up, which alone could make the call fail.
	c, err := u.mapped()
	if err == nil {
		err = u.sock.FreeMR(c, rds.Invalidate)
	}
	if err != nil {
		return nil, errors.Join(err, u.close())
	}
	var sent rds.Sent
	m := u.message(region)
	return &operation{
		call: func() (err error) {
			sent, err = u.sock.TrySend(m)
			return err
		},
		undo: func(callErr error) error {
			var err error
			if region && callErr == nil {
				err = u.sock.FreeMR(sent.Cookie, rds.Invalidate)
			}
			return errors.Join(err, u.close())
		},
	}, nil
}

func gettingMR(local netip.Addr, peer netip.AddrPort) (*operation, error) {
	u, err := newUser(local, peer)
	if err != nil {
		return nil, err
	}
	var c rds.Cookie
	return &operation{
		call: func() (err error) {
			c, err = u.sock.GetMR(rds.Segment{Buffer: u.buf, Length: bufferSize}, rds.ReadWrite)
			return err
		},
		undo: func(callErr error) error {
			var err error
			if callErr == nil {
				err = u.sock.FreeMR(c, rds.Invalidate)
			}
			return errors.Join(err, u.close())
		},
	}, nil
}

func freeingMR(local netip.Addr, peer netip.AddrPort) (*operation, error) {
	u, err := newUser(local, peer)
	if err != nil {
		return nil, err
	}
	c, err := u.mapped()
	if err != nil {
		return nil, errors.Join(err, u.close())
	}
	return &operation{
		call: func() error { return u.sock.FreeMR(c, rds.Invalidate) },
		undo: func(callErr error) error {
			err := u.sock.FreeMR(c, rds.Invalidate)
			if callErr == nil && err == nil {
				err = fmt.Errorf("region %v was freed twice", c)
			} else if callErr == nil && errors.Is(err, rds.ErrNoMR) {
				err = nil
			}
			return errors.Join(err, u.close())
		},
	}, nil
}

// closing closes a socket that has a region.
func closing(local netip.Addr, peer netip.AddrPort) (*operation, error) {
	u, err := newUser(local, peer)
	if err != nil {
		return nil, err
	}
	if _, err := u.mapped(); err != nil {
		return nil, errors.Join(err, u.close())
	}
	return &operation{call: u.sock.Close, undo: func(error) error { return u.close() }}, nil
}
