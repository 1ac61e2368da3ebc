// SPDX-License-Identifier: MIT

package main

import (
	"math"
	"strings"
	"testing"
)

func TestRatios(t *testing.T) {
	r := made()
	for name, want := range map[string]float64{
		ratioSendmsg: 12.5, ratioOps: 1.2, ratioVerbs: 0.6667, ratioPlain: 1, "ops_rds_ext_over_ib_send_bw": 0.5,
		ratioGetMRFree: 1.5, ratioGetMROnce: 1.5, "get_mr_p50_over_what_rdma_map_adds_use_once": 1.5,
		"sendmsg_p50_stock_over_rds_ext": 12.5, "latency_p50_rds_ext_over_stock": 0.8333,
	} {
		got := r.Ratios[name]
		if got == nil || math.Abs(*got-want) > 1e-3 {
			t.Errorf("%s: %v, want %v", name, show("%v", got), want)
			continue
		}
		// Whatever slows the machine down slows both sides of a ratio down.
		for i, v := range r.RatiosByRound[name] {
			if v == nil || math.Abs(*v-want) > 1e-3 {
				t.Errorf("%s in round %d: %v", name, i+1, show("%v", v))
			}
		}
	}
	if len(r.Ratios) != len(ratios()) {
		t.Errorf("%d ratios, %d names", len(r.Ratios), len(ratios()))
	}
	if *r.Plain.Stock != 450 || *r.Plain.RDSExt != 450 || *r.Verbs.SendLat != 2000 || *r.Verbs.WriteBW != 450 {
		t.Errorf("%+v, %+v", r.Plain, r.Verbs)
	}
	if r.unmet() != 0 {
		t.Errorf("%+v", r.Targets)
	}
}

// Each target can be missed, alone, and says so.
func TestTargets(t *testing.T) {
	each := func(modules, mode string, f func(*Run)) func(*Report) {
		return func(r *Report) {
			for i := range r.Runs {
				if r.Runs[i].Modules == modules && r.Runs[i].Mode == mode && r.Runs[i].Numbers != nil {
					f(&r.Runs[i])
				}
			}
		}
	}
	once := func(f func(*Run)) func(*Report) {
		return func(r *Report) {
			done := false
			each(rdsExt, mapUseOnce, func(x *Run) {
				if !done {
					f(x)
				}
				done = true
			})(r)
		}
	}
	for name, tt := range map[string]struct {
		spoil func(*Report)
		bad   string // names of the targets that are missed
		text  string
	}{
		"slow sendmsg":         {each(stock, mapUseOnce, func(x *Run) { x.SendmsgMean *= 0.6 }), "sendmsg", "NOT MET"},
		"many MRs in one run":  {once(func(x *Run) { x.MRsAllocated = ptr[int64](33) }), "mrs", "NOT MET"},
		"many pages in one":    {once(func(x *Run) { x.PagesPeak = ptr[int64](33) }), "pages", "NOT MET"},
		"unknown pages in one": {once(func(x *Run) { x.PagesPeak = nil }), "pages", "NOT MEASURED"},
		"slow":                 {each(stock, mapUseOnce, func(x *Run) { x.OpsPerS *= 2 }), "ops", "NOT MET"},
		"local invalidations":  {each(rdsExt, mapRemoteInv, func(x *Run) { x.LocalInv = ptr[int64](100) }), "remote_inv", "NOT MET"},
		"slow GET_MR":          {each(rdsExt, getMRFreeMR, func(x *Run) { x.GetMR.Mean *= 2 }), "get_mr_free_mr", "NOT MET"},
		"slow GET_MR, once":    {each(rdsExt, getMRUseOnce, func(x *Run) { x.GetMR.Mean *= 2 }), "get_mr_use_once", "NOT MET"},
		"RDMA_MAP adds naught": {each(rdsExt, getMRUseOnce, func(x *Run) { x.SendmsgMean *= 9 }), "get_mr_use_once", "NOT MEASURED"},
		"slow messages":        {each(rdsExt, plain, func(x *Run) { x.OpsPerS *= 0.96 }), "plain", "NOT MET"},
		"no verbs":             {func(r *Report) { r.Verbs.Runs = nil }, "verbs", "NOT MEASURED"},
		"a run failed":         {once(func(x *Run) { x.Error = "a byte was wrong" }), "mrs pages", "NOT MEASURED"},
	} {
		t.Run(name, func(t *testing.T) {
			r := made()
			tt.spoil(r)
			r.evaluate()
			var bad []string
			for _, target := range r.Targets {
				if !target.Met {
					bad = append(bad, target.Name)
					if target.verdict() != tt.text {
						t.Errorf("%s: %s, want %s", target.Name, target.verdict(), tt.text)
					}
				}
			}
			if strings.Join(bad, " ") != tt.bad || r.unmet() != len(bad) {
				t.Errorf("missed: %v, want %s", bad, tt.bad)
			}
			if !strings.Contains(r.text(), tt.text) {
				t.Errorf("the text does not say so:\n%s", r.text())
			}
		})
	}
}

func TestVerdict(t *testing.T) {
	for want, target := range map[string]Target{
		"met":              {Value: ptr(13.0), Least: ptr(8.0), Aim: ptr(12.0)},
		"met, below the a": {Value: ptr(9.0), Least: ptr(8.0), Aim: ptr(12.0)},
		"aim reached":      {Value: ptr(0.7), Aim: ptr(0.6)},
		"below the aim":    {Value: ptr(0.5), Aim: ptr(0.6)},
		"NOT MEASURED":     {Least: ptr(1.0)},
		"NOT MET":          {Value: ptr(3.0), Most: ptr(2.0)},
	} {
		if got := target.judge().verdict(); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestBound(t *testing.T) {
	r := made()
	for i := range r.Runs {
		if r.Runs[i].Costs != nil {
			r.Runs[i].Costs = &Costs{8, 2400, 2000, 400, 0}
		}
	}
	r.evaluate()
	if want := "417 with all of the machine's 2 CPUs; 300 were done. That cost of each packet"; !strings.Contains(r.Bound, want) {
		t.Errorf("no %q in %s", want, r.Bound)
	}
	r.Runs = nil
	r.evaluate()
	if !strings.Contains(r.Bound, "Not known") {
		t.Errorf("%s", r.Bound)
	}
}
