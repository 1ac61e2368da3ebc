// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/gonl"
)

const connHelp = `List the RDS connections of this network namespace, or show all about one.

VERSION is the protocol version that this side speaks, PEER VERSION what the
peer said. LEARNT FROM tells how: "first packet" from the version header in the
first message after the connection was (re-)established, "CM private data" from
the connection set-up, "nothing" where it is not known. PEER KIND is "rds_ext"
for a peer that announced itself, "stock" for one that sent a message without
doing so, "unknown" while no message has come that tells. "-" is "not known".`

func (a *app) connCmd() *cobra.Command {
	cmd := a.connShowCmd("conn [show] [ID]")
	cmd.Short = "List connections, or show one; reset some"
	cmd.AddCommand(a.connShowCmd("show [ID]"), a.connResetCmd())
	return cmd
}

// connShowCmd makes the command once as "conn" and once as "conn show".
func (a *app) connShowCmd(use string) *cobra.Command {
	var filter gonl.Filter
	cmd := &cobra.Command{
		Use:   use,
		Short: "List connections, or show one (same as \"conn\")",
		Long:  connHelp,
		Example: "  rdsinfo conn --peer 192.0.2.7 --transport ib\n" +
			"  rdsinfo conn --peer-kind stock --json\n" +
			"  rdsinfo conn show 12",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.connList(cmd, filter)
			}
			id, err := parseID("connection", args[0])
			if err != nil {
				return err
			}
			return a.connOne(cmd, id, filter)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	filterFlags(cmd, &filter)
	return cmd
}

// parseID reads the number of an object, of the kind what.
func parseID(what, s string) (uint32, error) {
	id, err := strconv.ParseUint(s, 10, 32)
	if err != nil || id == 0 {
		return 0, cli.Usagef("%s %q is not a number from the ID column (1 or more)", what, s)
	}
	return uint32(id), nil
}

func (a *app) connList(cmd *cobra.Command, f gonl.Filter) error {
	return a.with(func(c control) error {
		list, err := c.Conns(cmd.Context(), f)
		// What there is of an incomplete list is better than nothing.
		if err != nil && !errors.Is(err, gonl.ErrPartial) {
			return err
		}
		if a.json {
			views := make([]connView, 0, len(list))
			for _, conn := range list {
				views = append(views, viewConn(conn))
			}
			return errors.Join(err, a.printJSON(views))
		}
		rows := [][]string{connHeader}
		for _, conn := range list {
			rows = append(rows, connRow(conn))
		}
		return errors.Join(err, a.printTable(rows))
	})
}

func (a *app) connOne(cmd *cobra.Command, id uint32, f gonl.Filter) error {
	if f != (gonl.Filter{}) {
		return cli.Usagef("an ID and filters together make no sense")
	}
	return a.with(func(c control) error {
		conn, err := c.Conn(cmd.Context(), id)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(viewConn(conn))
		}
		return a.printTable(connDetails(conn))
	})
}
