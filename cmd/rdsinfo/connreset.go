// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/gonl"
)

const connResetHelp = `Drop connections, which are then set up anew. Messages that wait are sent as soon
as a connection is up again; an RDMA operation under way ends with an error, as it
does when the network fails. The event conn-down and "conn show" give "reset" as
the reason.

Name connections by their IDs, by the filters of "conn", or all of them with --all.
Before more than one is reset, the command asks; --yes is the answer for scripts.
--dry-run only lists what would be hit.`

// resetView is what became of a connection, in JSON.
type resetView struct {
	ID        uint32     `json:"id"`
	Local     netip.Addr `json:"local"`
	Peer      netip.Addr `json:"peer"`
	Transport string     `json:"transport"`
	TOS       uint8      `json:"tos"`
	Result    string     `json:"result"`
}

// Results of resetView.
const (
	resetDone  = "reset"
	resetGone  = "gone"      // it ended by itself before its turn came
	resetWould = "would-hit" // with --dry-run
)

func (a *app) connResetCmd() *cobra.Command {
	var filter gonl.Filter
	var all, dryRun, yes bool
	cmd := &cobra.Command{
		Use:   "reset [ID]...",
		Short: "Drop connections and have them set up anew (needs CAP_NET_ADMIN)",
		Long:  connResetHelp,
		Example: "  rdsinfo conn reset 12\n" +
			"  rdsinfo conn reset --peer 192.0.2.7 --yes\n" +
			"  rdsinfo conn reset --all --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := parseIDs("connection", args)
			if err != nil {
				return err
			}
			named := 0
			for _, given := range []bool{len(ids) > 0, filter != gonl.Filter{}, all} {
				if given {
					named++
				}
			}
			if named != 1 {
				return cli.Usagef("name the connections in one way: IDs, filters or --all")
			}
			return a.with(func(c control) error {
				list, err := namedConns(cmd.Context(), c, ids, filter)
				if err != nil {
					return err
				}
				if len(list) > 1 && !dryRun && !yes {
					if err := a.confirmReset(list); err != nil {
						return err
					}
				}
				return a.resetConns(cmd.Context(), c, list, dryRun)
			})
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	filterFlags(cmd, &filter)
	fl := cmd.Flags()
	fl.BoolVar(&all, "all", false, "all connections of this network namespace")
	fl.BoolVar(&dryRun, "dry-run", false, "reset nothing, list what would be")
	fl.BoolVar(&yes, "yes", false, "do not ask before more than one is reset")
	return cmd
}

// parseIDs reads the numbers of objects of the kind what, each once.
func parseIDs(what string, args []string) ([]uint32, error) {
	var ids []uint32
	seen := map[uint32]bool{}
	for _, arg := range args {
		id, err := parseID(what, arg)
		if err != nil {
			return nil, err
		}
		if seen[id] {
			return nil, cli.Usagef("%s %d is given twice", what, id)
		}
		seen[id] = true
		ids = append(ids, id)
	}
	return ids, nil
}

// namedConns gets the connections with the IDs, or without any those that match
// the filter. There is at least one.
func namedConns(ctx context.Context, c control, ids []uint32, f gonl.Filter) ([]gonl.Conn, error) {
	if len(ids) == 0 {
		// A list that keeps changing may lack some of them.
		list, err := c.Conns(ctx, f)
		if err == nil && len(list) == 0 {
			err = errors.New("no connection matches; \"rdsinfo conn\" lists all")
		}
		return list, err
	}
	var list []gonl.Conn
	for _, id := range ids {
		conn, err := c.Conn(ctx, id)
		if err != nil {
			return nil, err
		}
		list = append(list, conn)
	}
	return list, nil
}

// confirmReset shows what is about to be hit, and asks.
func (a *app) confirmReset(list []gonl.Conn) error {
	states := make([]*connState, 0, len(list))
	for _, conn := range list {
		states = append(states, &connState{Conn: conn, tracked: true})
	}
	b, err := table(rowsOf(connColumns, listLevel, states))
	if err != nil {
		return err
	}
	if _, err := a.stderr.Write(b); err != nil {
		return fmt.Errorf("write to stderr: %w", err)
	}
	yes, err := a.ask(fmt.Sprintf("Reset these %d connections?", len(list)))
	switch {
	case errors.Is(err, errNobody):
		return cli.Usagef("that would reset %d connections; add --yes, or --dry-run to list them", len(list))
	case err != nil:
		return err
	case !yes:
		return errors.New("nothing was reset")
	}
	return nil
}

// resetConns resets the connections by their IDs, so that none is hit that was
// not shown. What became of each is printed even where a later one fails.
func (a *app) resetConns(ctx context.Context, c control, list []gonl.Conn, dryRun bool) error {
	views := []resetView{}
	var failed error
	for _, conn := range list {
		v := resetView{
			ID: conn.ID, Local: conn.Local, Peer: conn.Peer, Transport: conn.Transport.String(), TOS: conn.TOS,
			Result: resetWould,
		}
		if !dryRun {
			v.Result = resetDone
			err := c.ResetConn(ctx, conn.ID)
			if errors.Is(err, fs.ErrNotExist) {
				v.Result = resetGone
			} else if err != nil {
				failed = err
				break
			}
		}
		views = append(views, v)
	}
	return errors.Join(failed, a.printResets(views))
}

func (a *app) printResets(views []resetView) error {
	if a.json {
		return a.printJSON(views)
	}
	var b []byte
	for _, v := range views {
		b = fmt.Appendf(b, "%s: connection %d %s -> %s over %s tos %d\n", v.Result, v.ID, v.Local, v.Peer, v.Transport, v.TOS)
	}
	return a.print(b)
}
