// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
)

//go:embed page.html
var pageText string

// page is bench.html: one file, which needs nothing from anywhere else.
var page = template.Must(template.New("page").Parse(pageText))

// view is what the page shows.
type view struct {
	*Report
	Columns    []string
	Rows       []viewRow
	TargetRows []viewTarget
	RatioRows  []viewRatio
	Sendmsg    template.HTML
	Ops        template.HTML
	CDFs       []viewCDF
	Runs       []viewRun
	VerbsText  string
}

type viewRow struct {
	Mode, Modules string
	Cells         []string
	Why           string // without cells
}

type viewTarget struct {
	Text, Value, Limit, Aim, Verdict string
	Met                              bool
}

type viewRatio struct {
	Text, Median string
	Rounds       []string
}

type viewCDF struct {
	Mode             string
	Latency, Sendmsg template.HTML
}

type viewRun struct {
	Round                                               int
	Modules, Mode, Ops, Sendmsg, P99, Latency, CPU, Why string
}

// html returns the page.
func (r *Report) html() ([]byte, error) {
	v := view{Report: r, Sendmsg: r.sendmsgChart(), Ops: r.opsChart(), CDFs: r.cdfs()}
	for _, c := range columns {
		v.Columns = append(v.Columns, c.name)
	}
	for _, mode := range modes {
		for _, modules := range []string{stock, rdsExt} {
			row := viewRow{Mode: mode, Modules: modules, Cells: r.row(modules, mode)}
			if row.Cells == nil {
				row.Why = r.why(modules, mode)
			}
			v.Rows = append(v.Rows, row)
		}
	}
	for _, t := range r.Targets {
		v.TargetRows = append(v.TargetRows, viewTarget{t.Text, show("%.2f", t.Value), t.limit(), t.aim(), t.verdict(), t.Met})
	}
	for _, x := range ratios() {
		row := viewRatio{Text: x.text, Median: show("%.3f", r.Ratios[x.name])}
		for _, one := range r.RatiosByRound[x.name] {
			row.Rounds = append(row.Rounds, show("%.3f", one))
		}
		v.RatioRows = append(v.RatioRows, row)
	}
	for _, x := range r.Runs {
		row := viewRun{Round: x.Round, Modules: x.Modules, Mode: x.Mode, Why: x.Error}
		if x.Numbers != nil {
			row.Ops, row.Sendmsg, row.P99 = number(x.OpsPerS), number(x.SendmsgMean), number(x.SendmsgP99)
			row.Latency, row.CPU = number(x.P50), "-"
			if x.CPUBusy != nil {
				row.CPU = fmt.Sprintf("%.0f", 100**x.CPUBusy)
			}
		}
		v.Runs = append(v.Runs, row)
	}
	v.VerbsText = fmt.Sprintf("ib_send_lat %s us (half a round trip), ib_send_bw %s messages/s, ib_write_bw %s writes/s, each with %d bytes, the last two with %d in flight",
		show("%.0f", r.Verbs.SendLat), show("%.0f", r.Verbs.SendBW), show("%.0f", r.Verbs.WriteBW), r.Size, r.Depth)
	var b bytes.Buffer
	if err := page.Execute(&b, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// groups are the bars of a number, for some modes.
func (r *Report) groups(modes []string, number func(Run) *float64) (list []barGroup) {
	for _, mode := range modes {
		g := barGroup{label: mode}
		for _, modules := range []string{stock, rdsExt} {
			b := bar{class: modules, value: r.median(modules, mode, number)}
			if b.value == nil {
				b.note = modules + ": " + r.absent(modules, mode)
			}
			g.bars = append(g.bars, b)
		}
		list = append(list, g)
	}
	return list
}

func (r *Report) sendmsgChart() template.HTML {
	return barChart("Mean time of the sendmsg that carries the request", "microseconds, shorter is better", r.groups(modes, sendmsgMean))
}

func (r *Report) opsChart() template.HTML {
	var marks []mark
	if w := r.Verbs.WriteBW; w != nil {
		marks = append(marks, mark{*w, "ib_write_bw"})
	}
	return barChart("Operations a second", "operations/s (plain: messages/s), more is better", r.groups(modes, opsPerS), marks...)
}

// quantiles merges the distributions of a mode's rounds: the median of the values
// at each share.
func (r *Report) quantiles(modules, mode string, of func(Run) []float64) (q []float64) {
	var all [][]float64
	for _, x := range r.of(modules, mode) {
		if d := of(x); len(d) > 0 && (len(all) == 0 || len(d) == len(all[0])) {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		return nil
	}
	for i := range all[0] {
		var v []float64
		for _, d := range all {
			v = append(v, d[i])
		}
		q = append(q, *median(v))
	}
	return q
}

// cdfs draws the distributions of all modes, all of one kind over the same axis.
func (r *Report) cdfs() (list []viewCDF) {
	draw := func(title, unit string, of func(Run) []float64) (charts []template.HTML) {
		low, high := math.Inf(1), 0.0
		curves := make([][]curve, len(modes))
		for i, mode := range modes {
			for _, modules := range []string{stock, rdsExt} {
				q := r.quantiles(modules, mode, of)
				if len(q) == 0 {
					continue
				}
				low, high = min(low, q[0]), max(high, q[len(q)-1])
				curves[i] = append(curves[i], curve{modules, q})
			}
		}
		for i, mode := range modes {
			if len(curves[i]) == 0 {
				charts = append(charts, "")
				continue
			}
			charts = append(charts, cdfChart(title+", "+mode, unit, max(low, 0.1), max(high, 1), curves[i]))
		}
		return charts
	}
	latency := draw("Distribution of the latency", "latency in microseconds", func(x Run) []float64 { return x.LatencyQuantiles })
	sendmsg := draw("Distribution of the time of sendmsg", "sendmsg in microseconds", func(x Run) []float64 { return x.SendmsgQuantiles })
	for i, mode := range modes {
		if latency[i] != "" || sendmsg[i] != "" {
			list = append(list, viewCDF{mode, latency[i], sendmsg[i]})
		}
	}
	return list
}
