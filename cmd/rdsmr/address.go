// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/rds-ext/rds_ext/cmd/internal/address"
	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// errPortZero is for a port that only a bind can ask for.
var errPortZero = cli.UsageError{Err: errors.New("port 0 cannot be sent to: give 1 to 65535")}

// resolvePeer parses ADDRESS, ADDRESS:PORT or the same with a host name.
func resolvePeer(ctx context.Context, s string, port uint16) (netip.AddrPort, error) {
	if a, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return netip.AddrPortFrom(a.Unmap(), port), nil
	}
	if ap, err := netip.ParseAddrPort(s); err == nil {
		if ap.Port() == 0 {
			return netip.AddrPort{}, errPortZero
		}
		return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), nil
	}
	host := s
	if h, p, err := net.SplitHostPort(s); err == nil {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return netip.AddrPort{}, cli.UsageError{Err: fmt.Errorf("port %q of %q is not a number from 1 to 65535", p, s)}
		}
		host, port = h, uint16(n)
	}
	addr, err := address.Resolve(ctx, host)
	return netip.AddrPortFrom(addr, port), err
}

// localAddresses returns this host's addresses that RDS might serve.
func localAddresses() ([]netip.Addr, error) {
	as, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var out []netip.Addr
	for _, a := range as {
		n, ok := a.(*net.IPNet)
		if !ok {
			continue
		}
		ip, ok := netip.AddrFromSlice(n.IP)
		if ok && !ip.IsLoopback() && !ip.IsLinkLocalUnicast() {
			out = append(out, ip.Unmap())
		}
	}
	return out, nil
}

// isLocal reports whether an address is one of this host's.
func isLocal(a netip.Addr) (bool, error) {
	as, err := localAddresses()
	if err != nil {
		return false, err
	}
	for _, l := range as {
		if l == a {
			return true, nil
		}
	}
	return a.IsLoopback(), nil
}

// rdmaAddresses returns this host's addresses that RDS serves over InfiniBand
// or RoCE, found by binding to each.
func rdmaAddresses() ([]netip.Addr, error) {
	as, err := localAddresses()
	if err != nil {
		return nil, err
	}
	var out []netip.Addr
	for _, a := range as {
		s, err := rds.Listen(netip.AddrPortFrom(a, 0), rds.Config{Transport: rds.TransportIB})
		if errors.Is(err, rds.ErrNotLoaded) {
			return nil, err
		}
		if err != nil {
			continue // not an address of such a device
		}
		out = append(out, a)
		if err := s.Close(); err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no address of this host belongs to an InfiniBand or RoCE device that RDS knows: load rds_rdma (`modprobe rds_rdma`, or the project's modules with insmod), set up the device, or give an address with --bind")
	}
	return out, nil
}

// parseBind parses an address of this host.
func parseBind(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		return netip.Addr{}, cli.UsageError{Err: fmt.Errorf("--bind %q is not an IP address", s)}
	}
	if a.IsUnspecified() {
		return netip.Addr{}, cli.UsageError{Err: errors.New("--bind: RDS has no wildcard address; leave --bind out, or give one address of this host")}
	}
	return a.Unmap(), nil
}
