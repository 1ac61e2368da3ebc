// SPDX-License-Identifier: MIT

package gonl

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/mdlayher/netlink"

	"github.com/rds-ext/rds_ext/gonl/spec"
)

// Conn is an RDS connection as rds_ext sees it. It lives on across reconnects;
// what the peer announced belongs to one incarnation of it.
type Conn struct {
	// ID identifies the connection on this host while it exists, 1 and up.
	ID uint32
	// Transport that carries the connection.
	Transport Transport
	// Local and Peer are the addresses of both sides. IPv4 addresses are plain
	// IPv4, not mapped into IPv6.
	Local, Peer netip.Addr
	// TOS is the type of service, part of the connection's identity.
	TOS uint8
	// State of path 0.
	State ConnState
	// Paths is the number of paths; more than 1 only over TCP.
	Paths uint32
	// Loopback tells that the peer's address belongs to this host.
	Loopback bool
	// Passive marks the accepting half of a connection of this host to itself.
	Passive bool
	// Version that this side speaks on the connection; nil while not settled.
	Version *Version
	// Features that this side announced on this incarnation; nil while it has
	// announced none.
	Features *Feature
	// PeerVersion is the peer's version; nil while it is not learnt.
	PeerVersion *Version
	// PeerFeatures are what the peer announced on this incarnation; nil while
	// it has announced none.
	PeerFeatures *Feature
	// AgreedFeatures are in use: both sides announced them.
	AgreedFeatures Feature
	// LearntFrom tells how PeerVersion was learnt.
	LearntFrom LearntFrom
	// PeerKind is what the peer has shown itself to be on this incarnation.
	PeerKind PeerKind
	// Ups and Downs count how often the connection was established, and lost
	// or closed, since rds_ext tracks it.
	Ups, Downs uint64
	// Uptime since the connection was established (or since rds_ext was
	// loaded, if that came later), to the millisecond; nil while it is not up.
	Uptime *time.Duration
}

// ConnAddr names a connection by what makes it unique in a network namespace.
type ConnAddr struct {
	// Transport that carries the connection.
	Transport Transport
	// Local and Peer are the addresses of both sides; both are required.
	Local, Peer netip.Addr
	// TOS is the type of service, 0 for most connections.
	TOS uint8
}

// Conns lists the connections that match f, in the kernel's order. A list that
// changes while it is read is read again; if it keeps changing, the last
// result is returned together with an error that wraps ErrPartial.
func (c *Client) Conns(ctx context.Context, f Filter) ([]Conn, error) {
	attrs, err := f.encode()
	if err != nil {
		return nil, err
	}
	list, err := dump(ctx, c, spec.CmdConnGet, attrs, parseConn)
	var out []Conn
	for _, conn := range list {
		if f.Match(conn) {
			out = append(out, conn)
		}
	}
	return out, err
}

// Conn gets the connection with the given ID. The error is fs.ErrNotExist to
// errors.Is if there is none in this network namespace.
func (c *Client) Conn(ctx context.Context, id uint32) (Conn, error) {
	attrs, err := encode(func(e *netlink.AttributeEncoder) {
		e.Uint32(spec.AttrConnID, id)
	})
	if err != nil {
		return Conn{}, err
	}
	return single(ctx, c, spec.CmdConnGet, attrs, parseConn)
}

// ConnByAddr gets the connection between two addresses. The error is
// fs.ErrNotExist to errors.Is if there is none.
func (c *Client) ConnByAddr(ctx context.Context, a ConnAddr) (Conn, error) {
	if !a.Local.IsValid() || !a.Peer.IsValid() {
		return Conn{}, fmt.Errorf("gonl: conn-get: both addresses are required")
	}
	attrs, err := encode(func(e *netlink.AttributeEncoder) {
		e.Uint32(spec.AttrConnTransport, uint32(a.Transport))
		putAddr(e, spec.AttrConnLocalAddr, a.Local)
		putAddr(e, spec.AttrConnPeerAddr, a.Peer)
		e.Uint8(spec.AttrConnTOS, a.TOS)
	})
	if err != nil {
		return Conn{}, err
	}
	return single(ctx, c, spec.CmdConnGet, attrs, parseConn)
}

// parseConn reads the attributes of a connection.
func parseConn(b []byte) (Conn, error) {
	d := newDecoder(spec.SetConn, b)
	var c Conn
	for d.next() {
		switch d.typ {
		case spec.AttrConnID:
			c.ID = d.uint32()
		case spec.AttrConnTransport:
			c.Transport = Transport(d.uint32())
		case spec.AttrConnLocalAddr:
			c.Local = d.addr()
		case spec.AttrConnPeerAddr:
			c.Peer = d.addr()
		case spec.AttrConnTOS:
			c.TOS = d.uint8()
		case spec.AttrConnState:
			c.State = ConnState(d.uint32())
		case spec.AttrConnPaths:
			c.Paths = d.uint32()
		case spec.AttrConnLoopback:
			c.Loopback = d.flag()
		case spec.AttrConnPassive:
			c.Passive = d.flag()
		case spec.AttrConnVersion:
			// The kernel says 0 for "not settled"; no version is 0.0.
			if v := d.version(); v != 0 {
				c.Version = ptr(v)
			}
		case spec.AttrConnFeatures:
			c.Features = ptr(Feature(d.uint32()))
		case spec.AttrConnPeerVersion:
			c.PeerVersion = ptr(d.version())
		case spec.AttrConnPeerFeatures:
			c.PeerFeatures = ptr(Feature(d.uint32()))
		case spec.AttrConnAgreedFeatures:
			c.AgreedFeatures = Feature(d.uint32())
		case spec.AttrConnLearntFrom:
			c.LearntFrom = LearntFrom(d.uint32())
		case spec.AttrConnPeerKind:
			c.PeerKind = PeerKind(d.uint32())
		case spec.AttrConnUps:
			c.Ups = d.uint64()
		case spec.AttrConnDowns:
			c.Downs = d.uint64()
		case spec.AttrConnUptimeMS:
			c.Uptime = ptr(d.millis())
		}
	}
	if err := d.finish(spec.AttrConnID, spec.AttrConnTransport, spec.AttrConnLocalAddr,
		spec.AttrConnPeerAddr, spec.AttrConnState); err != nil {
		return Conn{}, err
	}
	return c, nil
}
