// SPDX-License-Identifier: MIT

package bench

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// line is a run on one line, for the progress.
func (r Run) line() string {
	if r.Numbers == nil {
		return r.Error
	}
	s := fmt.Sprintf("%.1f ops/s, sendmsg %.1f us, latency p50 %.1f us, %.2f calls/op", r.OpsPerS, r.SendmsgMean, r.P50, r.SyscallsPerOp)
	if r.Error != "" {
		s += "; failed: " + r.Error
	}
	return s
}

// Text returns the report for people: one line for each mode, with the medians of
// its rounds.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s -> %s over %s, Linux %s with %s: %s, %d bytes, depth %d, %d task(s), %d round(s)\n\n",
		r.LocalAddr, r.PeerAddr, r.Transport, r.Kernel, r.Modules, r.Direction, r.Size, r.Depth, r.Tasks, r.Rounds)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MODE\tOPS/S\tSENDMSG us\tP50\tP99\tGET_MR us\tFREE_MR us\tLATENCY us\tP99\tCALLS/OP\tMRS NEW\tMRS PEAK\tPAGES PEAK\tLOCAL INV\tCPU %")
	var notes []string
	var modes []Mode
	for _, x := range r.Runs {
		if !slices.Contains(modes, x.Mode) {
			modes = append(modes, x.Mode)
		}
		if x.Error != "" {
			note := fmt.Sprintf("%s: %s", x.Mode, x.Error)
			if !x.Unsupported {
				note = fmt.Sprintf("%s, round %d FAILED: %s", x.Mode, x.Round, x.Error)
			}
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	for _, m := range modes {
		fmt.Fprintf(w, "%s\t%s\n", m, strings.Join(r.cells(m), "\t"))
	}
	// Into a strings.Builder, nothing can fail.
	_ = w.Flush()
	if len(notes) > 0 {
		fmt.Fprintf(&b, "\n%s\n", strings.Join(notes, "\n"))
	}
	if r.Interrupted {
		b.WriteString("\ninterrupted by a signal: not all modes have run\n")
	}
	return b.String()
}

// cells has the columns of a mode behind its name.
func (r *Report) cells(m Mode) []string {
	median := func(format string, get func(*Numbers) *float64) string {
		var v []float64
		for _, x := range r.Runs {
			if x.Mode == m && x.Numbers != nil {
				if p := get(x.Numbers); p != nil {
					v = append(v, *p)
				}
			}
		}
		if len(v) == 0 {
			return "-"
		}
		return fmt.Sprintf(format, Median(v))
	}
	known := func(get func(*Numbers) float64) func(*Numbers) *float64 {
		return func(n *Numbers) *float64 { v := get(n); return &v }
	}
	call := func(get func(*Numbers) *CallTime) func(*Numbers) *float64 {
		return func(n *Numbers) *float64 {
			if c := get(n); c != nil {
				return &c.Mean
			}
			return nil
		}
	}
	count := func(get func(*Numbers) *int64) func(*Numbers) *float64 {
		return func(n *Numbers) *float64 {
			if p := get(n); p != nil {
				v := float64(*p)
				return &v
			}
			return nil
		}
	}
	return []string{
		median("%.1f", known(func(n *Numbers) float64 { return n.OpsPerS })),
		median("%.1f", known(func(n *Numbers) float64 { return n.SendmsgMean })),
		median("%.1f", known(func(n *Numbers) float64 { return n.SendmsgP50 })),
		median("%.1f", known(func(n *Numbers) float64 { return n.SendmsgP99 })),
		median("%.1f", call(func(n *Numbers) *CallTime { return n.GetMR })),
		median("%.1f", call(func(n *Numbers) *CallTime { return n.FreeMR })),
		median("%.1f", known(func(n *Numbers) float64 { return n.P50 })),
		median("%.1f", known(func(n *Numbers) float64 { return n.P99 })),
		median("%.2f", known(func(n *Numbers) float64 { return n.SyscallsPerOp })),
		median("%.0f", count(func(n *Numbers) *int64 { return n.Allocated })),
		median("%.0f", count(func(n *Numbers) *int64 { return n.Memory.Peak })),
		median("%.0f", count(func(n *Numbers) *int64 { return n.PagesPeak })),
		median("%.0f", count(func(n *Numbers) *int64 { return n.LocalInv })),
		median("%.0f", func(n *Numbers) *float64 {
			if n.CPUBusy == nil {
				return nil
			}
			v := 100 * *n.CPUBusy
			return &v
		}),
	}
}

// Median returns the middle of the values, or the mean of the two in the middle.
// There must be at least one.
func Median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}
