// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// compatName is the program of rds-tools whose options are taken under its name.
const compatName = "rds-info"

const compatHelp = `rds-info shows what RDS tells of itself, with the options and the columns of the
program of this name in rds-tools. It is rdsinfo under another name, which shows
more: see rdsinfo --help.

Without options that choose, it shows everything that there is. Addresses are
those of IPv4 alone, unless -a is given.`

// compatWidth is that of an address in a column.
type compatWidth int

const (
	compatIPv4 compatWidth = 15
	compatIPv6 compatWidth = 39
)

// compat is one run of rds-info.
type compat struct {
	info          info
	width         compatWidth
	verbose, ipv6 bool
	out           bytes.Buffer
}

// compatLists are what rds-info shows, in its order.
var compatLists = []struct {
	letter, name, usage string
	print               func(*compat) error
}{
	{"I", "ib", "connections over IB", (*compat).ib},
	{"T", "tcp", "sockets of the TCP transport", (*compat).tcp},
	{"c", "counters", "counters", (*compat).counters},
	{"k", "sockets", "sockets", (*compat).sockets},
	{"n", "connections", "connections", (*compat).connections},
	{"r", "receive", "messages in the receive queues", (*compat).receiveQueue},
	{"s", "send", "messages in the send queues", (*compat).sendQueue},
	{"t", "retransmit", "messages in the retransmit queues", (*compat).retransmitQueue},
}

// runCompat executes a command line of rds-info and returns the exit code.
func (a *app) runCompat(ctx context.Context, args []string) int {
	return a.execute(ctx, a.compatCmd(), args)
}

func (a *app) compatCmd() *cobra.Command {
	c := &compat{}
	chosen := make([]bool, len(compatLists))
	cmd := &cobra.Command{
		Use:               compatName,
		Short:             "Show what RDS tells of itself",
		Long:              compatHelp,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              cobra.NoArgs,
		PersistentPreRun:  func(*cobra.Command, []string) { a.started = true },
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE: func(*cobra.Command, []string) error {
			return a.withInfo(func(i info) error {
				c.info, c.width = i, compatIPv4
				if c.ipv6 {
					c.width = compatIPv6
				}
				return errors.Join(c.run(chosen), a.print(c.out.Bytes()))
			})
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return cli.UsageError{Err: err} })
	fl := cmd.Flags()
	for i, l := range compatLists {
		fl.BoolVarP(&chosen[i], l.name, l.letter, false, "show "+l.usage)
	}
	fl.BoolVarP(&c.ipv6, "all", "a", false, "show what belongs to IPv6 addresses, too")
	fl.BoolVarP(&c.verbose, "verbose", "v", false, "show more of connections over IB")
	return cmd
}

// run prints the chosen lists, or all that there are if none is chosen.
func (c *compat) run(chosen []bool) error {
	any := false
	for _, b := range chosen {
		any = any || b
	}
	for i, l := range compatLists {
		if any && !chosen[i] {
			continue
		}
		err := l.print(c)
		if !any && errors.Is(err, rds.ErrNoInfo) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", l.usage, err)
		}
	}
	return nil
}

func (c *compat) printf(format string, args ...any) { fmt.Fprintf(&c.out, format, args...) }

// shows tells whether something with these addresses is to be shown. Without any
// it belongs to no family.
func (c *compat) shows(addrs ...netip.Addr) bool {
	for _, a := range addrs {
		if a.Is6() && !c.ipv6 {
			return false
		}
	}
	return true
}

// addr pads an address; one that is not known is zero, as RDS has it.
func (c *compat) addr(a netip.Addr) string {
	text := "0.0.0.0"
	if a.IsValid() {
		text = a.String()
	}
	return fmt.Sprintf("%*s", int(c.width), text)
}

// head pads the title of a column of addresses.
func (c *compat) head(title string) string { return fmt.Sprintf("%*s", int(c.width), title) }

func (c *compat) counters() error {
	list, err := c.info.Counters()
	if err != nil {
		return err
	}
	c.printf("\nCounters:\n%25s %16s\n", "CounterName", "Value")
	for _, n := range list {
		c.printf("%25s %16d\n", n.Name, n.Value)
	}
	return nil
}

func (c *compat) sockets() error {
	list, err := c.info.Sockets()
	if err != nil {
		return err
	}
	c.printf("\nRDS Sockets:\n%s %5s %s %5s %10s %10s %8s\n",
		c.head("BoundAddr"), "BPort", c.head("ConnAddr"), "CPort", "SndBuf", "RcvBuf", "Inode")
	for _, s := range list {
		if c.shows(s.Local.Addr(), s.Peer.Addr()) {
			c.printf("%s %5d %s %5d %10d %10d %8d\n", c.addr(s.Local.Addr()), s.Local.Port(),
				c.addr(s.Peer.Addr()), s.Peer.Port(), s.SendBuffer, s.ReceiveBuffer, s.Inode)
		}
	}
	return nil
}

func (c *compat) connections() error {
	list, err := c.info.Connections()
	if err != nil {
		return err
	}
	c.printf("\nRDS Connections:\n%s %s %4s %16s %16s %3s\n",
		c.head("LocalAddr"), c.head("RemoteAddr"), "Tos", "NextTX", "NextRX", "Flg")
	for _, n := range list {
		if c.shows(n.Local, n.Peer) {
			c.printf("%s %s %4d %16d %16d %s%s%s\n", c.addr(n.Local), c.addr(n.Peer), n.TOS, n.NextTx, n.NextRx,
				letter(n.Sending, "s"), letter(n.Connecting, "c"), letter(n.Connected, "C"))
		}
	}
	return nil
}

// letter stands for a flag that is set.
func letter(set bool, l string) string {
	if set {
		return l
	}
	return "-"
}

func (c *compat) receiveQueue() error    { return c.queue("Receive", rds.QueueReceive) }
func (c *compat) sendQueue() error       { return c.queue("Send", rds.QueueSend) }
func (c *compat) retransmitQueue() error { return c.queue("Retransmit", rds.QueueRetransmit) }

func (c *compat) queue(title string, q rds.Queue) error {
	list, err := c.info.Messages(q)
	if err != nil {
		return err
	}
	c.printf("\n%s Message Queue:\n%s %5s %s %5s %4s %16s %10s\n", title,
		c.head("LocalAddr"), "LPort", c.head("RemoteAddr"), "RPort", "Tos", "Seq", "Bytes")
	for _, m := range list {
		if c.shows(m.Local.Addr(), m.Peer.Addr()) {
			c.printf("%s %5d %s %5d %4d %16d %10d\n", c.addr(m.Local.Addr()), m.Local.Port(),
				c.addr(m.Peer.Addr()), m.Peer.Port(), m.TOS, m.Sequence, m.Length)
		}
	}
	return nil
}

func (c *compat) tcp() error {
	list, err := c.info.TCPSockets()
	if err != nil {
		return err
	}
	c.printf("\nTCP Connections:\n%s %5s %s %5s %10s %10s %10s %10s %10s\n",
		c.head("LocalAddr"), "LPort", c.head("RemoteAddr"), "RPort",
		"HdrRemain", "DataRemain", "SentNxt", "ExpectUna", "SeenUna")
	for _, s := range list {
		if c.shows(s.Local.Addr(), s.Peer.Addr()) {
			c.printf("%s %5d %s %5d %10d %10d %10d %10d %10d\n", c.addr(s.Local.Addr()), s.Local.Port(),
				c.addr(s.Peer.Addr()), s.Peer.Port(), s.HeaderLeft, s.DataLeft,
				s.SentNext, s.ExpectedUnacked, s.SeenUnacked)
		}
	}
	return nil
}

func (c *compat) ib() error {
	list, err := c.info.IBConnections()
	if err != nil {
		return err
	}
	c.printf("\nRDS IB Connections:\n%s %s %4s %3s %32s %32s\n",
		c.head("LocalAddr"), c.head("RemoteAddr"), "Tos", "SL", "LocalDev", "RemoteDev")
	for _, n := range list {
		if !c.shows(n.Local, n.Peer) {
			continue
		}
		c.printf("%s %s %4d %3d %32s %32s", c.addr(n.Local), c.addr(n.Peer), n.TOS, n.SL,
			gidText(n.LocalGID), gidText(n.PeerGID))
		if c.verbose {
			c.printf("  send_wr=%d, recv_wr=%d, send_sge=%d, rdma_mr_max=%d, rdma_mr_size=%d, cache_kib=%d",
				n.MaxSendWR, n.MaxReceiveWR, n.MaxSendSGE, n.MRMax, n.MRSize, n.CacheKiB)
		}
		c.printf("\n")
	}
	return nil
}

// gidText is zero for an end that is not there.
func gidText(gid netip.Addr) string {
	if !gid.IsValid() {
		gid = netip.IPv6Unspecified()
	}
	return gid.String()
}
