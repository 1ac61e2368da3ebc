// SPDX-License-Identifier: MIT

package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/gonl"
)

const mrHelp = `List the memory regions (MRs) of the MR engine in this network namespace, or show
all about one. MRs that net/rds registered itself (mr-engine=off, or from before
rds_ext.ko was loaded) are not shown.

STATE is where an MR stands: registering, mapped, advertised (a message has
carried its key) while it is in use; released, remotely-invalidated, freed,
orphaned (socket closed), unsent, expired, revoked or device-removed at its end,
until the last trace of it is gone. SOCKET is an inode number, as in
/proc/PID/fd. RKEY is shown to root (CAP_NET_ADMIN), and while the key is valid.
CONN and PEER are those that a message carried the key to last. "-" is "none" or
"not known".`

func (a *app) mrCmd() *cobra.Command {
	cmd := a.mrShowCmd("mr [show] [ID]")
	cmd.Short = "List memory regions, or show one; revoke some; counters"
	cmd.AddCommand(a.mrShowCmd("show [ID]"), a.mrRevokeCmd(), a.mrStatsCmd())
	return cmd
}

// mrShowCmd makes the command once as "mr" and once as "mr show".
func (a *app) mrShowCmd(use string) *cobra.Command {
	var filter gonl.MRFilter
	cmd := &cobra.Command{
		Use:   use,
		Short: "List memory regions, or show one (same as \"mr\")",
		Long:  mrHelp,
		Example: "  rdsinfo mr --pid 4711 --state advertised\n" +
			"  rdsinfo mr --device rxe0 --json\n" +
			"  rdsinfo mr show 12",
		Args: cobra.MaximumNArgs(1),
		RunE: a.shows(func(cmd *cobra.Command, args []string) error {
			if err := checkMRFilter(filter); err != nil {
				return err
			}
			if len(args) == 0 {
				return a.mrList(cmd, filter)
			}
			id, err := parseID("MR", args[0])
			if err != nil {
				return err
			}
			return a.mrOne(cmd, id, filter)
		}),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	mrFilterFlags(cmd, &filter)
	a.showFlags(cmd)
	return cmd
}

// checkMRFilter refuses what no MR can be.
func checkMRFilter(f gonl.MRFilter) error {
	switch {
	case f.ConnID != nil && *f.ConnID == 0:
		return cli.Usagef("--conn is a number from the ID column of \"rdsinfo conn\" (1 or more)")
	case f.OlderThan < 0:
		return cli.Usagef("--older-than must not be negative")
	}
	return nil
}

func (a *app) mrList(cmd *cobra.Command, f gonl.MRFilter) error {
	return a.with(func(c control) error {
		list, err := listMRs(cmd.Context(), c, f)
		// What there is of an incomplete list is better than nothing.
		if err != nil && !errors.Is(err, gonl.ErrPartial) {
			return err
		}
		if a.json {
			return errors.Join(err, a.printMRList(list))
		}
		return errors.Join(err, printList(a, mrColumns, pointers(list)))
	})
}

func (a *app) mrOne(cmd *cobra.Command, id uint32, f gonl.MRFilter) error {
	if f != (gonl.MRFilter{}) {
		return cli.Usagef("an ID and filters together make no sense")
	}
	return a.with(func(c control) error {
		m, err := c.MR(cmd.Context(), id)
		if err != nil {
			return err
		}
		if a.json {
			return a.print(append(newMREncoder("").append(nil, &m), '\n'))
		}
		return a.printTable(detailsOf(mrColumns, &m))
	})
}
