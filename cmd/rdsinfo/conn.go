// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"fmt"
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
doing so, "unknown" while no message has come that tells. "-" is "not known".

With -d there are also the reason of the last reset, NEXT TX and NEXT RX, the
sequence numbers of the next messages, and what waits to be sent (SEND QUEUE) and
to be acknowledged (RETRANSMIT QUEUE).

Without rds_ext.ko it shows what RDS itself tells of connections, and says so; all
else is "-", and null in JSON.`

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
		RunE: a.shows(func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.connList(cmd, filter)
			}
			id, err := parseID("connection", args[0])
			if err != nil {
				return err
			}
			return a.connOne(cmd, id, filter)
		}),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	filterFlags(cmd, &filter)
	a.showFlags(cmd)
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
	list, err := a.connStates(cmd.Context(), f, a.json || a.detail > listLevel)
	// What there is of an incomplete list is better than nothing.
	if err != nil && !errors.Is(err, gonl.ErrPartial) {
		return err
	}
	if err := a.noteUntracked(list); err != nil {
		return err
	}
	if a.json {
		views := make([]connView, 0, len(list))
		for i := range list {
			views = append(views, viewConn(&list[i]))
		}
		return errors.Join(err, a.printJSON(views))
	}
	return errors.Join(err, printList(a, connColumns, pointers(list)))
}

// noteUntracked says why much of a list is not known.
func (a *app) noteUntracked(list []connState) error {
	if len(list) == 0 || list[0].tracked {
		return nil
	}
	_, err := fmt.Fprintln(a.stderr, "rdsinfo: rds_ext.ko is not loaded: this is what RDS itself tells of connections; the rest is not known")
	if err != nil {
		return fmt.Errorf("write to stderr: %w", err)
	}
	return nil
}

func (a *app) connOne(cmd *cobra.Command, id uint32, f gonl.Filter) error {
	if f != (gonl.Filter{}) {
		return cli.Usagef("an ID and filters together make no sense")
	}
	one := []connState{{tracked: true}}
	err := a.with(func(c control) (err error) {
		one[0].Conn, err = c.Conn(cmd.Context(), id)
		return err
	})
	if err != nil {
		return err
	}
	if err := a.withInfo(func(i info) error { return addInfo(i, one) }); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(viewConn(&one[0]))
	}
	return a.printTable(detailsOf(connColumns, &one[0]))
}
