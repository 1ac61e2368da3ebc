// SPDX-License-Identifier: MIT

// Package splat finds in the text of a kernel's console what no test may pass
// over: the kernel reporting a fault of its own.
package splat

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A pattern is how one kind of report begins. The names are for messages.
type pattern struct {
	name string
	re   *regexp.Regexp
}

func p(name, re string) pattern { return pattern{name, regexp.MustCompile(re)} }

// patterns are searched in this order in each line. They follow the wording of
// printk messages in kernels 6.1 to 7.3.
var patterns = []pattern{
	p("kernel panic", `Kernel panic - not syncing`),
	p("KASAN", `BUG: KASAN:`),
	p("KMSAN", `BUG: KMSAN:`),
	p("KFENCE", `BUG: KFENCE:`),
	p("KCSAN", `BUG: KCSAN:`),
	p("UBSAN", `UBSAN:`),
	p("kernel BUG", `kernel BUG at `),
	p("soft lock-up", `soft lockup`),
	p("hard lock-up", `hard LOCKUP`),
	p("sleep in atomic context", `BUG: sleeping function called|scheduling while atomic`),
	p("bad memory access", `BUG: unable to handle|[Uu]nable to handle kernel|BUG: kernel NULL pointer`),
	p("BUG", `\bBUG:? `),
	p("lockdep", `possible (recursive|circular|irq lock inversion)|inconsistent lock state|(HARDIRQ|SOFTIRQ).*-> .*unsafe|bad unlock balance|held lock freed|lock held when returning|DEBUG_LOCKS_WARN_ON|suspicious RCU usage|Invalid wait context|MAX_(LOCK|STACK)\w+ too low`),
	p("warning", `\bWARNING: `),
	p("oops", `\bOops\b`),
	p("CPU exception", `general protection fault|double fault|divide error:|invalid opcode:|stack segment:`),
	p("hung task", `INFO: task .* blocked for more than`),
	p("RCU stall", `(rcu|RCU).*(detected.* stall|detected expedited stall)|rcu.*kthread starved`),
	p("reference leak", `unregister_netdevice: waiting for`),
	p("reference count", `refcount_t:`),
	p("list corruption", `list_(add|del) corruption`),
	p("slab corruption", `Redzone .*overwritten|Poison overwritten|Object already free|Objects remaining in|kmem_cache_destroy .*: Slab cache still has objects`),
	p("bad page", `Bad page (state|map)`),
	p("memory leak", `kmemleak: [0-9]+ new suspected memory leaks`),
	p("out of memory", `Out of memory:|invoked oom-killer|page allocation failure`),
	p("DMA debugging", `DMA-API: `),
	p("object debugging", `ODEBUG: `),
	p("lost interrupt", `irq [0-9]+: nobody cared`),
	p("transmit time-out", `NETDEV WATCHDOG:`),
	p("program crash", `: segfault at | traps: .* (general protection|trap )`),
	p(callTrace, `Call Trace:`),
}

// A Report is one report of the kernel.
type Report struct {
	Kind string   // as named by this package
	Text []string // console lines, the first is the one that matched
}

// Error gives the whole report.
func (r *Report) Error() string {
	return fmt.Sprintf("kernel splat (%s):\n\t%s", r.Kind, strings.Join(r.Text, "\n\t"))
}

// callTrace is the one kind that is part of most others.
const callTrace = "call trace"

// maxText is how many lines are kept of one report, and maxKnown how many may
// belong to one that is known or may be: lockdep shows a trace for each lock of a
// circle before its own.
const (
	maxText  = 80
	maxKnown = 1000
)

// A Known is a kind of report to let pass.
type Known struct {
	// First matches the line that begins the report.
	First *regexp.Regexp
	// Inside matches a later line of the report; nil if the first is enough. With
	// it, the same report about other code is not let pass.
	Inside *regexp.Regexp
	// Unless, where it is not nil, matches no line of the report.
	Unless *regexp.Regexp
	// Why is the reason to let it pass, for people.
	Why string
}

// A candidate is what an open report may turn out to be.
type candidate struct {
	Known
	inside bool // a line matched Inside
}

// A Watcher is fed with console lines. Its methods can be called from any
// goroutine.
type Watcher struct {
	mu      sync.Mutex
	known   []Known
	reports []*Report
	passed  map[string]int // how many reports each Known.Why let pass
	open    *Report        // still taking lines
	lines   int            // how many it has
	// What is known and began as open did. As long as there are some, it shows at
	// the end of open whether it counts.
	candidates []candidate
	first      chan struct{}
}

// NewWatcher returns a watcher that lets pass what is known.
func NewWatcher(known ...Known) *Watcher {
	return &Watcher{known: known, passed: make(map[string]int), first: make(chan struct{})}
}

// Found is closed at the first report.
func (w *Watcher) Found() <-chan struct{} { return w.first }

// Line takes the next line of the console, without line end.
func (w *Watcher) Line(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	kind := match(line)
	if w.open != nil && !w.startsOver(kind) {
		if w.lines++; w.lines <= maxText {
			w.open.Text = append(w.open.Text, line)
		}
		w.compare(line)
		if w.ends(line) {
			w.finish()
		}
		return
	}
	if kind == "" {
		return
	}
	w.finish()
	w.open, w.lines = &Report{Kind: kind, Text: []string{line}}, 1
	for _, k := range w.known {
		if k.First.MatchString(line) {
			w.candidates = append(w.candidates, candidate{k, k.Inside == nil})
		}
	}
	if len(w.candidates) == 0 {
		w.add()
	}
}

// compare looks for what makes the open report a known one, or not.
func (w *Watcher) compare(line string) {
	if len(w.candidates) == 0 {
		return
	}
	w.candidates = slices.DeleteFunc(w.candidates, func(c candidate) bool {
		return c.Unless != nil && c.Unless.MatchString(line)
	})
	for i := range w.candidates {
		c := &w.candidates[i]
		c.inside = c.inside || c.Inside.MatchString(line)
	}
	if len(w.candidates) == 0 {
		w.add()
	}
}

// add makes a report of the open one.
func (w *Watcher) add() {
	if len(w.reports) == 0 {
		close(w.first)
	}
	w.reports = append(w.reports, w.open)
}

// finish ends the open report. One that may be known but was not found to be
// counts.
func (w *Watcher) finish() {
	if len(w.candidates) > 0 {
		i := slices.IndexFunc(w.candidates, func(c candidate) bool { return c.inside })
		if i < 0 {
			w.add()
		} else {
			w.passed[w.candidates[i].Why]++
		}
	}
	w.open, w.candidates = nil, nil
}

// Flush says that no further line belongs to what is open: the console has
// ended.
func (w *Watcher) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.finish()
}

// ends reports whether the line is the last of the open report. One that may be
// let pass ends with its trace, lest it take up what is not known.
func (w *Watcher) ends(line string) bool {
	if strings.Contains(line, "---[ end trace") {
		return true
	}
	if len(w.candidates) > 0 {
		return w.lines == maxKnown || strings.Contains(line, "</TASK>")
	}
	return w.lines >= maxText
}

// startsOver reports whether a line of that kind begins a report although one is
// open. Lines that match again, such as the call trace of a warning, belong to
// the open report, but a known one must not swallow what is not known.
func (w *Watcher) startsOver(kind string) bool {
	return len(w.candidates) > 0 && kind != "" && kind != callTrace
}

func match(line string) string {
	for _, p := range patterns {
		if p.re.MatchString(line) {
			return p.name
		}
	}
	return ""
}

// Passed returns how many reports that have ended were let pass, by [Known.Why].
func (w *Watcher) Passed() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.passed)
}

// Reports returns copies of the reports so far.
func (w *Watcher) Reports() []*Report {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]*Report, 0, len(w.reports))
	for _, r := range w.reports {
		out = append(out, &Report{Kind: r.Kind, Text: append([]string(nil), r.Text...)})
	}
	return out
}
