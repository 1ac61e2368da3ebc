// SPDX-License-Identifier: MIT

package main

import "fmt"

// bound says in words, with the numbers of this machine, what bounds the rates.
func (r *Report) bound() string {
	cost := func(get func(*Costs) float64) *float64 {
		return r.median(rdsExt, mapUseOnce, func(x Run) *float64 {
			if x.Costs == nil {
				return nil
			}
			v := get(x.Costs)
			return &v
		})
	}
	modules, frames := rdsExt, cost(func(c *Costs) float64 { return c.FramesPerOp })
	if frames == nil {
		return "Not known: RDMA_MAP use-once did not run on rds_ext."
	}
	a := *cost(func(c *Costs) float64 { return c.CPUAsking })
	b := *cost(func(c *Costs) float64 { return c.CPUServing })
	s := *cost(func(c *Costs) float64 { return c.CPUSwitch })
	how := "CPUs that QEMU emulates"
	if r.Host.Accel != "tcg" {
		how = "virtual CPUs"
	}
	text := fmt.Sprintf("An operation of RDMA_MAP use-once on %s puts %.1f frames on the wire. The soft RoCE driver of both VMs, with one of the %s each, "+
		"and the switch between them spend %.0f, %.0f and %.0f us of CPU time of the machine on it, %.0f us in all.", modules, *frames, how, a, b, s, a+b+s)
	text += r.compareWithLimit(a, b, s)
	return text + " ib_write_bw moves the same payload with one packet and a share of an acknowledgement. " +
		"The time of sendmsg has no such bound: it is that of the system call alone." + r.busy()
}

// compareWithLimit compares the rate with what the CPU time of an operation, in us
// for the two VMs and the switch, allows.
func (r *Report) compareWithLimit(a, b, s float64) string {
	rate := r.median(rdsExt, mapUseOnce, opsPerS)
	slowest, total := max(a, b, s), a+b+s
	if rate == nil || slowest <= 0 {
		return ""
	}
	byOne, byAll := 1e6/slowest, 1e6*float64(r.Host.CPUs)/total
	text := fmt.Sprintf(" So no more than %.0f operations/s are possible with the busiest of the three, and %.0f with all of the machine's %d CPUs; %.0f were done.",
		byOne, byAll, r.Host.CPUs, *rate)
	if *rate >= bounding*min(byOne, byAll) {
		return text + " That cost of each packet, and not the registration of memory, is what bounds operations/s here."
	}
	return text + " That is much less: something else than the CPU bounds operations/s here."
}

// bounding is the share of a limit from which on it is taken for what bounds.
const bounding = 0.6

// busy says how busy the CPU of the asking VM was.
func (r *Report) busy() string {
	share := r.median(rdsExt, mapUseOnce, func(x Run) *float64 { return x.CPUBusy })
	if share == nil {
		return ""
	}
	return fmt.Sprintf(" The CPU of the VM that asks was busy for %.0f %% of the time.", 100**share)
}
