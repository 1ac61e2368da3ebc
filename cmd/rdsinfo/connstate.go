// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/rds-ext/rds_ext/gonl"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// connState is what is known of a connection.
type connState struct {
	gonl.Conn
	// tracked tells that it is from rds_ext.ko. Of the others, which only RDS
	// itself told of, there are the addresses, transport, TOS and state.
	tracked bool
	// noTOS tells that the TOS is not known either.
	noTOS bool
	// rds is RDS's own view; nil where it was not asked for or has none.
	rds *rds.Connection
	// send and retransmit are the depths of the queues; nil where they are not
	// known.
	send, retransmit *depth
}

// Names of transports in RDS's own lists.
var rdsTransports = map[string]gonl.Transport{
	"infiniband": gonl.TransportIB,
	"tcp":        gonl.TransportTCP,
	"loopback":   gonl.TransportLoop,
}

// connStates lists the connections that match. Without rds_ext.ko they are those
// that RDS tells of, and an error says what is missing if the filter needs it.
// It may return a list together with an error that wraps gonl.ErrPartial.
func (a *app) connStates(ctx context.Context, f gonl.Filter, withQueues bool) ([]connState, error) {
	var list []connState
	err := a.with(func(c control) error {
		conns, err := c.Conns(ctx, f)
		for _, conn := range conns {
			list = append(list, connState{Conn: conn, tracked: true})
		}
		return err
	})
	switch {
	case errors.Is(err, gonl.ErrNotLoaded) && !untrackedCanMatch(f):
		return nil, err
	case errors.Is(err, gonl.ErrNotLoaded):
		return a.untracked(f)
	case err != nil && !errors.Is(err, gonl.ErrPartial), !withQueues, len(list) == 0:
		return list, err
	}
	return list, errors.Join(err, a.withInfo(func(i info) error { return addInfo(i, list) }))
}

// untrackedCanMatch tells whether a filter can be answered without rds_ext.ko.
func untrackedCanMatch(f gonl.Filter) bool {
	return f.Version == nil && f.PeerVersion == nil && f.PeerKind == nil
}

// untracked lists the connections as RDS tells of them.
func (a *app) untracked(f gonl.Filter) (list []connState, err error) {
	err = a.withInfo(func(i info) error {
		conns, err := i.Connections()
		if err != nil {
			return err
		}
		for _, c := range conns {
			s, err := untrackedConn(c)
			switch {
			case err != nil:
				return err
			case !f.Match(s.Conn):
			case f.TOS != nil && !c.HasTOS:
				return fmt.Errorf("RDS does not tell the TOS of %s -> %s: %w", c.Local, c.Peer, gonl.ErrNotLoaded)
			default:
				list = append(list, s)
			}
		}
		return addInfo(i, list)
	})
	return list, err
}

func untrackedConn(c rds.Connection) (connState, error) {
	transport, ok := rdsTransports[c.Transport]
	if !ok {
		return connState{}, fmt.Errorf("RDS has a connection over %q, which this program does not know", c.Transport)
	}
	s := connState{noTOS: !c.HasTOS, Conn: gonl.Conn{
		Transport: transport, Local: c.Local, Peer: c.Peer, TOS: c.TOS, State: gonl.ConnStateDown,
	}}
	switch {
	case c.Connected:
		s.State = gonl.ConnStateUp
	case c.Connecting:
		s.State = gonl.ConnStateConnecting
	}
	return s, nil
}

// Keys by which what RDS tells is put together with connections. Its list of
// messages has no transport, that of IPv6 connections no TOS.
type (
	addrKey  struct{ local, peer netip.Addr }
	queueKey struct {
		addrKey
		tos uint8
	}
	pathKey struct {
		addrKey
		transport gonl.Transport
	}
	connKey struct {
		pathKey
		tos uint8
	}
)

// rdsLists are RDS's lists by those keys.
type rdsLists struct {
	exact            map[connKey]*rds.Connection
	anyTOS           map[pathKey][]*rds.Connection
	transports       map[addrKey]map[gonl.Transport]bool
	send, retransmit map[queueKey]*depth
}

func readLists(i info) (l rdsLists, err error) {
	conns, err := i.Connections()
	if err != nil {
		return l, err
	}
	l.exact, l.anyTOS = map[connKey]*rds.Connection{}, map[pathKey][]*rds.Connection{}
	l.transports = map[addrKey]map[gonl.Transport]bool{}
	for n := range conns {
		c := &conns[n]
		path := pathKey{addrKey{c.Local, c.Peer}, rdsTransports[c.Transport]}
		if c.HasTOS {
			l.exact[connKey{path, c.TOS}] = c
		} else {
			l.anyTOS[path] = append(l.anyTOS[path], c)
		}
		if l.transports[path.addrKey] == nil {
			l.transports[path.addrKey] = map[gonl.Transport]bool{}
		}
		l.transports[path.addrKey][path.transport] = true
	}
	byConn := func(m rds.MessageInfo) queueKey { return queueKey{addrKey{m.Local.Addr(), m.Peer.Addr()}, m.TOS} }
	if l.send, err = depths(i, rds.QueueSend, byConn); err != nil {
		return l, err
	}
	l.retransmit, err = depths(i, rds.QueueRetransmit, byConn)
	return l, err
}

// addInfo adds what RDS tells of connections. Where its lists do not tell two
// connections apart, neither gets anything.
func addInfo(i info, list []connState) error {
	if len(list) == 0 {
		return nil
	}
	l, err := readLists(i)
	if err != nil {
		return err
	}
	for n := range list {
		c := &list[n]
		if c.Passive { // RDS lists the other half
			continue
		}
		path := pathKey{addrKey{c.Local, c.Peer}, c.Transport}
		c.rds = l.exact[connKey{path, c.TOS}]
		if same := l.anyTOS[path]; c.rds == nil && len(same) == 1 {
			c.rds = same[0]
		}
		if len(l.transports[path.addrKey]) == 1 && !c.noTOS {
			k := queueKey{path.addrKey, c.TOS}
			c.send, c.retransmit = depthOf(l.send, k), depthOf(l.retransmit, k)
		}
	}
	return nil
}
