// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/rds-ext/rds_ext/gonl"
)

// module has what only rds_ext.ko tells, but for connections.
func (c *collector) module(out metrics) error {
	return c.a.with(func(ctl control) error {
		s, err := ctl.Settings(c.ctx)
		if err != nil {
			return err
		}
		out.gauge("rds_ext_info", "Versions of rds_ext.ko and of the protocol that it announces.", 1,
			"module_version", s.ModuleVersion, "protocol_version", s.ProtocolVersion.String())
		out.gauge("rds_ext_setting_mr_engine", "Whether new MRs are registered with the MR engine.", gaugeBool(s.MREngine))
		out.gauge("rds_ext_setting_mr_max_age_seconds", "Age at which a use-once MR is reported, 0 for never.", s.MRMaxAge.Seconds())
		return errors.Join(c.mrs(out, ctl), c.pools(out, ctl), c.exthdrs(out, ctl))
	})
}

// endings are the counters of MRs that say how an MR has ended.
var endings = []string{
	"released", "remotely-invalidated", "freed", "orphaned", "unsent", "expired", "revoked", "device-removed",
}

func (c *collector) mrs(out metrics, ctl control) error {
	stats, err := ctl.MRStats(c.ctx)
	if err != nil {
		return err
	}
	values := map[string]uint64{}
	for _, n := range mrCounters(stats) {
		values[n.name] = n.value
	}
	out.gauge("rds_ext_mrs_live", "MRs of the MR engine that are in use, on the whole host.", float64(values["live"]))
	delete(values, "live")
	for _, how := range endings {
		out.counter("rds_ext_mr_ends_total", "MRs that have come to their end, by the way.", values[how], "how", how)
		delete(values, how)
	}
	for _, limit := range []string{"socket", "user", "pool"} {
		out.counter("rds_ext_mr_limited_total", "MRs that were refused at a limit.", values["limited-"+limit], "limit", limit)
		delete(values, "limited-"+limit)
	}
	for _, n := range mrCounters(stats) {
		if v, ok := values[n.name]; ok {
			out.counter("rds_ext_mr_"+metricName(n.name)+"_total", "Counter "+n.name+" of the MR engine.", v)
		}
	}
	return c.oldest(out, ctl)
}

// oldest has the age of the oldest use-once MR of each device. One that has an age
// of hours is memory that somebody waits for in vain.
func (c *collector) oldest(out metrics, ctl control) error {
	list, err := ctl.MRs(c.ctx, gonl.MRFilter{})
	if err != nil && !errors.Is(err, gonl.ErrPartial) {
		return err
	}
	ages := map[string]time.Duration{}
	useOnce := map[string]int{}
	for i := range list {
		m := &list[i]
		if m.Flags&gonl.MRFlagUseOnce != 0 && m.State.InUse() {
			useOnce[m.Device]++
			ages[m.Device] = max(ages[m.Device], m.Age)
		}
	}
	for device, n := range useOnce {
		out.gauge("rds_ext_mrs_use_once", "Use-once MRs of this network namespace that are in use.", float64(n), "device", device)
		out.gauge("rds_ext_mr_oldest_use_once_age_seconds", "Age of the oldest use-once MR of this network namespace that is in use.",
			ages[device].Seconds(), "device", device)
	}
	return err
}

func (c *collector) pools(out metrics, ctl control) error {
	list, err := ctl.Pools(c.ctx)
	if err != nil && !errors.Is(err, gonl.ErrPartial) {
		return err
	}
	// Peaks are the business of the monitoring system.
	gauges := map[string]string{
		"limit": "MRs that the pool may have.", "mrs": "MRs that are allocated.", "in-use": "MRs that are registered.",
		"invalidating": "MRs that have come to their end and are not invalid yet.", "free": "MRs that are ready for use.",
		"quarantined": "MRs that are invalid and keep their key while a peer may name it.", "pinned-pages": "Pages that MRs pin.",
	}
	for _, p := range list {
		for _, row := range poolRows {
			name := "rds_ext_pool_" + strings.ReplaceAll(row.name, "-", "_")
			switch help, gauge := gauges[row.name]; {
			case strings.HasSuffix(row.name, "-peak"):
			case gauge:
				out.gauge(name, help, float64(row.value(p)), "device", p.Device)
			default:
				out.counter(name+"_total", "Counter "+row.name+" of the pool.", row.value(p), "device", p.Device)
			}
		}
	}
	return err
}

func (c *collector) exthdrs(out metrics, ctl control) error {
	list, err := ctl.ExtHdrs(c.ctx)
	if err != nil && !errors.Is(err, gonl.ErrPartial) {
		return err
	}
	for _, h := range list {
		labels := []string{"type", strconv.Itoa(int(h.Type)), "name", h.Name}
		for _, n := range exthdrTotals([]gonl.ExtHdr{h}) {
			out.counter("rds_ext_exthdr_"+metricName(n.name)+"_total", "Counter "+n.name+" of a type of extension header.", n.value, labels...)
		}
	}
	return err
}
