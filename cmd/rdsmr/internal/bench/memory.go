// SPDX-License-Identifier: MIT

package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rds-ext/rds_ext/gonl"
)

// Memory is what a run took of the resources that RDMA needs, on this host. What
// cannot be known is nil.
type Memory struct {
	Allocated *int64 `json:"mrs_allocated"` // MRs allocated during the run
	Peak      *int64 `json:"mrs_peak"`      // most MRs that existed at one time
	PagesPeak *int64 `json:"pages_peak"`    // most pages that were pinned at one time
	LocalInv  *int64 `json:"local_inv"`     // local invalidations posted
	RemoteInv *int64 `json:"remote_inv"`    // MRs invalidated by the peer's messages
	Source    string `json:"mr_source"`     // SourcePool or SourceCounters
}

// Where the numbers of Memory come from.
const (
	// SourcePool: the MR engine of rds_ext.ko, which counts each.
	SourcePool = "pool"
	// SourceCounters: the counters of net/rds (RDS_INFO_COUNTERS), read several
	// times a second, and the kernel's count of pinned pages in /proc/vmstat.
	SourceCounters = "counters"
)

// meter measures the Memory of a run between its begin and its end.
type meter interface {
	begin(ctx context.Context) error
	end(ctx context.Context) (Memory, error)
}

// newMeter chooses the source: the MR engine if it is on.
func (b *bench) newMeter(ctx context.Context) (meter, error) {
	if b.control != nil {
		on, err := engineOn(ctx, b.control)
		if err != nil {
			return nil, err
		}
		if on {
			return &poolMeter{control: b.control}, nil
		}
	}
	return &counterMeter{read: b.counters, proc: b.cfg.ReadFile}, nil
}

// engineOn reports whether MRs are made by the MR engine: rds_ext.ko has it, and
// it is not turned off.
func engineOn(ctx context.Context, c Control) (bool, error) {
	s, err := c.Settings(ctx)
	if err != nil || !s.MREngine {
		return false, err
	}
	var refused *gonl.OpError
	if _, err := c.Pools(ctx); errors.As(err, &refused) {
		return false, nil // of a module from before the engine
	} else if err != nil {
		return false, err
	}
	return true, nil
}

// poolMeter reads the pools of all devices.
type poolMeter struct {
	control Control
	before  gonl.Pool
	reset   bool // the peaks are of this run alone
}

func (m *poolMeter) begin(ctx context.Context) (err error) {
	switch err := m.control.ResetPeaks(ctx); {
	case err == nil:
		m.reset = true
	case !errors.Is(err, fs.ErrPermission):
		return err
	}
	m.before, err = poolSum(ctx, m.control)
	return err
}

func (m *poolMeter) end(ctx context.Context) (Memory, error) {
	after, err := poolSum(ctx, m.control)
	if err != nil {
		return Memory{}, err
	}
	b := &m.before
	return Memory{
		Allocated: since(b.Allocated, after.Allocated),
		Peak:      m.peak(uint64(b.MRsPeak), uint64(after.MRsPeak)),
		PagesPeak: m.peak(b.PinnedPagesPeak, after.PinnedPagesPeak),
		LocalInv:  since(b.LocalInvalidations, after.LocalInvalidations),
		RemoteInv: since(b.RemoteInvalidations, after.RemoteInvalidations),
		Source:    SourcePool,
	}, nil
}

// peak returns the peak of the run. Where it could not be reset it is known only
// if it rose.
func (m *poolMeter) peak(before, after uint64) *int64 {
	if !m.reset && after <= before {
		return nil
	}
	return since(0, after)
}

// since returns how much a counter rose, nil if it fell: somebody has loaded the
// module again.
func since(before, after uint64) *int64 {
	if after < before {
		return nil
	}
	n := int64(after - before)
	return &n
}

// poolSum adds up the pools of all devices, in those fields that are used here.
func poolSum(ctx context.Context, c Control) (sum gonl.Pool, err error) {
	pools, err := c.Pools(ctx)
	if err != nil {
		return sum, err
	}
	for _, p := range pools {
		sum.Allocated += p.Allocated
		sum.MRsPeak += p.MRsPeak
		sum.PinnedPagesPeak += p.PinnedPagesPeak
		sum.LocalInvalidations += p.LocalInvalidations
		sum.RemoteInvalidations += p.RemoteInvalidations
	}
	return sum, nil
}

// counterMeter reads what every kernel tells.
type counterMeter struct {
	read func() (map[string]uint64, error)
	proc func(name string) ([]byte, error)

	before, peak counts
	stop         chan struct{}
	done         sync.WaitGroup
	err          error // of a sample
}

// counts is one sample.
type counts struct {
	allocated, existing int64
	pinned              int64
	pinnedKnown         bool
}

// samplePeriod is short enough to see the growth of stock's pool, which sheds MRs
// only when it is flushed, and long enough to cost nothing that can be measured.
const samplePeriod = 200 * time.Millisecond

func (m *counterMeter) begin(context.Context) (err error) {
	if m.before, err = m.sample(); err != nil {
		return err
	}
	m.peak = m.before
	m.stop = make(chan struct{})
	m.done.Go(func() {
		t := time.NewTicker(samplePeriod)
		defer t.Stop()
		for {
			select {
			case <-m.stop:
				return
			case <-t.C:
				m.note()
			}
		}
	})
	return nil
}

func (m *counterMeter) note() {
	c, err := m.sample()
	if err != nil {
		m.err = err
		return
	}
	m.peak.existing = max(m.peak.existing, c.existing)
	m.peak.pinned = max(m.peak.pinned, c.pinned)
	m.peak.allocated = c.allocated
}

func (m *counterMeter) end(context.Context) (Memory, error) {
	close(m.stop)
	m.done.Wait()
	m.note()
	if m.err != nil {
		return Memory{}, m.err
	}
	allocated := m.peak.allocated - m.before.allocated
	mem := Memory{Allocated: &allocated, Peak: &m.peak.existing, Source: SourceCounters}
	if m.before.pinnedKnown {
		// Others may hold pins as well: what the run has added counts.
		pages := m.peak.pinned - m.before.pinned
		mem.PagesPeak = &pages
	}
	return mem, nil
}

// sample reads the counters of both of stock's pools, for small regions and large
// ones, and the kernel's pinned pages.
func (m *counterMeter) sample() (c counts, err error) {
	n, err := m.read()
	if err != nil {
		return c, err
	}
	for _, pool := range []string{"8k", "1m"} {
		alloc, ok := n["ib_rdma_mr_"+pool+"_alloc"]
		if !ok {
			return c, fmt.Errorf("this kernel's RDS has no counter ib_rdma_mr_%s_alloc: is rds_rdma loaded?", pool)
		}
		c.allocated += int64(alloc)
		c.existing += int64(alloc) - int64(n["ib_rdma_mr_"+pool+"_free"])
	}
	text, err := m.proc("/proc/vmstat")
	if err != nil {
		return c, err
	}
	taken, ok1 := vmstat(text, "nr_foll_pin_acquired")
	given, ok2 := vmstat(text, "nr_foll_pin_released")
	c.pinned, c.pinnedKnown = taken-given, ok1 && ok2
	return c, nil
}

// vmstat finds a number in the text of /proc/vmstat.
func vmstat(text []byte, name string) (int64, bool) {
	sc := bufio.NewScanner(bytes.NewReader(text))
	for sc.Scan() {
		if v, ok := strings.CutPrefix(sc.Text(), name+" "); ok {
			n, err := strconv.ParseInt(v, 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
