// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/gonl"
)

const connResetHelp = `Drop connections, which are then set up anew. Messages that wait are sent as soon
as a connection is up again; an RDMA operation under way ends with an error, as it
does when the network fails. The event conn-down and "conn show" give "reset" as
the reason.

Name connections by their IDs, by the filters of "conn", or all of them with --all.
Before more than one is reset, the command asks; --yes is the answer for scripts.
--dry-run only lists what would be hit.`

// resetView is what became of a connection, in JSON: "reset", "gone" or, with
// --dry-run, "would-hit".
type resetView struct {
	ID        uint32     `json:"id"`
	Local     netip.Addr `json:"local"`
	Peer      netip.Addr `json:"peer"`
	Transport string     `json:"transport"`
	TOS       uint8      `json:"tos"`
	Result    string     `json:"result"`
}

func (a *app) connResetCmd() *cobra.Command {
	var filter gonl.Filter
	b := bulk[connState]{
		noun: "connection", plural: "connections", verb: "reset", done: "reset", list: "rdsinfo conn", columns: connColumns,
		one: func(ctx context.Context, c control, id uint32) (connState, error) {
			conn, err := c.Conn(ctx, id)
			return connState{Conn: conn, tracked: true}, err
		},
		matching: func(ctx context.Context, c control) ([]connState, error) {
			conns, err := c.Conns(ctx, filter)
			list := make([]connState, 0, len(conns))
			for _, conn := range conns {
				list = append(list, connState{Conn: conn, tracked: true})
			}
			return list, err
		},
		act: func(ctx context.Context, c control, s *connState) error { return c.ResetConn(ctx, s.ID) },
		view: func(s *connState, result string) any {
			return resetView{ID: s.ID, Local: s.Local, Peer: s.Peer, Transport: s.Transport.String(), TOS: s.TOS, Result: result}
		},
		line: func(s *connState) string {
			return fmt.Sprintf("%d %s -> %s over %s tos %d", s.ID, s.Local, s.Peer, s.Transport, s.TOS)
		},
	}
	cmd := &cobra.Command{
		Use:   "reset [ID]...",
		Short: "Drop connections and have them set up anew (needs CAP_NET_ADMIN)",
		Long:  connResetHelp,
		Example: "  rdsinfo conn reset 12\n" +
			"  rdsinfo conn reset --peer 192.0.2.7 --yes\n" +
			"  rdsinfo conn reset --all --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			return b.run(cmd.Context(), a, args, filter != gonl.Filter{})
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	filterFlags(cmd, &filter)
	b.flags(cmd)
	return cmd
}
