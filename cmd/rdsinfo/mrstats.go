// SPDX-License-Identifier: MIT

package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/gonl"
)

const mrStatsHelp = `Show what became of all MRs of the MR engine, over the whole host, since it was
loaded.

"mapped" is the sum of "live" and of the ways to an end: released (by the peer's
extension header), remotely-invalidated (by the message behind the peer's RDMA),
freed (by the application), orphaned (socket closed), unsent (sendmsg failed),
expired (revoked for its age), revoked (by an operator) and device-removed.
"limited-..." count MRs that were refused at a limit, "release-refused" and
"invalidate-foreign" what peers asked for keys that were not advertised to them.`

// counter is a named number.
type counter struct {
	name  string
	value uint64
}

// printCounters writes names and values, in JSON as one object.
func (a *app) printCounters(list []counter) error {
	if a.json {
		m := map[string]uint64{}
		for _, c := range list {
			m[strings.ReplaceAll(c.name, "-", "_")] = c.value
		}
		return a.printJSON(m)
	}
	var rows [][]string
	for _, c := range list {
		rows = append(rows, []string{c.name, strconv.FormatUint(c.value, 10)})
	}
	return a.printTable(rows)
}

func mrCounters(s gonl.MRStats) []counter {
	return []counter{
		{"mapped", s.Mapped},
		{"live", s.Live},
		{"advertised", s.Advertised},
		{"released", s.Released},
		{"remotely-invalidated", s.RemotelyInvalidated},
		{"freed", s.Freed},
		{"orphaned", s.Orphaned},
		{"unsent", s.Unsent},
		{"expired", s.Expired},
		{"revoked", s.Revoked},
		{"device-removed", s.DeviceRemoved},
		{"failed", s.Failed},
		{"aged", s.Aged},
		{"limited-socket", s.LimitedSocket},
		{"limited-user", s.LimitedUser},
		{"limited-pool", s.LimitedPool},
		{"release-refused", s.ReleaseRefused},
		{"invalidate-foreign", s.InvalidateForeign},
	}
}

func (a *app) mrStatsCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "stats",
		Short: "Show the counters of the MR engine",
		Long:  mrStatsHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(func(c control) error {
				s, err := c.MRStats(cmd.Context())
				if err != nil {
					return err
				}
				return a.printCounters(mrCounters(s))
			})
		},
	}
}
