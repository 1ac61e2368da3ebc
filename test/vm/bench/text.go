// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// A column of the table of modes.
type column struct {
	name   string
	format string
	of     func(Run) *float64
}

// columns are the numbers of a mode that people are shown, as medians.
var columns = []column{
	{"ops/s", "%.1f", opsPerS},
	{"sendmsg us", "%.1f", sendmsgMean},
	{"p50", "%.1f", sendmsgP50},
	{"p99", "%.1f", sendmsgP99},
	{"GET_MR us", "%.1f", getMRMean},
	{"FREE_MR us", "%.1f", freeMRMean},
	{"latency us p50", "%.0f", latencyP50},
	{"p99", "%.0f", latencyP99},
	{"calls/op", "%.2f", callsPerOp},
	{"MRs new", "%.0f", mrsAllocated},
	{"MRs peak", "%.0f", mrsPeak},
	{"pages peak", "%.0f", pagesPeak},
	{"local inv", "%.0f", localInv},
}

// show formats a number, "-" for none.
func show(format string, v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, *v)
}

// row has the columns of a mode, nil if it has no numbers.
func (r *Report) row(modules, mode string) (cells []string) {
	if len(r.of(modules, mode)) == 0 {
		return nil
	}
	for _, c := range columns {
		cells = append(cells, show(c.format, r.median(modules, mode, c.of)))
	}
	return cells
}

// text is the report for the terminal.
func (r *Report) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Linux %s, %d bytes, depth %d, medians of %d rounds of %d s a mode\n\n", r.Kernel, r.Size, r.Depth, r.Rounds, r.SecondsPerMode)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	fmt.Fprintf(w, "mode\tmodules\t%s\n", strings.Join(names, "\t"))
	var notes []string
	for _, mode := range modes {
		for _, modules := range []string{stock, rdsExt} {
			cells := r.row(modules, mode)
			if cells == nil {
				cells = slices.Repeat([]string{"-"}, len(columns))
				if note := fmt.Sprintf("%s on %s: %s", mode, modules, r.why(modules, mode)); !slices.Contains(notes, note) {
					notes = append(notes, note)
				}
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", mode, modules, strings.Join(cells, "\t"))
		}
	}
	// Into a strings.Builder, nothing can fail.
	_ = w.Flush()
	fmt.Fprintf(&b, "\n%s\n", strings.Join(notes, "\n"))
	fmt.Fprintf(&b, "\nverbs in the same VMs: ib_send_lat %s us, ib_send_bw %s messages/s, ib_write_bw %s writes/s\n\n",
		show("%.0f", r.Verbs.SendLat), show("%.0f", r.Verbs.SendBW), show("%.0f", r.Verbs.WriteBW))
	w = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "target\tmeasured\tlimit\taim\t\n")
	for _, t := range r.Targets {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", t.Text, show("%.2f", t.Value), t.limit(), t.aim(), t.verdict())
	}
	_ = w.Flush()
	fmt.Fprintf(&b, "\n%s\n", wrap(r.Bound, 100))
	if w := r.Host.Warning(); w != "" {
		fmt.Fprintf(&b, "\n%s\n", wrap(w, 100))
	}
	return b.String()
}

func (t Target) limit() string {
	switch {
	case t.Most != nil:
		return fmt.Sprintf("at most %.4g", *t.Most)
	case t.Least != nil:
		return fmt.Sprintf("at least %.4g", *t.Least)
	}
	return "-"
}

func (t Target) aim() string { return show("%.4g", t.Aim) }

// verdict says in words whether the target is met.
func (t Target) verdict() string {
	conditional := t.Most != nil || t.Least != nil
	switch {
	case t.Value == nil:
		return "NOT MEASURED"
	case conditional && !t.Met:
		return "NOT MET"
	case conditional && t.AimMet != nil && !*t.AimMet:
		return "met, below the aim"
	case conditional:
		return "met"
	case t.AimMet != nil && *t.AimMet:
		return "aim reached"
	}
	return "below the aim"
}

// wrap breaks a text into lines of up to width bytes.
func wrap(s string, width int) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n")
}
