// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/qemu"
)

// Report is bench.json. Times are in microseconds; what could not be measured is
// null. "Median" is over the rounds.
type Report struct {
	Kernel         string `json:"kernel"` // release of the VMs
	Host           Host   `json:"host"`
	Size           int    `json:"size"` // bytes an operation
	Depth          int    `json:"depth"`
	Rounds         int    `json:"rounds"`
	SecondsPerMode int    `json:"seconds_per_mode"`

	Runs  []Run `json:"runs"`
	Verbs Verbs `json:"verbs"`
	Plain Plain `json:"plain"`
	// Ratios are medians of RatiosByRound. The names are explained by ratioNames.
	Ratios        map[string]*float64   `json:"ratios"`
	RatiosByRound map[string][]*float64 `json:"ratios_by_round"`
	Targets       []Target              `json:"targets"`
	Bound         string                `json:"bound"` // what bounds the rates
}

// Host is the machine that the VMs run on.
type Host struct {
	CPUs  int        `json:"cpus"`
	Accel qemu.Accel `json:"accel"`
	// OtherLoad is the share of its CPU time, 0 to 1, that went to other programs;
	// the median of all runs, null if there are none.
	OtherLoad *float64 `json:"other_load"`
}

// disturbed is the OtherLoad from which on the numbers say little.
const disturbed = 0.1

// Warning says that the machine had other things to do, or nothing.
func (h Host) Warning() string {
	if h.OtherLoad == nil || *h.OtherLoad < disturbed {
		return ""
	}
	return fmt.Sprintf("Other programs took %.0f %% of this machine's CPU time meanwhile: rates are lower and times longer than they would be, "+
		"and the ratios uncertain. Run it again on an idle machine.", 100**h.OtherLoad)
}

// Run is one mode on one set of modules in one round. Without numbers it could not
// run, and Error says why.
type Run struct {
	Round       int    `json:"round"`
	Modules     string `json:"modules"` // stock or rds_ext
	Mode        string `json:"mode"`
	Error       string `json:"error,omitempty"`
	Unsupported bool   `json:"unsupported,omitempty"` // Error is no failure: this kernel cannot do it

	*Numbers
	*Costs
}

// Numbers are what "rdsmr bench" reports, as far as it is used here.
type Numbers struct {
	Ops              int64              `json:"ops"`
	Seconds          float64            `json:"seconds"`
	OpsPerS          float64            `json:"ops_per_s"`
	P50              float64            `json:"p50_us"`
	P90              float64            `json:"p90_us"`
	P99              float64            `json:"p99_us"`
	P999             float64            `json:"p999_us"`
	Max              float64            `json:"max_us"`
	Mean             float64            `json:"mean_us"`
	LatencyQuantiles []float64          `json:"latency_quantiles_us"`
	SendmsgMean      float64            `json:"sendmsg_us_mean"`
	SendmsgP50       float64            `json:"sendmsg_us_p50"`
	SendmsgP99       float64            `json:"sendmsg_us_p99"`
	SendmsgQuantiles []float64          `json:"sendmsg_quantiles_us"`
	GetMR            *CallTime          `json:"get_mr_us,omitempty"`
	FreeMR           *CallTime          `json:"free_mr_us,omitempty"`
	SyscallsPerOp    float64            `json:"syscalls_per_op"`
	Syscalls         map[string]float64 `json:"syscalls"`
	MRsAllocated     *int64             `json:"mrs_allocated"`
	MRsPeak          *int64             `json:"mrs_peak"`
	PagesPeak        *int64             `json:"pages_peak"`
	LocalInv         *int64             `json:"local_inv"`
	RemoteInv        *int64             `json:"remote_inv"`
	MRSource         string             `json:"mr_source"`
	CPUBusy          *float64           `json:"cpu_busy"`
	Features         []string           `json:"features"`
	VerifyFailures   int64              `json:"verify_failures"`
	Resets           int64              `json:"resets"`
}

// CallTime is the time of a system call.
type CallTime struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
}

// Verbs is what the programs of perftest reach in the same VMs, without RDS.
type Verbs struct {
	SendLat *float64   `json:"ib_send_lat_us"`           // median, half a round trip
	SendBW  *float64   `json:"ib_send_bw_msgs_per_s"`    // median
	WriteBW *float64   `json:"ib_write_bw_writes_per_s"` // median
	Runs    []VerbsRun `json:"runs"`
}

// VerbsRun is that in one round.
type VerbsRun struct {
	Round   int     `json:"round"`
	SendLat float64 `json:"ib_send_lat_us"`
	SendBW  float64 `json:"ib_send_bw_msgs_per_s"`
	WriteBW float64 `json:"ib_write_bw_writes_per_s"`
	// Failed is how many attempts of the programs came to nothing.
	Failed int `json:"failed_attempts"`
}

// Plain is the rate of messages without RDMA.
type Plain struct {
	Stock  *float64 `json:"stock_msgs_per_s"`   // median
	RDSExt *float64 `json:"rds_ext_msgs_per_s"` // median
}

// line is a run on one line.
func (r Run) line() string {
	if r.Numbers == nil {
		return r.Error
	}
	s := fmt.Sprintf("%.0f ops/s, sendmsg %.0f us, latency p50 %.0f us", r.OpsPerS, r.SendmsgMean, r.P50)
	if r.Error != "" {
		s += "; FAILED: " + r.Error
	}
	return s
}

// of returns the numbers of a mode, of those rounds that have them and where
// nothing went wrong.
func (r *Report) of(modules, mode string) (list []Run) {
	for _, x := range r.Runs {
		if x.Modules == modules && x.Mode == mode && x.Numbers != nil && x.Error == "" {
			list = append(list, x)
		}
	}
	return list
}

// absent says in a word or two why a mode has no numbers.
func (r *Report) absent(modules, mode string) string {
	for _, x := range r.Runs {
		if x.Modules == modules && x.Mode == mode && x.Error != "" && !x.Unsupported {
			return "failed"
		}
	}
	if r.why(modules, mode) == notRun {
		return notRun
	}
	return "cannot run"
}

const notRun = "did not run"

// why returns why a mode has no numbers.
func (r *Report) why(modules, mode string) string {
	for _, x := range r.Runs {
		if x.Modules == modules && x.Mode == mode && x.Error != "" {
			return x.Error
		}
	}
	return notRun
}

// median returns the median of a number of a mode, nil if no round has it.
func (r *Report) median(modules, mode string, get func(Run) *float64) *float64 {
	var v []float64
	for _, x := range r.of(modules, mode) {
		if p := get(x); p != nil {
			v = append(v, *p)
		}
	}
	return median(v)
}

func median(v []float64) *float64 {
	if len(v) == 0 {
		return nil
	}
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	m := (v[(n-1)/2] + v[n/2]) / 2
	return &m
}

func round(x float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(x*p) / p
}

// The numbers that tables and plots show, of a run.
func opsPerS(r Run) *float64      { return &r.OpsPerS }
func sendmsgMean(r Run) *float64  { return &r.SendmsgMean }
func sendmsgP50(r Run) *float64   { return &r.SendmsgP50 }
func sendmsgP99(r Run) *float64   { return &r.SendmsgP99 }
func latencyP50(r Run) *float64   { return &r.P50 }
func latencyP99(r Run) *float64   { return &r.P99 }
func callsPerOp(r Run) *float64   { return &r.SyscallsPerOp }
func mrsAllocated(r Run) *float64 { return float(r.MRsAllocated) }
func mrsPeak(r Run) *float64      { return float(r.MRsPeak) }
func pagesPeak(r Run) *float64    { return float(r.PagesPeak) }
func localInv(r Run) *float64     { return float(r.LocalInv) }
func getMRMean(r Run) *float64 {
	if r.GetMR == nil {
		return nil
	}
	return &r.GetMR.Mean
}
func getMRP50(r Run) *float64 {
	if r.GetMR == nil {
		return nil
	}
	return &r.GetMR.P50
}
func freeMRMean(r Run) *float64 {
	if r.FreeMR == nil {
		return nil
	}
	return &r.FreeMR.Mean
}

func float(p *int64) *float64 {
	if p == nil {
		return nil
	}
	f := float64(*p)
	return &f
}

// writeJSON puts a JSON file in place.
func writeJSON(file string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return vm.WriteReport(file, append(data, '\n'))
}
