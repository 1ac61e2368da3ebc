// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// Plots are SVG elements inside the page. Colours come from its style sheet, by
// the class of the element.

// A bar is a line of a bar chart: what is not known has a note in its place.
type bar struct {
	class string // stock or rds_ext
	value *float64
	note  string
}

// barGroup is the bars that belong together.
type barGroup struct {
	label string
	bars  []bar
}

// A mark is a vertical line across a bar chart.
type mark struct {
	value float64
	label string
}

// Sizes of a bar chart, in units of the drawing.
const (
	chartWidth = 900
	labelWidth = 250
	rightSpace = 90
	barHeight  = 16
	groupSpace = 14
	axisHeight = 46
)

// barChart draws horizontal bars over an axis that begins at 0.
func barChart(title, unit string, groups []barGroup, marks ...mark) template.HTML {
	top := 0.0
	height := 8
	for _, g := range groups {
		for _, b := range g.bars {
			if b.value != nil {
				top = max(top, *b.value)
			}
		}
		height += len(g.bars)*barHeight + groupSpace
	}
	for _, m := range marks {
		top = max(top, m.value)
	}
	if len(marks) > 0 {
		height += 16 // for their labels
	}
	axis := linearAxis(top)
	x := func(v float64) float64 {
		return labelWidth + v/axis[len(axis)-1]*(chartWidth-labelWidth-rightSpace)
	}
	var s svg
	s.open(chartWidth, height+axisHeight, title)
	for _, t := range axis {
		s.line("grid", x(t), 4, x(t), float64(height))
		s.text("tick", x(t), float64(height)+16, "middle", number(t))
	}
	s.text("axis", (labelWidth+chartWidth-rightSpace)/2, float64(height)+36, "middle", unit)
	y := 8.0
	for _, g := range groups {
		s.text("label", labelWidth-10, y+float64(len(g.bars)*barHeight)/2+4, "end", g.label)
		for _, b := range g.bars {
			if b.value == nil {
				s.text("note", labelWidth+4, y+barHeight-4, "start", b.note)
			} else {
				s.rect("bar "+b.class, labelWidth, y+1, max(x(*b.value)-labelWidth, 1), barHeight-2)
				s.text("value", x(*b.value)+5, y+barHeight-4, "start", number(*b.value))
			}
			y += barHeight
		}
		y += groupSpace
	}
	for _, m := range marks {
		s.line("mark", x(m.value), 4, x(m.value), float64(height))
		s.text("marklabel", x(m.value)-4, float64(height)-4, "end", m.label)
	}
	return s.close()
}

// A curve is a cumulative distribution: its i-th value was not exceeded by the
// share i/(len-1) of all.
type curve struct {
	class     string
	quantiles []float64
}

// Sizes of a distribution plot.
const (
	plotWidth  = 440
	plotHeight = 240
	plotLeft   = 64
	plotBottom = 44
	plotTop    = 10
	plotRight  = 24
)

// cdfChart draws distributions over a logarithmic axis from low to high, which
// must be above 0.
func cdfChart(title, unit string, low, high float64, curves []curve) template.HTML {
	axis := logAxis(low, high)
	first, last := math.Log10(axis[0]), math.Log10(axis[len(axis)-1])
	x := func(v float64) float64 {
		share := (math.Log10(max(v, axis[0])) - first) / (last - first)
		return plotLeft + share*(plotWidth-plotLeft-plotRight)
	}
	y := func(share float64) float64 {
		return plotTop + (1-share)*(plotHeight-plotTop-plotBottom)
	}
	var s svg
	s.open(plotWidth, plotHeight, title)
	for _, t := range axis {
		s.line("grid", x(t), y(0), x(t), y(1))
		if isPowerOf10(t) || len(axis) <= 6 {
			s.text("tick", x(t), y(0)+15, "middle", number(t))
		}
	}
	for _, p := range []float64{0, 0.25, 0.5, 0.75, 1} {
		s.line("grid", x(axis[0]), y(p), x(axis[len(axis)-1]), y(p))
		s.text("tick", plotLeft-6, y(p)+4, "end", fmt.Sprintf("%.0f %%", 100*p))
	}
	s.text("axis", (plotLeft+plotWidth-plotRight)/2, plotHeight-8, "middle", unit)
	s.upright("axis", 14, (plotTop+plotHeight-plotBottom)/2, "share of all")
	for _, c := range curves {
		s.curve("curve "+c.class, c.quantiles, x, y)
	}
	return s.close()
}

// linearAxis returns ticks from 0 to at least top.
func linearAxis(top float64) []float64 {
	if top <= 0 {
		return []float64{0, 1}
	}
	step := math.Pow10(int(math.Floor(math.Log10(top))))
	for _, f := range []float64{1, 0.5, 0.2} {
		if top/(step*f) >= 4 {
			step *= f
			break
		}
	}
	ticks := []float64{0}
	for i := 1; ticks[len(ticks)-1] < top; i++ {
		ticks = append(ticks, step*float64(i))
	}
	return ticks
}

// logAxis returns ticks at 1, 2 and 5 times the powers of ten from at most low to
// at least high.
func logAxis(low, high float64) []float64 {
	var ticks []float64
	for e := math.Floor(math.Log10(low)); ; e++ {
		for _, f := range []float64{1, 2, 5} {
			t := f * math.Pow(10, e)
			switch {
			case t <= low:
				ticks = []float64{t}
			default:
				ticks = append(ticks, t)
			}
			if t >= high && len(ticks) > 1 {
				return ticks
			}
		}
	}
}

func isPowerOf10(x float64) bool {
	l := math.Log10(x)
	return math.Abs(l-math.Round(l)) < 1e-9
}

// number writes a number in as few digits as tell.
func number(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v >= 100 || v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// svg writes a drawing. Text is escaped.
type svg struct{ b strings.Builder }

func (s *svg) printf(format string, args ...any) { fmt.Fprintf(&s.b, format, args...) }

func (s *svg) open(width, height int, title string) {
	t := template.HTMLEscapeString(title)
	s.printf(`<svg viewBox="0 0 %d %d" role="img" aria-label="%s"><title>%s</title>`, width, height, t, t)
}

func (s *svg) close() template.HTML {
	s.printf("</svg>")
	return template.HTML(s.b.String())
}

func (s *svg) line(class string, x1, y1, x2, y2 float64) {
	s.printf(`<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

func (s *svg) rect(class string, x, y, width, height float64) {
	s.printf(`<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, class, x, y, width, height)
}

func (s *svg) text(class string, x, y float64, anchor, text string) {
	s.printf(`<text class="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, class, x, y, anchor, template.HTMLEscapeString(text))
}

// upright writes a text from bottom to top.
func (s *svg) upright(class string, x, y float64, text string) {
	s.printf(`<text class="%s" transform="translate(%.1f %.1f) rotate(-90)" text-anchor="middle">%s</text>`, class, x, y, template.HTMLEscapeString(text))
}

func (s *svg) curve(class string, quantiles []float64, x, y func(float64) float64) {
	if len(quantiles) < 2 {
		return
	}
	var points []string
	for i, v := range quantiles {
		points = append(points, fmt.Sprintf("%.1f,%.1f", x(v), y(float64(i)/float64(len(quantiles)-1))))
	}
	s.printf(`<polyline class="%s" points="%s"/>`, class, strings.Join(points, " "))
}
