// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/gonl"
)

const statsHelp = `Show the counters of RDS, over all connections, sockets and CPUs of the host, since
the modules were loaded.

FAMILY is who counts: rds, which is RDS itself, and its transports ib and tcp,
where they are loaded, under the names that the kernel has for them; with
rds_ext.ko also mr, the MR engine ("rdsinfo mr stats --help" tells what it
counts), and exthdr, the extension headers, summed over their types.

Name families, or counters by the beginning of their names, to see only those.`

// statView is a counter in JSON. Programs depend on its names: add, but do not
// rename.
type statView struct {
	Family string `json:"family"`
	Name   string `json:"name"`
	Value  uint64 `json:"value"`
}

var statColumns = []column[statView]{
	{"FAMILY", listLevel, func(s statView) string { return s.Family }},
	{"NAME", listLevel, func(s statView) string { return s.Name }},
	{"VALUE", listLevel, func(s statView) string { return strconv.FormatUint(s.Value, 10) }},
}

// statFamilies are the names of families.
var statFamilies = []string{"rds", "ib", "tcp", "mr", "exthdr"}

func (a *app) statsCmd() *cobra.Command {
	cmd := a.statsShowCmd("stats [show] [NAME]...")
	cmd.Short = "Show the counters of RDS, its transports and rds_ext.ko"
	cmd.AddCommand(a.statsShowCmd("show [NAME]..."))
	return cmd
}

// statsShowCmd makes the command once as "stats" and once as "stats show".
func (a *app) statsShowCmd(use string) *cobra.Command {
	var nonzero bool
	cmd := &cobra.Command{
		Use:   use,
		Short: "Show the counters (same as \"stats\")",
		Long:  statsHelp,
		Example: "  rdsinfo stats --nonzero\n" +
			"  rdsinfo stats ib recv_drop --watch",
		Args: cobra.ArbitraryArgs,
		RunE: a.shows(func(cmd *cobra.Command, args []string) error {
			return a.statList(cmd.Context(), args, nonzero)
		}),
		ValidArgsFunction: cobra.FixedCompletions(statFamilies, cobra.ShellCompDirectiveNoFileComp),
	}
	cmd.Flags().BoolVar(&nonzero, "nonzero", false, "only counters that have counted something")
	a.showFlags(cmd)
	return cmd
}

func (a *app) statList(ctx context.Context, names []string, nonzero bool) error {
	all, err := a.allStats(ctx)
	if err != nil && !errors.Is(err, gonl.ErrPartial) {
		return err
	}
	list := []statView{}
	matched := make([]bool, len(names))
	for i, name := range names {
		// That of a transport that is not loaded has none.
		matched[i] = slices.Contains(statFamilies, name)
	}
	for _, s := range all {
		wanted := len(names) == 0
		for i, name := range names {
			if s.Family == name || strings.HasPrefix(s.Name, name) {
				wanted, matched[i] = true, true
			}
		}
		if wanted && (!nonzero || s.Value != 0) {
			list = append(list, s)
		}
	}
	if i := slices.Index(matched, false); i >= 0 {
		return cli.Usagef("no counter has the family %q or a name that begins so; \"rdsinfo stats\" shows all", names[i])
	}
	if a.json {
		return errors.Join(err, a.printJSON(list))
	}
	return errors.Join(err, printList(a, statColumns, list))
}

// allStats gets the counters of RDS, and those of rds_ext.ko where it is loaded.
func (a *app) allStats(ctx context.Context) (list []statView, err error) {
	err = a.withInfo(func(i info) error {
		counters, err := i.Counters()
		for _, c := range counters {
			list = append(list, statView{statFamily(c.Name), c.Name, c.Value})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	err = a.with(func(c control) error {
		s, err := c.MRStats(ctx)
		if err != nil {
			return err
		}
		list = appendStats(list, "mr", mrCounters(s))
		h, err := c.ExtHdrs(ctx)
		list = appendStats(list, "exthdr", exthdrTotals(h))
		return err
	})
	if errors.Is(err, gonl.ErrNotLoaded) {
		err = nil
	}
	return list, err
}

// statFamily goes by how the kernel names the counters of the transports.
func statFamily(name string) string {
	family, _, _ := strings.Cut(name, "_")
	if family == "ib" || family == "tcp" {
		return family
	}
	return "rds"
}

func appendStats(list []statView, family string, counters []counter) []statView {
	for _, c := range counters {
		list = append(list, statView{family, strings.ReplaceAll(c.name, "-", "_"), c.value})
	}
	return list
}

// exthdrTotals sums over the types.
func exthdrTotals(list []gonl.ExtHdr) []counter {
	var sum gonl.ExtHdr
	for _, h := range list {
		sum.TX += h.TX
		sum.RX += h.RX
		sum.TXNoRoom += h.TXNoRoom
		sum.TXDuplicate += h.TXDuplicate
		sum.TXRejected += h.TXRejected
		sum.RXUnknown += h.RXUnknown
		sum.RXTruncated += h.RXTruncated
		sum.RXDuplicate += h.RXDuplicate
	}
	return []counter{
		{"tx", sum.TX},
		{"rx", sum.RX},
		{"tx-no-room", sum.TXNoRoom},
		{"tx-duplicate", sum.TXDuplicate},
		{"tx-rejected", sum.TXRejected},
		{"rx-unknown", sum.RXUnknown},
		{"rx-truncated", sum.RXTruncated},
		{"rx-duplicate", sum.RXDuplicate},
	}
}
