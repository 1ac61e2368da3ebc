// SPDX-License-Identifier: MIT

// Package address finds out the addresses that RDS programs are to use.
package address

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
)

// lookupTimeout bounds the wait for a name server.
const lookupTimeout = 5 * time.Second

// Resolve returns the address that s is or, as a host name, has. An unknown one is
// a [cli.UsageError].
func Resolve(ctx context.Context, s string) (netip.Addr, error) {
	if a, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return a.Unmap(), nil
	}
	lookup, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(lookup, "ip", s)
	if err != nil && ctx.Err() != nil {
		return netip.Addr{}, errors.New("interrupted")
	}
	if err != nil {
		return netip.Addr{}, cli.UsageError{Err: fmt.Errorf("peer %q is neither an address nor a known host: %w", s, err)}
	}
	return addrs[0].Unmap(), nil
}

// RouteSource returns the local address from which the peer is reached; flag is
// the one that gives it instead. Nothing is sent: connecting a UDP socket only asks
// the routing table.
func RouteSource(peer netip.Addr, flag string) (netip.Addr, error) {
	c, err := net.Dial("udp", netip.AddrPortFrom(peer, 9).String())
	if err != nil {
		return netip.Addr{}, fmt.Errorf("no route to %v (give the local address with %s): %w", peer, flag, err)
	}
	ap, err := netip.ParseAddrPort(c.LocalAddr().String())
	if err := errors.Join(err, c.Close()); err != nil {
		return netip.Addr{}, err
	}
	return ap.Addr().Unmap(), nil
}
