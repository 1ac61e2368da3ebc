// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/gonl"
)

const mrRevokeHelp = `Invalidate MRs and unpin their memory. When the command returns, no peer can reach
the memory any more; a peer that tries has its connection reset. The application
keeps an MR in name until it frees it or closes its socket.

Name MRs by their IDs, by the filters of "mr" (among them --rkey and
--older-than), or all of them with --all; filters select those in use. Before more
than one is revoked, the command asks; --yes is the answer for scripts. --dry-run
only lists what would be hit.`

// revokeView is what became of an MR, in JSON: "revoked", "gone" or, with
// --dry-run, "would-hit".
type revokeView struct {
	ID      uint32 `json:"id"`
	Device  string `json:"device"`
	PID     uint32 `json:"pid"`
	Command string `json:"command"`
	Length  uint64 `json:"length"`
	AgeMS   int64  `json:"age_ms"`
	Result  string `json:"result"`
}

func (a *app) mrRevokeCmd() *cobra.Command {
	var filter gonl.MRFilter
	b := bulk[gonl.MR]{
		noun: "MR", plural: "MRs", verb: "revoke", done: "revoked", list: "rdsinfo mr", columns: mrColumns,
		one: func(ctx context.Context, c control, id uint32) (gonl.MR, error) { return c.MR(ctx, id) },
		matching: func(ctx context.Context, c control) ([]gonl.MR, error) {
			list, err := listMRs(ctx, c, filter)
			return slices.DeleteFunc(list, func(m gonl.MR) bool { return !m.State.InUse() }), err
		},
		act: func(ctx context.Context, c control, m *gonl.MR) error { return c.RevokeMR(ctx, m.ID) },
		view: func(m *gonl.MR, result string) any {
			return revokeView{
				ID: m.ID, Device: m.Device, PID: m.PID, Command: m.Command, Length: m.Length,
				AgeMS: m.Age.Milliseconds(), Result: result,
			}
		},
		line: func(m *gonl.MR) string {
			return fmt.Sprintf("%d of process %d %s on %s, %d bytes, %s old", m.ID, m.PID, printable(m.Command), m.Device, m.Length, age(m.Age))
		},
	}
	cmd := &cobra.Command{
		Use:   "revoke [ID]...",
		Short: "Invalidate MRs and unpin their memory (needs CAP_NET_ADMIN)",
		Long:  mrRevokeHelp,
		Example: "  rdsinfo mr revoke 12\n" +
			"  rdsinfo mr revoke --device rxe0 --rkey 0x0a12ff00\n" +
			"  rdsinfo mr revoke --older-than 10m --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkMRFilter(filter); err != nil {
				return err
			}
			return b.run(cmd.Context(), a, args, filter != gonl.MRFilter{})
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	mrFilterFlags(cmd, &filter)
	b.flags(cmd)
	return cmd
}

// errKeysHidden is what comes of a search by R_Key by somebody who sees none.
var errKeysHidden = fmt.Errorf("R_Keys are shown to root (CAP_NET_ADMIN) only: %w", fs.ErrPermission)

// listMRs lists the MRs that match. A search by R_Key fails where keys are
// hidden, or it would find nothing and not say why.
func listMRs(ctx context.Context, c control, f gonl.MRFilter) ([]gonl.MR, error) {
	key := f.RKey
	f.RKey = nil
	list, err := c.MRs(ctx, f)
	if key == nil {
		return list, err
	}
	hidden := slices.ContainsFunc(list, func(m gonl.MR) bool { return m.RKey == nil && m.State.InUse() && m.State != gonl.MRStateRegistering })
	found := slices.DeleteFunc(list, func(m gonl.MR) bool { return m.RKey == nil || *m.RKey != *key })
	if len(found) == 0 && hidden {
		return nil, errKeysHidden
	}
	return found, err
}
