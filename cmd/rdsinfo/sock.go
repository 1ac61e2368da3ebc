// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/gonl"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

const sockHelp = `List the RDS sockets of this network namespace: what each is bound to and
connected to, the processes that have it open, what waits in its queues, and the
memory regions (MRs) that it has registered.

SEND QUEUE counts messages that were not sent yet, RETRANSMIT QUEUE those that
the peer has not acknowledged, RECEIVE QUEUE those that the application has not
fetched. CONGESTED is "yes" while the receive queue is over its limit, RECEIVE
BUFFER; peers hold messages to this port back from then on, until it has fallen
below half of that. INODE is as in /proc/PID/fd.

Processes of other users are seen by root alone. MRS and PINNED BYTES are those
of the MR engine, and "-" without rds_ext.ko. "-" is "none" or "not known".`

// sockState is what is known of a socket.
type sockState struct {
	rds.SocketInfo
	owners []owner
	// hidden tells that there may be owners that this process must not see.
	hidden                    bool
	send, retransmit, receive *depth
	// mrs counts those in use, pinned their memory in bytes; nil without
	// rds_ext.ko.
	mrs, pinned *uint64
}

// congested tells whether more waits than the application lets wait.
func (s *sockState) congested() bool { return s.receive.Bytes > uint64(s.ReceiveBuffer) }

// sockView is a socket in JSON. Programs depend on its names: add, but do not
// rename.
type sockView struct {
	Local           *netip.Addr `json:"local"`
	LocalPort       *uint16     `json:"local_port"`
	Peer            *netip.Addr `json:"peer"`
	PeerPort        *uint16     `json:"peer_port"`
	Inode           uint64      `json:"inode"`
	Owners          []owner     `json:"owners"`
	OwnersComplete  bool        `json:"owners_complete"`
	SendQueue       depth       `json:"send_queue"`
	RetransmitQueue depth       `json:"retransmit_queue"`
	ReceiveQueue    depth       `json:"receive_queue"`
	Congested       bool        `json:"congested"`
	SendBuffer      uint32      `json:"send_buffer"`
	ReceiveBuffer   uint32      `json:"receive_buffer"`
	MRs             *uint64     `json:"mrs"`
	PinnedBytes     *uint64     `json:"pinned_bytes"`
}

func viewSock(s *sockState) sockView {
	v := sockView{
		Inode: s.Inode, Owners: append([]owner{}, s.owners...), OwnersComplete: !s.hidden,
		SendQueue: *s.send, RetransmitQueue: *s.retransmit, ReceiveQueue: *s.receive, Congested: s.congested(),
		SendBuffer: s.SendBuffer, ReceiveBuffer: s.ReceiveBuffer, MRs: s.mrs, PinnedBytes: s.pinned,
	}
	v.Local, v.LocalPort = viewEndpoint(s.Local)
	v.Peer, v.PeerPort = viewEndpoint(s.Peer)
	return v
}

// viewEndpoint is null where there is none.
func viewEndpoint(p netip.AddrPort) (*netip.Addr, *uint16) {
	if !p.IsValid() {
		return nil, nil
	}
	addr, port := p.Addr(), p.Port()
	return &addr, &port
}

var sockColumns = []column[*sockState]{
	{"LOCAL", listLevel, func(s *sockState) string { return endpoint(s.Local.Addr(), s.Local.Port()) }},
	{"PEER", wideLevel, func(s *sockState) string { return endpoint(s.Peer.Addr(), s.Peer.Port()) }},
	{"INODE", listLevel, func(s *sockState) string { return strconv.FormatUint(s.Inode, 10) }},
	{"PID", listLevel, func(s *sockState) string {
		return join(s.owners, func(o owner) string { return strconv.Itoa(o.PID) })
	}},
	{"COMMAND", listLevel, func(s *sockState) string {
		return join(s.owners, func(o owner) string { return printable(o.Command) })
	}},
	{"SEND QUEUE", listLevel, func(s *sockState) string { return depthText(s.send) }},
	{"RETRANSMIT QUEUE", listLevel, func(s *sockState) string { return depthText(s.retransmit) }},
	{"RECEIVE QUEUE", listLevel, func(s *sockState) string { return depthText(s.receive) }},
	{"CONGESTED", listLevel, func(s *sockState) string { return yesNo(s.congested()) }},
	{"SEND BUFFER", wideLevel, func(s *sockState) string { return strconv.FormatUint(uint64(s.SendBuffer), 10) }},
	{"RECEIVE BUFFER", wideLevel, func(s *sockState) string { return strconv.FormatUint(uint64(s.ReceiveBuffer), 10) }},
	{"MRS", listLevel, func(s *sockState) string { return optionalNumber(s.mrs) }},
	{"PINNED BYTES", listLevel, func(s *sockState) string { return optionalNumber(s.pinned) }},
}

// join puts a comma between what there is of each item.
func join[T any](list []T, text func(T) string) string {
	if len(list) == 0 {
		return absent
	}
	parts := make([]string, 0, len(list))
	for _, item := range list {
		parts = append(parts, text(item))
	}
	return strings.Join(parts, ",")
}

// sockFilter selects sockets.
type sockFilter struct {
	local netip.Addr
	port  *uint16
	pid   *uint32
	inode *uint64
}

func (f sockFilter) match(s *sockState) bool {
	return (!f.local.IsValid() || f.local.Unmap() == s.Local.Addr()) &&
		(f.port == nil || s.Local.IsValid() && *f.port == s.Local.Port()) &&
		(f.inode == nil || *f.inode == s.Inode) &&
		(f.pid == nil || slices.ContainsFunc(s.owners, func(o owner) bool { return uint64(o.PID) == uint64(*f.pid) }))
}

func (a *app) sockCmd() *cobra.Command {
	cmd := a.sockShowCmd("sock [show]")
	cmd.Short = "List RDS sockets, with owner, queues and MRs"
	cmd.AddCommand(a.sockShowCmd("show"))
	return cmd
}

// sockShowCmd makes the command once as "sock" and once as "sock show".
func (a *app) sockShowCmd(use string) *cobra.Command {
	var f sockFilter
	cmd := &cobra.Command{
		Use:   use,
		Short: "List RDS sockets (same as \"sock\")",
		Long:  sockHelp,
		Example: "  rdsinfo sock --pid 4711\n" +
			"  rdsinfo sock --local 192.0.2.1 --port 4000 --json",
		Args: cobra.NoArgs,
		RunE: a.shows(func(cmd *cobra.Command, _ []string) error { return a.sockList(cmd.Context(), f) }),
	}
	fl := cmd.Flags()
	fl.Var(addrFlag{&f.local}, "local", "only sockets bound to this address")
	fl.Var(numberFlag[uint16]{&f.port, "PORT"}, "port", "only sockets bound to this port")
	fl.Var(numberFlag[uint32]{&f.pid, "PID"}, "pid", "only sockets that this process has open")
	fl.Var(numberFlag[uint64]{&f.inode, "INODE"}, "socket", "only the socket with this inode number")
	a.showFlags(cmd)
	return cmd
}

func (a *app) sockList(ctx context.Context, f sockFilter) error {
	list, err := a.sockStates(ctx)
	if err != nil && !errors.Is(err, gonl.ErrPartial) {
		return err
	}
	list = slices.DeleteFunc(list, func(s *sockState) bool { return !f.match(s) })
	if a.json {
		views := make([]sockView, 0, len(list))
		for _, s := range list {
			views = append(views, viewSock(s))
		}
		return errors.Join(err, a.printJSON(views))
	}
	return errors.Join(err, printList(a, sockColumns, list))
}

// sockStates puts together what RDS, procfs and rds_ext.ko tell of sockets. It may
// return a list together with an error that wraps gonl.ErrPartial.
func (a *app) sockStates(ctx context.Context) (list []*sockState, err error) {
	err = a.withInfo(func(i info) error {
		list, err = readSocks(i)
		return err
	})
	if err != nil {
		return nil, err
	}
	owners, hidden, err := readOwners(a.proc)
	if err != nil {
		return nil, fmt.Errorf("look for the owners of sockets: %w", err)
	}
	for _, s := range list {
		s.owners, s.hidden = owners[s.Inode], hidden
	}
	err = a.with(func(c control) error { return addMRs(ctx, c, list) })
	if errors.Is(err, gonl.ErrNotLoaded) {
		err = nil
	}
	return list, err
}

func readSocks(i info) ([]*sockState, error) {
	socks, err := i.Sockets()
	if err != nil {
		return nil, err
	}
	local := func(m rds.MessageInfo) netip.AddrPort { return m.Local }
	var queues [3]map[netip.AddrPort]*depth
	for n, q := range []rds.Queue{rds.QueueSend, rds.QueueRetransmit, rds.QueueReceive} {
		if queues[n], err = depths(i, q, local); err != nil {
			return nil, err
		}
	}
	list := make([]*sockState, 0, len(socks))
	for _, s := range socks {
		list = append(list, &sockState{
			SocketInfo: s, send: depthOf(queues[0], s.Local), retransmit: depthOf(queues[1], s.Local),
			receive: depthOf(queues[2], s.Local),
		})
	}
	return list, nil
}

// addMRs adds what rds_ext.ko tells.
func addMRs(ctx context.Context, c control, list []*sockState) error {
	mrs, err := c.MRs(ctx, gonl.MRFilter{})
	if err != nil && !errors.Is(err, gonl.ErrPartial) {
		return err
	}
	count, pages := map[uint64]uint64{}, map[uint64]uint64{}
	for _, m := range mrs {
		if m.State.InUse() {
			count[m.Socket]++
			pages[m.Socket] += uint64(m.Pages)
		}
	}
	for _, s := range list {
		n, pinned := count[s.Inode], pages[s.Inode]*uint64(os.Getpagesize())
		s.mrs, s.pinned = &n, &pinned
	}
	return err
}
