// SPDX-License-Identifier: MIT

package splat

import (
	"regexp"
	"slices"
	"testing"
)

func kinds(w *Watcher) []string {
	var out []string
	for _, r := range w.Reports() {
		out = append(out, r.Kind)
	}
	return out
}

func TestMatch(t *testing.T) {
	tests := []struct{ line, want string }{
		{"[    1.0] WARNING: CPU: 0 PID: 7 at net/core/dev.c:1 f+0x1/0x2", "warning"},
		{"[    1.0] BUG: KASAN: slab-use-after-free in f+0x1/0x2", "KASAN"},
		{"[    1.0] BUG: kernel NULL pointer dereference, address: 0000000000000008", "bad memory access"},
		{"[    1.0] BUG: sleeping function called from invalid context at mm/x.c:1", "sleep in atomic context"},
		{"[    1.0] BUG: workqueue lockup - pool cpus=0 stuck for 35s!", "BUG"},
		{"[    1.0] WARNING: possible recursive locking detected", "lockdep"},
		{"[    1.0] Oops: 0000 [#1] PREEMPT SMP", "oops"},
		{"[    1.0] general protection fault, probably for non-canonical address 0x1: 0000 [#1]", "CPU exception"},
		{"[    1.0] INFO: task kworker/0:1:9 blocked for more than 30 seconds.", "hung task"},
		{"[    1.0] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:", "RCU stall"},
		{"[    1.0] rcu: INFO: rcu_preempt self-detected stall on CPU", "RCU stall"},
		{"[    1.0] watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [x:1]", "soft lock-up"},
		{"[    1.0] unregister_netdevice: waiting for eth0 to become free. Usage count = 2", "reference leak"},
		{"[    1.0] Kernel panic - not syncing: Attempted to kill init!", "kernel panic"},
		{"[    1.0] kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)", "memory leak"},
		{"[    1.0] refcount_t: underflow; use-after-free.", "reference count"},
		{"[    1.0] x[7]: segfault at 0 ip 0 sp 0 error 4 in x[0+1]", "program crash"},
		{"[    1.0] Call Trace:", "call trace"},
		{"[    1.0] MAX_LOCKDEP_CHAINS too low!", "lockdep"},
		{"[    1.0] rcu: Hierarchical RCU implementation.", ""},
		{"[    1.0] rcu: RCU calculated value of scheduler-enlistment delay is 25 jiffies.", ""},
		{"[    1.0] rds: loading out-of-tree module taints kernel.", ""},
		{"[    1.0] DEBUG: nothing", ""},
		{"[    1.0] ... MAX_LOCK_DEPTH:          48", ""},
		{"[    1.0] RDS/IB: connected 10.0.0.1<->10.0.0.2 version 3.1", ""},
	}
	for _, tt := range tests {
		if got := match(tt.line); got != tt.want {
			t.Errorf("match(%q) = %q, want %q", tt.line, got, tt.want)
		}
	}
}

func TestWatcherJoinsTheLinesOfAReport(t *testing.T) {
	w := NewWatcher()
	for _, l := range []string{"before", "WARNING: CPU: 0", "Call Trace:", " f+0x1", "---[ end trace 0 ]---", "after", "Oops: 1"} {
		w.Line(l)
	}
	select {
	case <-w.Found():
	default:
		t.Error("Found is not closed")
	}
	if got, want := kinds(w), []string{"warning", "oops"}; !slices.Equal(got, want) {
		t.Fatalf("reports %q, want %q", got, want)
	}
	if got := len(w.Reports()[0].Text); got != 4 {
		t.Errorf("the first report has %d lines, want 4: %q", got, w.Reports()[0].Text)
	}
}

func TestWatcherLetsKnownReportsPass(t *testing.T) {
	w := NewWatcher(Known{First: regexp.MustCompile(`possible recursive locking`), Why: "reason"})
	for _, l := range []string{"WARNING: possible recursive locking detected", "Call Trace:", " f+0x1"} {
		w.Line(l)
	}
	select {
	case <-w.Found():
		t.Fatalf("a known report was found: %q", kinds(w))
	default:
	}
	w.Line("BUG: KASAN: slab-out-of-bounds in f+0x1/0x2")
	if got := w.Passed(); got["reason"] != 1 {
		t.Errorf("let pass: %v", got)
	}
	if got, want := kinds(w), []string{"KASAN"}; !slices.Equal(got, want) {
		t.Errorf("after a known report: %q, want %q", got, want)
	}
}

// The same report with another trace is not let pass, nor is one that another
// or the end of the console cuts short.
func TestWatcherLooksInsideKnownReports(t *testing.T) {
	const first = "BUG: sleeping function called from invalid context at mm/x.c:1"
	const kind = "sleep in atomic context"
	tests := []struct {
		name  string
		lines []string
		want  []string
		pass  int
	}{
		{"known", []string{first, "Call Trace:", " stock+0x1", " </TASK>", "more"}, nil, 1},
		{"long", slices.Concat([]string{first}, slices.Repeat([]string{" g+0x1"}, 2*maxText), []string{" stock+0x1", "Call Trace:", " </TASK>"}), nil, 1},
		{"endless", slices.Concat([]string{first}, slices.Repeat([]string{" g+0x1"}, 2*maxKnown), []string{" stock+0x1"}), []string{kind}, 0},
		{"twice", []string{first, " stock+0x1", " </TASK>", first, " stock+0x1"}, nil, 2},
		{"other trace", []string{first, "Call Trace:", " other+0x1", " </TASK>", " stock+0x1"}, []string{kind}, 0},
		{"ours as well", []string{first, " stock+0x1", " ours+0x1", " </TASK>"}, []string{kind}, 0},
		{"other trace, then known", []string{first, " other+0x1", " </TASK>", first, " stock+0x1", " </TASK>"}, []string{kind}, 1},
		{"cut short by a known one", []string{first, " other+0x1", first, " stock+0x1", " </TASK>"}, []string{kind}, 1},
		{"cut short by another", []string{first, "Oops: 1", " stock+0x1"}, []string{kind, "oops"}, 0},
		{"cut short by the end", []string{first, "Call Trace:"}, []string{kind}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := NewWatcher(Known{First: regexp.MustCompile(`sleeping function`), Inside: regexp.MustCompile(` stock\+`),
				Unless: regexp.MustCompile(` ours\+`), Why: "reason"})
			for _, l := range tt.lines {
				w.Line(l)
			}
			w.Flush()
			if got := kinds(w); !slices.Equal(got, tt.want) {
				t.Errorf("reports %q, want %q", got, tt.want)
			}
			if got := w.Passed()["reason"]; got != tt.pass {
				t.Errorf("%d let pass, want %d", got, tt.pass)
			}
		})
	}
}
