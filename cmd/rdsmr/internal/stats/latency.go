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

// Quantiles returns n+1 times in microseconds, of which the i-th is the time that
// the share i/n of all did not exceed. Nil if nothing was recorded.
func (l *Latency) Quantiles(n int) []float64 {
	if l.h.TotalCount() == 0 || n < 1 {
		return nil
	}
	q := make([]float64, n+1)
	for i := range q {
		q[i] = microseconds(float64(l.h.ValueAtPercentile(100 * float64(i) / float64(n))))
	}
	q[0] = microseconds(float64(l.h.Min()))
	return q
}

// microseconds converts nanoseconds and keeps two decimals.
func microseconds(ns float64) float64 { return float64(int64(ns/10)) / 100 }

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
	at := func(p float64) float64 { return microseconds(float64(l.h.ValueAtPercentile(p))) }
	return Summary{at(50), at(90), at(99), at(99.9), microseconds(float64(l.h.Max())), microseconds(l.h.Mean())}
}
