// SPDX-License-Identifier: MIT

package main

// numbersOf has the numbers of one round.
type numbersOf struct {
	report *Report
	round  int
}

// get returns a number of a mode, nil if this round does not have it.
func (n numbersOf) get(modules, mode string, number func(Run) *float64) *float64 {
	for _, r := range n.report.of(modules, mode) {
		if r.Round == n.round {
			return number(r)
		}
	}
	return nil
}

// verbs returns a number of the verbs.
func (n numbersOf) verbs(number func(VerbsRun) float64) *float64 {
	for _, r := range n.report.Verbs.Runs {
		if r.Round == n.round {
			v := number(r)
			return &v
		}
	}
	return nil
}

// over divides two numbers where both are known and the second is above 0.
func over(a, b *float64) *float64 {
	if a == nil || b == nil || *b <= 0 {
		return nil
	}
	q := round(*a / *b, 4)
	return &q
}

// less subtracts two numbers where both are known.
func less(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	d := *a - *b
	return &d
}

// A ratio compares numbers of the same round, so that what changes on the machine
// in the course of the rounds changes both.
type ratio struct {
	name string // in bench.json; stays as it is
	text string
	of   func(numbersOf) *float64
}

// The names of those ratios that have a target.
const (
	ratioSendmsg   = "sendmsg_stock_over_rds_ext"
	ratioOps       = "ops_rds_ext_over_stock"
	ratioVerbs     = "ops_rds_ext_over_ib_write_bw"
	ratioPlain     = "plain_rds_ext_over_stock"
	ratioGetMRFree = "get_mr_over_what_rdma_map_adds_free_mr"
	ratioGetMROnce = "get_mr_over_what_rdma_map_adds_use_once"
)

// getMROverMap compares GET_MR with the time by which a sendmsg that registers is
// longer than one that sends a key which is there already (RDMA_DEST): the same
// message otherwise.
func getMROverMap(getMR, mapped string, sendmsg, call func(Run) *float64) func(numbersOf) *float64 {
	return func(n numbersOf) *float64 {
		adds := less(n.get(rdsExt, mapped, sendmsg), n.get(rdsExt, getMR, sendmsg))
		return over(n.get(rdsExt, getMR, call), adds)
	}
}

func ratios() []ratio {
	both := func(mode string, number func(Run) *float64) func(numbersOf) *float64 {
		return func(n numbersOf) *float64 { return over(n.get(rdsExt, mode, number), n.get(stock, mode, number)) }
	}
	verbs := func(number func(VerbsRun) float64) func(numbersOf) *float64 {
		return func(n numbersOf) *float64 { return over(n.get(rdsExt, mapUseOnce, opsPerS), n.verbs(number)) }
	}
	sendmsg := func(number func(Run) *float64) func(numbersOf) *float64 {
		return func(n numbersOf) *float64 {
			return over(n.get(stock, mapUseOnce, number), n.get(rdsExt, mapUseOnce, number))
		}
	}
	return []ratio{
		{ratioSendmsg, "RDMA_MAP use-once: mean sendmsg, stock over rds_ext", sendmsg(sendmsgMean)},
		{"sendmsg_p50_stock_over_rds_ext", "the same of the median sendmsg", sendmsg(sendmsgP50)},
		{ratioOps, "RDMA_MAP use-once: operations/s, rds_ext over stock", both(mapUseOnce, opsPerS)},
		{"latency_p50_rds_ext_over_stock", "RDMA_MAP use-once: median latency, rds_ext over stock", both(mapUseOnce, latencyP50)},
		{ratioVerbs, "RDMA_MAP use-once: operations/s of rds_ext over the writes/s of ib_write_bw", verbs(func(v VerbsRun) float64 { return v.WriteBW })},
		{"ops_rds_ext_over_ib_send_bw", "RDMA_MAP use-once: operations/s of rds_ext over the messages/s of ib_send_bw", verbs(func(v VerbsRun) float64 { return v.SendBW })},
		{ratioPlain, "messages without RDMA a second, rds_ext over stock", both(plain, opsPerS)},
		{ratioGetMRFree, "mean GET_MR over what RDMA_MAP adds to the mean sendmsg, with FREE_MR",
			getMROverMap(getMRFreeMR, mapFreeMR, sendmsgMean, getMRMean)},
		{ratioGetMROnce, "mean GET_MR over what RDMA_MAP adds to the mean sendmsg, use once",
			getMROverMap(getMRUseOnce, mapUseOnce, sendmsgMean, getMRMean)},
		{"get_mr_p50_over_what_rdma_map_adds_free_mr", "the same of medians, with FREE_MR",
			getMROverMap(getMRFreeMR, mapFreeMR, sendmsgP50, getMRP50)},
		{"get_mr_p50_over_what_rdma_map_adds_use_once", "the same of medians, use once",
			getMROverMap(getMRUseOnce, mapUseOnce, sendmsgP50, getMRP50)},
	}
}

// evaluate fills in everything that follows from the runs.
func (r *Report) evaluate() {
	r.Ratios, r.RatiosByRound = map[string]*float64{}, map[string][]*float64{}
	for _, x := range ratios() {
		var known []float64
		for i := 1; i <= r.Rounds; i++ {
			v := x.of(numbersOf{r, i})
			r.RatiosByRound[x.name] = append(r.RatiosByRound[x.name], v)
			if v != nil {
				known = append(known, *v)
			}
		}
		r.Ratios[x.name] = median(known)
	}
	var lat, send, write []float64
	for _, v := range r.Verbs.Runs {
		lat, send, write = append(lat, v.SendLat), append(send, v.SendBW), append(write, v.WriteBW)
	}
	r.Verbs.SendLat, r.Verbs.SendBW, r.Verbs.WriteBW = median(lat), median(send), median(write)
	r.Plain = Plain{Stock: r.median(stock, plain, opsPerS), RDSExt: r.median(rdsExt, plain, opsPerS)}
	var load []float64
	for _, x := range r.Runs {
		if x.Costs != nil {
			load = append(load, x.OtherLoad)
		}
	}
	r.Host.OtherLoad = median(load)
	r.Targets = r.targets()
	r.Bound = r.bound()
}
