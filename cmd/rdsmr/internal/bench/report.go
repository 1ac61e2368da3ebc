// SPDX-License-Identifier: MIT

package bench

import (
	"errors"
	"fmt"
	"math"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/stats"
)

// Role is that of the reports, among those of package stats.
const Role = "bench"

// Modules says what runs in this host's kernel.
const (
	ModulesStock  = "stock"   // RDS without rds_ext.ko
	ModulesRDSExt = "rds_ext" // RDS with rds_ext.ko
)

// Report is what a bench ends with.
type Report struct {
	Role      string  `json:"role"`    // Role
	Kernel    string  `json:"kernel"`  // release, as uname -r prints it
	Modules   string  `json:"modules"` // ModulesStock or ModulesRDSExt, at the beginning
	LocalAddr string  `json:"local_addr"`
	PeerAddr  string  `json:"peer_addr"`
	Transport string  `json:"transport"`
	Direction string  `json:"direction"` // of the RDMA: write, read or both
	Size      int     `json:"size"`      // bytes an operation
	Depth     int     `json:"depth"`
	Tasks     int     `json:"tasks"`
	Seed      uint64  `json:"seed"`
	Rounds    int     `json:"rounds"`
	Seconds   float64 `json:"seconds"` // of all runs together

	Runs []Run `json:"runs"`

	Interrupted bool `json:"interrupted"` // by a signal: runs are missing
}

// Run is one mode in one round. Without numbers it could not run or failed before
// there were any; Error then says why.
type Run struct {
	Round int    `json:"round"` // from 1
	Mode  Mode   `json:"mode"`
	Error string `json:"error,omitempty"`
	// Unsupported: Error is that this kernel or this connection cannot do it.
	// Nothing has failed.
	Unsupported bool `json:"unsupported,omitempty"`

	*Numbers
}

// Numbers are the results of a run. Times are in microseconds.
type Numbers struct {
	Ops       int64   `json:"ops"`
	Bytes     int64   `json:"bytes"`
	Seconds   float64 `json:"seconds"`
	OpsPerS   float64 `json:"ops_per_s"`
	BytesPerS float64 `json:"bytes_per_s"`

	// Of an operation, from before its memory is registered until the answer has
	// come and, with FREE_MR, the memory is released.
	stats.Summary
	// LatencyQuantiles has Quantiles+1 values: the i-th was not exceeded by the
	// share i/Quantiles of the operations.
	LatencyQuantiles []float64 `json:"latency_quantiles_us"`

	// Of the sendmsg that carried the request, or the plain message.
	SendmsgMean      float64   `json:"sendmsg_us_mean"`
	SendmsgP50       float64   `json:"sendmsg_us_p50"`
	SendmsgP99       float64   `json:"sendmsg_us_p99"`
	SendmsgQuantiles []float64 `json:"sendmsg_quantiles_us"`

	GetMR  *CallTime `json:"get_mr_us,omitempty"`
	FreeMR *CallTime `json:"free_mr_us,omitempty"`

	// System calls on this side's sockets, and on the peer's, by operation. Those
	// of the Go runtime (epoll_wait, futex) are not among them.
	SyscallsPerOp     float64            `json:"syscalls_per_op"`
	Syscalls          map[string]float64 `json:"syscalls"`
	PeerSyscallsPerOp *float64           `json:"peer_syscalls_per_op"`

	Memory

	// CPUBusy is the share of this host's CPU time, 0 to 1, that was not idle.
	CPUBusy *float64 `json:"cpu_busy"`

	TOS      uint8    `json:"tos"`      // type of service of the connection
	Features []string `json:"features"` // agreed on it, null without rds_ext.ko

	VerifyFailures int64 `json:"verify_failures"`
	MRsHeld        int64 `json:"mrs_held"`
	Resets         int64 `json:"resets"`
	Aborted        int64 `json:"aborted"`
	Retried        int64 `json:"retried"`
}

// CallTime is the time of a system call.
type CallTime struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
}

// Quantiles is in how many parts the distributions are cut.
const Quantiles = 200

// numbers takes over what a session has found.
func numbers(r *stats.Report) *Numbers {
	send := r.Times.Sendmsg.Summary()
	n := &Numbers{
		Ops: r.Ops, Bytes: r.Bytes, Seconds: round(r.Seconds, 3), OpsPerS: r.OpsPerS, BytesPerS: r.BytesPerS,
		Summary: r.Summary, LatencyQuantiles: r.Times.Latency.Quantiles(Quantiles),
		SendmsgMean: send.Mean, SendmsgP50: send.P50, SendmsgP99: send.P99,
		SendmsgQuantiles: r.Times.Sendmsg.Quantiles(Quantiles),
		GetMR:            callTime(r.Times.GetMR), FreeMR: callTime(r.Times.FreeMR),
		Syscalls:       map[string]float64{},
		VerifyFailures: r.VerifyFailures, MRsHeld: r.MRsHeld, Resets: r.Resets, Aborted: r.Aborted, Retried: r.Retried,
	}
	if r.Ops > 0 {
		for name, calls := range r.Local.Calls {
			n.Syscalls[name] = perOp(calls, r.Ops)
		}
		n.SyscallsPerOp = perOp(r.Local.Calls.Total(), r.Ops)
		if r.Peer != nil {
			p := perOp(r.Peer.Calls.Total(), r.Ops)
			n.PeerSyscallsPerOp = &p
		}
	}
	return n
}

func callTime(l *stats.Latency) *CallTime {
	if l.Count() == 0 {
		return nil
	}
	s := l.Summary()
	return &CallTime{s.Mean, s.P50, s.P99}
}

func perOp(n, ops int64) float64 { return round(float64(n)/float64(ops), 3) }

func round(x float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(x*p) / p
}

// Verdict returns nil if all modes ran that can run here, and everything was
// right.
func (r *Report) Verdict() error {
	var errs []error
	ran := 0
	for _, x := range r.Runs {
		if x.Error != "" && !x.Unsupported {
			errs = append(errs, fmt.Errorf("round %d, %s: %s", x.Round, x.Mode, x.Error))
		}
		if x.Numbers != nil {
			ran++
		}
	}
	if r.Interrupted {
		errs = append(errs, errors.New("interrupted before all modes had run"))
	}
	if len(errs) == 0 && ran == 0 {
		errs = append(errs, errors.New("none of the modes can run here"))
	}
	return errors.Join(errs...)
}
