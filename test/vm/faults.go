// SPDX-License-Identifier: MIT

package vm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// A FaultPoint is a kind of step in the kernel that can be made to fail, by the
// name of its directory in debugfs.
type FaultPoint string

// The fault points of a kernel that checks itself.
const (
	FailSlab     FaultPoint = "failslab"        // allocation of an object: ENOMEM
	FailPages    FaultPoint = "fail_page_alloc" // allocation of pages: ENOMEM
	FailUsercopy FaultPoint = "fail_usercopy"   // copy from or to the process: EFAULT
)

// faultSettings are what a fault point has to be told once, beside what
// [Node.StartFaults] sets. By default, allocations that may wait never fail, and
// each failure leaves a trace in the console, which would fail the test.
var faultSettings = map[FaultPoint]map[string]string{
	FailSlab:     {"verbose": "0", "task-filter": "Y", "ignore-gfp-wait": "N", "cache-filter": "N"},
	FailPages:    {"verbose": "0", "task-filter": "Y", "ignore-gfp-wait": "N", "min-order": "0"},
	FailUsercopy: {"verbose": "0", "task-filter": "Y"},
}

// markKmalloc is the kernel parameter that marks the caches behind kmalloc, so
// that failures can be limited to those. What a process needs to go on, such as
// threads and mappings, comes from caches of its own.
const markKmalloc = "slub_debug=A,kmalloc-*"

// faultBudget is how many failures a fault point may cause. It counts down from
// there, which tells how many there were.
const faultBudget = 1 << 30

func (p FaultPoint) file(name string) string {
	return path.Join("/sys/kernel/debug", string(p), name)
}

// HasFaults reports whether the node's kernel can be made to fail.
func (n *Node) HasFaults(ctx context.Context) (bool, error) {
	_, err := n.ReadFile(ctx, FailSlab.file("times"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// PrepareFaults makes all fault points ready without making anything fail:
// afterwards a thread can ask for the failure of its next steps by
// /proc/thread-self/fail-nth, as the program failnth does.
func (n *Node) PrepareFaults(ctx context.Context) error {
	for p, settings := range faultSettings {
		if err := n.Set(ctx, p.file("probability"), "0"); err != nil {
			return fmt.Errorf("%s: %w; does this kernel have it? (-kernel debug has)", p, err)
		}
		for name, value := range settings {
			if err := n.Set(ctx, p.file(name), value); err != nil {
				return fmt.Errorf("%s/%s: %w", p, name, err)
			}
		}
	}
	return nil
}

// Faults are failures on demand. They are in force until Stop.
type Faults struct {
	n     *Node
	point FaultPoint
}

// StartFaults makes every such step of the processes fail that were started by
// the program underfaults ("underfaults rdsmr stress ..."), counted over all of
// them; every is at least 1. A process that is to get through its own start is
// started first.
//
// Of allocations, only those by kmalloc fail: without threads and memory
// mappings, a Go program ends before it has told anything about RDS. Work queues
// and interrupts are nobody's: nothing fails there.
func (n *Node) StartFaults(ctx context.Context, point FaultPoint, every int) (*Faults, error) {
	if faultSettings[point] == nil || every < 1 {
		return nil, fmt.Errorf("no fault point %q, or not 1 in %d", point, every)
	}
	if err := n.PrepareFaults(ctx); err != nil {
		return nil, err
	}
	if point == FailSlab {
		if err := n.Set(ctx, point.file("cache-filter"), "Y"); err != nil {
			return nil, err
		}
	}
	// The probability switches it on.
	for _, s := range []struct{ name, value string }{
		{"interval", strconv.Itoa(every)}, {"times", strconv.Itoa(faultBudget)}, {"probability", "100"},
	} {
		if err := n.Set(ctx, point.file(s.name), s.value); err != nil {
			return nil, fmt.Errorf("%s/%s: %w", point, s.name, err)
		}
	}
	return &Faults{n, point}, nil
}

// Failed returns how many failures there have been.
func (f *Faults) Failed(ctx context.Context) (int, error) {
	b, err := f.n.ReadFile(ctx, f.point.file("times"))
	if err != nil {
		return 0, err
	}
	left, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0, fmt.Errorf("%s/times: %w", f.point, err)
	}
	return faultBudget - left, nil
}

// Stop ends the failures and returns how many there were.
func (f *Faults) Stop(ctx context.Context) (int, error) {
	if err := f.n.Set(ctx, f.point.file("probability"), "0"); err != nil {
		return 0, err
	}
	return f.Failed(ctx)
}
