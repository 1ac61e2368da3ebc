// SPDX-License-Identifier: MIT

package main

// A Target is what rds_ext has to reach.
type Target struct {
	Name  string   `json:"name"`
	Text  string   `json:"text"`
	Value *float64 `json:"value"` // null: could not be measured
	Least *float64 `json:"at_least,omitempty"`
	Most  *float64 `json:"at_most,omitempty"`
	Met   bool     `json:"met"`
	// Aim is no condition, but what is hoped for, in the same direction. A target
	// with nothing else is met when it was measured.
	Aim    *float64 `json:"aim,omitempty"`
	AimMet *bool    `json:"aim_met,omitempty"`
}

// judge fills in what follows from the value.
func (t Target) judge() Target {
	reached := func(limit *float64) bool {
		if t.Value == nil || limit == nil {
			return false
		}
		if t.Most != nil {
			return *t.Value <= *limit
		}
		return *t.Value >= *limit
	}
	switch {
	case t.Most != nil:
		t.Met = reached(t.Most)
	case t.Least != nil:
		t.Met = reached(t.Least)
	default:
		t.Met = t.Value != nil
	}
	if t.Aim != nil {
		met := reached(t.Aim)
		t.AimMet = &met
	}
	return t
}

// targets are those conditions of the MR engine that a comparison of rates, times
// and counts can show.
func (r *Report) targets() []Target {
	num := func(x float64) *float64 { return &x }
	inFlight := float64(4 * r.Depth)
	pages := float64((r.Size + 4095) / 4096)
	list := []Target{
		{Name: "sendmsg", Text: "mean sendmsg of RDMA_MAP use-once: so many times shorter than on stock",
			Value: r.Ratios[ratioSendmsg], Least: num(8), Aim: num(12)},
		{Name: "mrs", Text: "MRs allocated in a whole run of RDMA_MAP use-once, in the worst round",
			Value: r.worst(mapUseOnce, mrsAllocated), Most: num(inFlight)},
		{Name: "pages", Text: "most pages pinned at one time, in the worst round",
			Value: r.worst(mapUseOnce, pagesPeak), Most: num(inFlight * pages)},
		{Name: "ops", Text: "operations/s of RDMA_MAP use-once over stock",
			Value: r.Ratios[ratioOps], Least: num(1)},
		{Name: "verbs", Text: "operations/s of RDMA_MAP use-once over the writes/s of ib_write_bw",
			Value: r.Ratios[ratioVerbs], Aim: num(0.6)},
		{Name: "remote_inv", Text: "local invalidations in a run with remote invalidation, in the worst round: none but at its ends",
			Value: r.worst(mapRemoteInv, localInv), Most: num(float64(r.Depth))},
		{Name: "get_mr_free_mr", Text: "mean GET_MR over what RDMA_MAP adds to a sendmsg, with FREE_MR",
			Value: r.Ratios[ratioGetMRFree], Most: num(2)},
		{Name: "get_mr_use_once", Text: "mean GET_MR over what RDMA_MAP adds to a sendmsg, use once",
			Value: r.Ratios[ratioGetMROnce], Most: num(2)},
		{Name: "plain", Text: "messages/s without RDMA over stock",
			Value: r.Ratios[ratioPlain], Least: num(0.97)},
	}
	for i := range list {
		list[i] = list[i].judge()
	}
	return list
}

// worst returns the largest value of any round. A round without a value has no
// largest.
func (r *Report) worst(mode string, number func(Run) *float64) *float64 {
	runs := r.of(rdsExt, mode)
	if len(runs) < r.Rounds {
		return nil
	}
	var most *float64
	for _, x := range runs {
		v := number(x)
		if v == nil {
			return nil
		}
		if most == nil || *v > *most {
			most = v
		}
	}
	return most
}

// unmet returns how many targets are not met.
func (r *Report) unmet() (n int) {
	for _, t := range r.Targets {
		if !t.Met {
			n++
		}
	}
	return n
}
