// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/spf13/pflag"

	"github.com/rds-ext/rds_ext/cmd/internal/address"
	"github.com/rds-ext/rds_ext/cmd/internal/cli"
)

// target says who talks to whom, in the commands that open sessions.
type target struct {
	bind, peer string
	port       uint16
	plain      string // how to ask for messages without RDMA
}

func (t *target) flags(fs *pflag.FlagSet) {
	fs.StringVarP(&t.bind, "bind", "r", "", "local `address` (default: the one that routes to the peer)")
	fs.StringVarP(&t.peer, "peer", "s", "", "peer's `address`, instead of the argument")
	fs.Uint16VarP(&t.port, "port", "p", defaultPort, "peer's port, 1 to 65535")
}

// argument takes the peer from the arguments, and checks what can be checked
// without a look at the network.
func (t *target) argument(args []string) error {
	if len(args) == 1 {
		if t.peer != "" {
			return cli.UsageError{Err: errors.New("the peer is given twice: as an argument and with --peer")}
		}
		t.peer = args[0]
	}
	if t.peer == "" {
		return cli.UsageError{Err: errors.New("give the address of the host where `rdsmr serve` runs")}
	}
	if t.port == 0 {
		return errPortZero
	}
	return nil
}

// addresses finds out the addresses. With RDMA the peer must be another host.
func (t *target) addresses(ctx context.Context, rdma bool) (local netip.Addr, peer netip.AddrPort, err error) {
	if peer, err = resolvePeer(ctx, t.peer, t.port); err != nil {
		return local, peer, err
	}
	if t.bind != "" {
		local, err = parseBind(t.bind)
	} else {
		local, err = address.RouteSource(peer.Addr(), "--bind")
	}
	if err != nil {
		return local, peer, err
	}
	if rdma {
		// Not only useless: Linux takes the loopback connection's private
		// data for that of an InfiniBand one when it registers memory on it.
		self, err := isLocal(peer.Addr())
		if err != nil {
			return local, peer, err
		}
		if self {
			return local, peer, cli.UsageError{Err: fmt.Errorf("%v is an address of this host: RDS cannot do RDMA to itself; use %s, or another host", peer.Addr(), t.plain)}
		}
	}
	return local, peer, nil
}
