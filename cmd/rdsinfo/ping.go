// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/cmd/internal/address"
	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/gonl"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

const pingHelp = `Send empty messages to port 0 of peers, which the RDS of each answers by itself, and
print how long the answers take, until Ctrl-C or --count. It needs no program at the
peer and no privilege.

The first message has the connection set up, which takes longer. RDS sends what was
lost again: a message without an answer within --timeout is "lost" here, and its
late answer is not counted.

At the end there is a line for each peer, with the versions and what the peer is, if
rds_ext.ko is loaded here. The exit status is 1 if a peer has never answered.

With --json, each answer ("reply", or "lost") is one line, and at the end each peer
("summary"). Times are in microseconds.`

// pingName is the program of rds-tools of which "ping" takes the options.
const pingName = "rds-ping"

const (
	pingInterval    = time.Second
	pingIntervalMin = time.Millisecond
	pingTimeout     = 5 * time.Second
)

// pingSocket is what a ping needs of a socket; tests have one of their own.
type pingSocket interface {
	Send(context.Context, rds.Message) (rds.Sent, error)
	Receive(context.Context, []byte) (rds.Received, error)
	Transport() (rds.Transport, error)
	Close() error
}

func listenRDS(addr netip.AddrPort, cfg rds.Config) (pingSocket, error) {
	s, err := rds.Listen(addr, cfg)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// pinging is one run of the command.
type pinging struct {
	a                 *app
	count             uint
	interval, timeout time.Duration
	local             netip.Addr
	tos               *uint8

	mu sync.Mutex // one line at a time
}

func (a *app) pingCmd() *cobra.Command {
	p := &pinging{a: a}
	cmd := &cobra.Command{
		Use:   "ping PEER...",
		Short: "Measure how long RDS peers take to answer, and what they speak",
		Long:  pingHelp,
		Example: "  rdsinfo ping 192.0.2.7\n" +
			"  rdsinfo ping -c 3 --json 192.0.2.7 192.0.2.8 db9.example\n" +
			"  rdsinfo ping -i 100ms -Q 4 -I 192.0.2.1 192.0.2.7",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case cmd.Flags().Changed("count") && p.count == 0:
				return cli.Usagef("--count must be at least 1")
			case p.interval < pingIntervalMin:
				return cli.Usagef("--interval must be at least %v, not %v", pingIntervalMin, p.interval)
			case p.timeout <= 0:
				return cli.Usagef("--timeout must be more than 0, not %v", p.timeout)
			}
			return p.run(cmd.Context(), args)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	fl := cmd.Flags()
	fl.UintVarP(&p.count, "count", "c", 0, "end after so many messages to each peer")
	fl.DurationVarP(&p.interval, "interval", "i", pingInterval, "send a message to each peer every `TIME`, or when the last is answered or lost if that is later")
	fl.DurationVarP(&p.timeout, "timeout", "W", pingTimeout, "wait for an answer for this `TIME`")
	fl.VarP(addrFlag{&p.local}, "local", "I", "send from this address of this host; without it the route to the peer decides")
	fl.VarP(numberFlag[uint8]{&p.tos, "TOS"}, "tos", "Q", "type of service, 0 to 255")
	return cmd
}

// run pings all peers at once.
func (p *pinging) run(ctx context.Context, args []string) error {
	peers := make([]*pingPeer, 0, len(args))
	seen := map[netip.Addr]bool{}
	for _, arg := range args {
		addr, err := address.Resolve(ctx, arg)
		if err != nil {
			return err
		}
		if seen[addr] {
			return cli.Usagef("peer %v is given twice", addr)
		}
		seen[addr] = true
		peer := &pingPeer{pinging: p, peer: addr, local: p.local}
		if !peer.local.IsValid() {
			if peer.local, err = address.RouteSource(addr, "--local"); err != nil {
				return err
			}
		}
		peers = append(peers, peer)
	}
	// One that cannot send ends the others, and is the error.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for _, peer := range peers {
		all.Go(func() {
			if err := peer.loop(ctx); err != nil {
				cancel(fmt.Errorf("%v: %w", peer.peer, err))
			}
		})
	}
	all.Wait()
	err := context.Cause(ctx)
	if errors.Is(err, context.Canceled) { // Ctrl-C
		err = nil
	}
	// Who pings learns what it can of the peers even then.
	return errors.Join(err, p.end(context.WithoutCancel(ctx), peers))
}

// end prints the summaries.
func (p *pinging) end(ctx context.Context, peers []*pingPeer) error {
	if err := p.versions(ctx, peers); err != nil {
		return err
	}
	var silent []string
	for _, peer := range peers {
		if peer.received == 0 {
			silent = append(silent, peer.peer.String())
		}
	}
	if err := p.printSummaries(peers); err != nil {
		return err
	}
	if len(silent) > 0 {
		return fmt.Errorf("no answer from %s", strings.Join(silent, ", "))
	}
	return nil
}

// versions finds the connections that the messages went over.
func (p *pinging) versions(ctx context.Context, peers []*pingPeer) error {
	err := p.a.with(func(c control) error {
		for _, peer := range peers {
			tos := peer.tosValue()
			list, err := c.Conns(ctx, gonl.Filter{Local: peer.local, Peer: peer.peer, TOS: &tos})
			if err != nil {
				return err
			}
			for i := range list {
				if conn := &list[i]; !conn.Passive && conn.Transport.String() == peer.transport {
					peer.conn = conn
				}
			}
		}
		return nil
	})
	if errors.Is(err, gonl.ErrNotLoaded) || errors.Is(err, gonl.ErrPartial) {
		return nil // it is not known then
	}
	return err
}

func (p *pinging) tosValue() uint8 {
	if p.tos == nil {
		return 0
	}
	return *p.tos
}
