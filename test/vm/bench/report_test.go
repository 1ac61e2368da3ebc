// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func ptr[T any](v T) *T { return &v }

// made returns a report of three rounds in which rds_ext reaches all its targets.
func made() *Report {
	r := &Report{Kernel: "6.1.0-1-amd64", Host: Host{CPUs: 2, Accel: "tcg"}, Size: 4096, Depth: 8, Rounds: 3, SecondsPerMode: 6}
	numbers := func(ops, sendmsg float64) *Numbers {
		n := &Numbers{
			Ops: int64(6 * ops), OpsPerS: ops, SendmsgMean: sendmsg, SendmsgP50: sendmsg * 0.9, SendmsgP99: sendmsg * 3,
			P50: 8e6 / ops, P99: 2e7 / ops, SyscallsPerOp: 3, CPUBusy: ptr(0.9),
			MRsAllocated: ptr[int64](20), MRsPeak: ptr[int64](20), PagesPeak: ptr[int64](16),
		}
		for i := range 201 {
			n.LatencyQuantiles = append(n.LatencyQuantiles, 1e6/ops*(1+float64(i)/20))
			n.SendmsgQuantiles = append(n.SendmsgQuantiles, sendmsg*(0.5+float64(i)/100))
		}
		return n
	}
	for round := 1; round <= 3; round++ {
		// The machine gets slower from round to round, for both alike.
		slow := float64(round)
		for _, modules := range order(round) {
			for _, mode := range rotated(round) {
				x := Run{Round: round, Modules: modules, Mode: mode, Costs: &Costs{8.2, 900, 800, 200, 0.02}}
				ops, sendmsg := 600/slow, 100*slow
				switch {
				case mode == plain:
					x.Numbers = numbers(900/slow, 80*slow)
					x.MRsAllocated = ptr[int64](0)
				case modules == stock && (mode == getMRFreeMR || mode == getMRUseOnce):
					x.Unsupported, x.Error = true, "this kernel has no GET_MR over InfiniBand"
				case modules == stock && mode == mapRemoteInv:
					x.Unsupported, x.Error = true, "remote invalidation needs rds_ext.ko"
				case modules == stock:
					x.Numbers = numbers(500/slow, 1250*slow)
					x.MRsAllocated, x.PagesPeak = ptr(x.Ops), ptr(x.Ops)
				default:
					x.Numbers = numbers(ops, sendmsg)
					x.LocalInv, x.RemoteInv = ptr(x.Ops), ptr[int64](0)
				}
				if x.Numbers != nil && (mode == getMRFreeMR || mode == getMRUseOnce) {
					x.SendmsgMean, x.SendmsgP50 = 40*slow, 36*slow
					x.GetMR = &CallTime{90 * slow, 81 * slow, 200 * slow}
				}
				if x.Numbers != nil && (mode == getMRFreeMR || mode == mapFreeMR) {
					x.FreeMR = &CallTime{20 * slow, 18 * slow, 40 * slow}
				}
				if x.Numbers != nil && mode == mapRemoteInv {
					x.LocalInv, x.RemoteInv = ptr[int64](3), ptr(x.Ops-3)
				}
				if x.Numbers == nil {
					x.Costs = nil
				}
				r.Runs = append(r.Runs, x)
			}
		}
		r.Verbs.Runs = append(r.Verbs.Runs, VerbsRun{Round: round, SendLat: 1000 * slow, SendBW: 1200 / slow, WriteBW: 900 / slow})
	}
	r.evaluate()
	return r
}

// The names in bench.json are part of the interface.
func TestJSON(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report", "bench.json")
	if err := writeJSON(file, made()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Kernel string
		Runs   []map[string]any
		Verbs  map[string]any
		Plain  map[string]any
		Ratios map[string]*float64
		Target []map[string]any `json:"targets"`
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	keys := func(m map[string]any, names string) {
		t.Helper()
		for _, k := range strings.Fields(names) {
			if _, ok := m[k]; !ok {
				t.Errorf("no %q in %v", k, m)
			}
		}
	}
	if got.Kernel != "6.1.0-1-amd64" || len(got.Runs) != 3*2*len(modes) || got.Ratios[ratioSendmsg] == nil {
		t.Errorf("%+v", got)
	}
	for _, x := range got.Runs {
		keys(x, "round modules mode")
		if x["error"] != nil {
			if x["ops_per_s"] != nil || x["unsupported"] != true {
				t.Errorf("%v", x)
			}
			continue
		}
		keys(x, `ops ops_per_s p50_us p90_us p99_us p999_us max_us mean_us sendmsg_us_mean sendmsg_us_p50 sendmsg_us_p99
			syscalls_per_op syscalls mrs_allocated mrs_peak pages_peak local_inv remote_inv latency_quantiles_us
			sendmsg_quantiles_us frames_per_op host_cpu_us_per_op_asking host_cpu_us_per_op_serving host_cpu_us_per_op_switch`)
		if x["modules"] == stock && x["local_inv"] != nil {
			t.Errorf("stock counts local invalidations: %v", x)
		}
	}
	keys(got.Verbs, "ib_send_lat_us ib_send_bw_msgs_per_s ib_write_bw_writes_per_s runs")
	keys(got.Plain, "stock_msgs_per_s rds_ext_msgs_per_s")
	keys(got.Target[0], "name text value at_least met aim aim_met")
}

func TestText(t *testing.T) {
	text := made().text()
	for _, want := range []string{
		"Linux 6.1.0-1-amd64, 4096 bytes, depth 8", "rdma_map+use_once             rds_ext  300.0  200.0",
		"get_mr+free_mr                stock    -", "get_mr+free_mr on stock: this kernel has no GET_MR",
		"ib_write_bw 450 writes/s", "met", "8.2 frames", "CPUs that QEMU emulates", "busy for 90 %", "1900 us in all", "1053 with all of the machine's 2 CPUs; 300 were done", "something else than",
	} {
		if !strings.Contains(text, want) && !strings.Contains(strings.ReplaceAll(text, "\n", " "), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
