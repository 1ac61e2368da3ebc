// SPDX-License-Identifier: MIT

package gonl

import (
	"net/netip"

	"github.com/mdlayher/netlink"

	"github.com/rds-ext/rds_ext/gonl/spec"
)

// Filter selects connections: those that have every value that is set. The
// zero Filter selects all.
type Filter struct {
	// Transport, nil for any.
	Transport *Transport
	// Local and Peer are addresses; the zero Addr is any.
	Local, Peer netip.Addr
	// State, nil for any.
	State *ConnState
	// PeerVersion, nil for any; a peer whose version is not learnt has none.
	PeerVersion *Version
	// PeerKind, nil for any.
	PeerKind *PeerKind
	// Version that this side speaks, nil for any; a connection on which it is
	// not settled has none.
	Version *Version
	// TOS, nil for any.
	TOS *uint8
}

// Match tells whether c has every value that f sets.
func (f Filter) Match(c Conn) bool {
	return equal(f.Transport, &c.Transport) &&
		(!f.Local.IsValid() || f.Local.Unmap() == c.Local) &&
		(!f.Peer.IsValid() || f.Peer.Unmap() == c.Peer) &&
		equal(f.State, &c.State) &&
		equal(f.PeerVersion, c.PeerVersion) &&
		equal(f.PeerKind, &c.PeerKind) &&
		equal(f.Version, c.Version) &&
		equal(f.TOS, &c.TOS)
}

// equal compares a value with what a filter wants, nil for anything.
func equal[T comparable](want, have *T) bool {
	return want == nil || have != nil && *want == *have
}

// encode makes the attributes that the kernel filters by.
func (f Filter) encode() ([]byte, error) {
	return encode(func(e *netlink.AttributeEncoder) {
		if f.Transport != nil {
			e.Uint32(spec.AttrConnTransport, uint32(*f.Transport))
		}
		if f.Local.IsValid() {
			putAddr(e, spec.AttrConnLocalAddr, f.Local)
		}
		if f.Peer.IsValid() {
			putAddr(e, spec.AttrConnPeerAddr, f.Peer)
		}
		if f.State != nil {
			e.Uint32(spec.AttrConnState, uint32(*f.State))
		}
		if f.PeerVersion != nil {
			e.Uint32(spec.AttrConnPeerVersion, uint32(*f.PeerVersion))
		}
		if f.PeerKind != nil {
			e.Uint32(spec.AttrConnPeerKind, uint32(*f.PeerKind))
		}
		if f.Version != nil {
			e.Uint32(spec.AttrConnVersion, uint32(*f.Version))
		}
		if f.TOS != nil {
			e.Uint8(spec.AttrConnTOS, *f.TOS)
		}
	})
}
