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
	// SinceDown is the time since the connection was lost or closed last, to the
	// millisecond, and Down the reason; both are nil where it has not been since
	// rds_ext tracks it.
	SinceDown *time.Duration
	Down      *End
	// Attempts counts how often setting it up has failed since it was up last,
	// and LastAttempt is why the last of them failed; nil where there is none.
	Attempts    uint32
	LastAttempt *End
	// Link is what carries the connection over IB; nil over other transports,
	// while it is not up, and where it is up since before rds_ext was loaded.
	Link *Link
	// Unknown are attributes of a newer module; nil with one that this package
	// knows all of.
	Unknown []Attribute `json:",omitempty"`
}

// Link is what carries a connection over InfiniBand or RoCE.
type Link struct {
	// Device is the name of the RDMA device, such as "rxe0".
	Device string
	// QPNum is the number of this side's queue pair, 24 bits.
	QPNum uint32
	// SL is the service level, 0 to 15.
	SL uint8
	// FlowControl tells that both sides have agreed to spend credits.
	FlowControl bool
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
	var p connParser
	list, err := dump(ctx, c, spec.CmdConnGet, attrs, p.parse)
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

// ResetConn drops the connection with the given ID; it is set up anew. Messages
// that wait are sent then; those with an RDMA operation under way end with an
// error. It returns before the connection is down. It needs CAP_NET_ADMIN in the
// user namespace of the network namespace; without it the error is
// fs.ErrPermission to errors.Is. If there is no such connection, the error is
// fs.ErrNotExist.
func (c *Client) ResetConn(ctx context.Context, id uint32) error {
	attrs, err := encode(func(e *netlink.AttributeEncoder) {
		e.Uint32(spec.AttrConnID, id)
	})
	if err != nil {
		return err
	}
	n, err := single(ctx, c, spec.CmdConnReset, attrs, parseResets)
	if err == nil && n != 1 {
		err = malformed("reply", fmt.Errorf("%d connections were reset", n))
	}
	return err
}

// ResetConns does what ResetConn does to all connections that match f, and
// returns how many there were. The error is fs.ErrNotExist to errors.Is where
// none matches. The zero Filter is refused: it would hit every connection.
func (c *Client) ResetConns(ctx context.Context, f Filter) (uint32, error) {
	attrs, err := f.encode()
	if err != nil {
		return 0, err
	}
	return single(ctx, c, spec.CmdConnReset, attrs, parseResets)
}

// parseResets reads the reply to conn-reset.
func parseResets(b []byte) (n uint32, err error) {
	d := newDecoder(spec.SetConn, b)
	for d.next() {
		if d.typ == spec.AttrConnResets {
			n = d.uint32()
		}
	}
	return n, d.finish(spec.AttrConnResets)
}
