// SPDX-License-Identifier: MIT

package main

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

const queueHelp = `List the messages in the queues of RDS, of one queue or of all.

A message waits on its connection to be sent (send), then to be acknowledged by
the peer, since it may have to be sent again (retransmit). A received one waits
at its socket until the application fetches it (receive). LOCAL is this side's
address and port, PEER that of the other. SEQUENCE is the number on the
connection, 0 for a message that has none yet.`

// queuedMessage is a message and where it waits.
type queuedMessage struct {
	rds.MessageInfo
	queue rds.Queue
}

// queuedView is a message in JSON. Programs depend on its names: add, but do not
// rename.
type queuedView struct {
	Queue     string      `json:"queue"`
	Local     *netip.Addr `json:"local"`
	LocalPort uint16      `json:"local_port"`
	Peer      *netip.Addr `json:"peer"`
	PeerPort  uint16      `json:"peer_port"`
	TOS       *uint8      `json:"tos"`
	Sequence  uint64      `json:"sequence"`
	Bytes     uint32      `json:"bytes"`
}

func viewQueued(m queuedMessage) queuedView {
	v := queuedView{
		Queue: m.queue.String(), LocalPort: m.Local.Port(), PeerPort: m.Peer.Port(), TOS: m.knownTOS(),
		Sequence: m.Sequence, Bytes: m.Length,
	}
	v.Local, _ = viewEndpoint(m.Local)
	v.Peer, _ = viewEndpoint(m.Peer)
	return v
}

func (m *queuedMessage) knownTOS() *uint8 {
	if !m.HasTOS {
		return nil
	}
	return &m.TOS
}

var queueColumns = []column[queuedMessage]{
	{"QUEUE", listLevel, func(m queuedMessage) string { return m.queue.String() }},
	{"LOCAL", listLevel, func(m queuedMessage) string { return endpoint(m.Local.Addr(), m.Local.Port()) }},
	{"PEER", listLevel, func(m queuedMessage) string { return endpoint(m.Peer.Addr(), m.Peer.Port()) }},
	{"TOS", listLevel, func(m queuedMessage) string { return optionalNumber(m.knownTOS()) }},
	{"SEQUENCE", listLevel, func(m queuedMessage) string { return strconv.FormatUint(m.Sequence, 10) }},
	{"BYTES", listLevel, func(m queuedMessage) string { return strconv.FormatUint(uint64(m.Length), 10) }},
}

// queueFilter selects messages.
type queueFilter struct {
	local, peer         netip.Addr
	localPort, peerPort *uint16
	tos                 *uint8
}

func (f queueFilter) match(m rds.MessageInfo) bool {
	end := func(addr netip.Addr, port *uint16, of netip.AddrPort) bool {
		return (!addr.IsValid() || addr.Unmap() == of.Addr()) && (port == nil || *port == of.Port())
	}
	return end(f.local, f.localPort, m.Local) && end(f.peer, f.peerPort, m.Peer) &&
		(f.tos == nil || m.HasTOS && *f.tos == m.TOS)
}

func (a *app) queueCmd() *cobra.Command {
	cmd := a.queueShowCmd("queue [show] [QUEUE]...")
	cmd.Short = "List the messages that wait to be sent, acknowledged or fetched"
	cmd.AddCommand(a.queueShowCmd("show [QUEUE]..."))
	return cmd
}

// queueShowCmd makes the command once as "queue" and once as "queue show".
func (a *app) queueShowCmd(use string) *cobra.Command {
	var f queueFilter
	cmd := &cobra.Command{
		Use:   use,
		Short: "List the messages in queues (same as \"queue\")",
		Long:  queueHelp,
		Example: "  rdsinfo queue receive --port 4000\n" +
			"  rdsinfo queue send retransmit --peer 192.0.2.7 --json",
		Args: cobra.ArbitraryArgs,
		RunE: a.shows(func(_ *cobra.Command, args []string) error {
			queues, err := parseQueues(args)
			if err != nil {
				return err
			}
			return a.queueList(queues, f)
		}),
		ValidArgsFunction: cobra.FixedCompletions([]string{"send", "retransmit", "receive"}, cobra.ShellCompDirectiveNoFileComp),
	}
	fl := cmd.Flags()
	fl.Var(addrFlag{&f.local}, "local", "only messages of this address of this host")
	fl.Var(addrFlag{&f.peer}, "peer", "only messages to or from this address")
	fl.Var(numberFlag[uint16]{&f.localPort, "PORT"}, "port", "only messages of this port of this host")
	fl.Var(numberFlag[uint16]{&f.peerPort, "PORT"}, "peer-port", "only messages to or from this port")
	fl.Var(numberFlag[uint8]{&f.tos, "TOS"}, "tos", "only this type of service, 0 to 255")
	a.showFlags(cmd)
	return cmd
}

// parseQueues reads the names of queues, which may be shortened. Without any it is
// all.
func parseQueues(args []string) ([]rds.Queue, error) {
	if len(args) == 0 {
		return rds.Queues(), nil
	}
	var out []rds.Queue
	for _, arg := range args {
		var found []rds.Queue
		for _, q := range rds.Queues() {
			if cli.HasStem(q.String(), arg) {
				found = append(found, q)
			}
		}
		if len(found) != 1 {
			return nil, cli.Usagef("a queue is send, retransmit or receive, not %q", arg)
		}
		if !slices.Contains(out, found[0]) {
			out = append(out, found[0])
		}
	}
	return out, nil
}

func (a *app) queueList(queues []rds.Queue, f queueFilter) error {
	var list []queuedMessage
	err := a.withInfo(func(i info) error {
		for _, q := range queues {
			messages, err := i.Messages(q)
			if err != nil {
				return err
			}
			for _, m := range messages {
				if f.match(m) {
					list = append(list, queuedMessage{m, q})
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if a.json {
		views := make([]queuedView, 0, len(list))
		for _, m := range list {
			views = append(views, viewQueued(m))
		}
		return a.printJSON(views)
	}
	return printList(a, queueColumns, list)
}
