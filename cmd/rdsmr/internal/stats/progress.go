// SPDX-License-Identifier: MIT

package stats

import (
	"fmt"
	"time"
)

// Progress is what happened since the last progress.
type Progress struct {
	At        time.Duration // since the start
	OpsPerS   float64
	BytesPerS float64
	Ops       int64 // since the start, as the following
	Failures  int64
	Aborted   int64
	Resets    int64
}

// String returns one line.
func (p Progress) String() string {
	return fmt.Sprintf("%4.0f s  %9.1f ops/s  %9.2f MB/s  %10d ops  failures %d  aborted %d  resets %d",
		p.At.Seconds(), p.OpsPerS, p.BytesPerS/1e6, p.Ops, p.Failures, p.Aborted, p.Resets)
}

// Meter makes rates of counts.
type Meter struct {
	start, last time.Time
	ops, bytes  int64
}

// NewMeter starts at a time.
func NewMeter(start time.Time) *Meter { return &Meter{start: start, last: start} }

// Progress returns what happened since the last call.
func (m *Meter) Progress(now time.Time, c *Counters) Progress {
	ops, bytes := c.Ops.Load(), c.Bytes.Load()
	dt := max(now.Sub(m.last).Seconds(), 1e-9)
	p := Progress{
		At: now.Sub(m.start), OpsPerS: float64(ops-m.ops) / dt, BytesPerS: float64(bytes-m.bytes) / dt,
		Ops: ops, Failures: c.VerifyFailures(), Aborted: c.Aborted.Load(), Resets: c.Resets.Load(),
	}
	m.last, m.ops, m.bytes = now, ops, bytes
	return p
}
