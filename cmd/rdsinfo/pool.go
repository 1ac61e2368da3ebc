// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/gonl"
)

const poolHelp = `Show the pools of the MR engine, one for each RDMA device that it has used, a
column each.

mrs are allocated; of them in-use are registered, invalidating have come to
their end, free are ready for use, and quarantined are invalid and keep their
key while a peer may still name it. The counters run since the engine knows the
device, and the peaks since then or "rdsinfo pool reset-peaks". A chain of
invalidations costs one completion. "recoveries" counts errors of the queue pair
that registers and invalidates, "stale-replaced" the MRs that were lost to them.`

// poolView is a pool in JSON. Programs depend on its names: add, but do not
// rename.
type poolView struct {
	Device              string `json:"device"`
	Limit               uint32 `json:"limit"`
	MRs                 uint32 `json:"mrs"`
	MRsPeak             uint32 `json:"mrs_peak"`
	InUse               uint32 `json:"in_use"`
	InUsePeak           uint32 `json:"in_use_peak"`
	Invalidating        uint32 `json:"invalidating"`
	Free                uint32 `json:"free"`
	Quarantined         uint32 `json:"quarantined"`
	PinnedPages         uint64 `json:"pinned_pages"`
	PinnedPagesPeak     uint64 `json:"pinned_pages_peak"`
	Allocated           uint64 `json:"allocated"`
	Deallocated         uint64 `json:"deallocated"`
	Registrations       uint64 `json:"registrations"`
	LocalInvalidations  uint64 `json:"local_invalidations"`
	InvalidationChains  uint64 `json:"invalidation_chains"`
	RemoteInvalidations uint64 `json:"remote_invalidations"`
	Recoveries          uint64 `json:"recoveries"`
	StaleReplaced       uint64 `json:"stale_replaced"`
	Exhausted           uint64 `json:"exhausted"`

	Unknown []gonl.Attribute `json:"-"` // this program cannot tell what they mean
}

// poolRows has a line for each number of a pool.
var poolRows = []struct {
	name  string
	value func(gonl.Pool) uint64
}{
	{"limit", func(p gonl.Pool) uint64 { return uint64(p.Limit) }},
	{"mrs", func(p gonl.Pool) uint64 { return uint64(p.MRs) }},
	{"mrs-peak", func(p gonl.Pool) uint64 { return uint64(p.MRsPeak) }},
	{"in-use", func(p gonl.Pool) uint64 { return uint64(p.InUse) }},
	{"in-use-peak", func(p gonl.Pool) uint64 { return uint64(p.InUsePeak) }},
	{"invalidating", func(p gonl.Pool) uint64 { return uint64(p.Invalidating) }},
	{"free", func(p gonl.Pool) uint64 { return uint64(p.Free) }},
	{"quarantined", func(p gonl.Pool) uint64 { return uint64(p.Quarantined) }},
	{"pinned-pages", func(p gonl.Pool) uint64 { return p.PinnedPages }},
	{"pinned-pages-peak", func(p gonl.Pool) uint64 { return p.PinnedPagesPeak }},
	{"allocated", func(p gonl.Pool) uint64 { return p.Allocated }},
	{"deallocated", func(p gonl.Pool) uint64 { return p.Deallocated }},
	{"registrations", func(p gonl.Pool) uint64 { return p.Registrations }},
	{"local-invalidations", func(p gonl.Pool) uint64 { return p.LocalInvalidations }},
	{"invalidation-chains", func(p gonl.Pool) uint64 { return p.InvalidationChains }},
	{"remote-invalidations", func(p gonl.Pool) uint64 { return p.RemoteInvalidations }},
	{"recoveries", func(p gonl.Pool) uint64 { return p.Recoveries }},
	{"stale-replaced", func(p gonl.Pool) uint64 { return p.StaleReplaced }},
	{"exhausted", func(p gonl.Pool) uint64 { return p.Exhausted }},
}

// poolTable has a column for each pool; without any it is the names alone.
func poolTable(list []gonl.Pool) [][]string {
	device := []string{"device"}
	for _, p := range list {
		device = append(device, p.Device)
	}
	rows := [][]string{device}
	for _, r := range poolRows {
		row := []string{r.name}
		for _, p := range list {
			row = append(row, strconv.FormatUint(r.value(p), 10))
		}
		rows = append(rows, row)
	}
	return rows
}

func (a *app) poolCmd() *cobra.Command {
	cmd := a.poolShowCmd("pool [show]")
	cmd.Short = "Show the MR pools of the RDMA devices"
	cmd.AddCommand(a.poolShowCmd("show"), a.poolResetCmd())
	return cmd
}

// poolShowCmd makes the command once as "pool" and once as "pool show".
func (a *app) poolShowCmd(use string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   use,
		Short: "Show the MR pools (same as \"pool\")",
		Long:  poolHelp,
		Args:  cobra.NoArgs,
		RunE: a.shows(func(cmd *cobra.Command, _ []string) error {
			return a.with(func(c control) error {
				list, err := c.Pools(cmd.Context())
				if err != nil && !errors.Is(err, gonl.ErrPartial) {
					return err
				}
				if a.json {
					views := make([]poolView, 0, len(list))
					for _, p := range list {
						views = append(views, poolView(p))
					}
					return errors.Join(err, a.printJSON(views))
				}
				if len(list) == 0 {
					return errors.Join(err, a.print([]byte("no RDMA device has been used\n")))
				}
				return errors.Join(err, a.printTable(poolTable(list)))
			})
		}),
	}
	a.watchFlag(cmd)
	return cmd
}

func (a *app) poolResetCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "reset-peaks",
		Short: "Set the peaks to what the pools hold now (needs CAP_NET_ADMIN)",
		Long:  "Set the peaks of all pools to what they hold now, to measure what comes next.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(func(c control) error { return c.ResetPeaks(cmd.Context()) })
		},
	}
}
