// SPDX-License-Identifier: MIT

package stats

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// maxLatency is the longest time a histogram tells apart.
const maxLatency = 10 * time.Minute

// Latency is a histogram of times, exact to three digits. It is not safe for
// concurrent use: each task has its own, merged at the end.
type Latency struct{ h *hdrhistogram.Histogram }

// NewLatency returns an empty histogram.
func NewLatency() *Latency {
	return &Latency{hdrhistogram.New(1, int64(maxLatency), 3)}
}

// Record adds a time. Times beyond ten minutes count as ten minutes.
func (l *Latency) Record(d time.Duration) {
	// The range is clamped, so the histogram cannot refuse the value.
	_ = l.h.RecordValue(int64(min(max(d, 1), maxLatency)))
}

// Merge adds the times of another histogram.
func (l *Latency) Merge(o *Latency) { l.h.Merge(o.h) }

// Count returns how many times were recorded.
func (l *Latency) Count() int64 { return l.h.TotalCount() }

// Summary has percentiles in microseconds. All are 0 if nothing was recorded.
type Summary struct {
	P50  float64 `json:"p50_us"`
	P90  float64 `json:"p90_us"`
	P99  float64 `json:"p99_us"`
	P999 float64 `json:"p999_us"`
	Max  float64 `json:"max_us"`
	Mean float64 `json:"mean_us"`
}

// Summary computes the percentiles.
func (l *Latency) Summary() Summary {
	if l.h.TotalCount() == 0 {
		return Summary{}
	}
	us := func(ns float64) float64 { return float64(int64(ns/10)) / 100 }
	at := func(p float64) float64 { return us(float64(l.h.ValueAtPercentile(p))) }
	return Summary{at(50), at(90), at(99), at(99.9), us(float64(l.h.Max())), us(l.h.Mean())}
}
