// SPDX-License-Identifier: MIT

// Package splat finds in the text of a kernel's console what no test may pass
// over: the kernel reporting a fault of its own.
package splat

import (
	"fmt"
	"regexp"
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
	p("lockdep", `possible (recursive|circular|irq lock inversion)|inconsistent lock state|(HARDIRQ|SOFTIRQ).*-> .*unsafe|bad unlock balance|held lock freed|lock held when returning|DEBUG_LOCKS_WARN_ON|suspicious RCU usage|Invalid wait context|MAX_LOCK(DEP|_DEPTH)`),
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

// maxText is how many lines are kept of one report.
const maxText = 80

// A Watcher is fed with console lines. Its methods can be called from any
// goroutine.
type Watcher struct {
	mu      sync.Mutex
	known   []*regexp.Regexp
	reports []*Report
	open    *Report // still taking lines
	// openKnown is whether open is one to let pass.
	openKnown bool
	first     chan struct{}
}

// NewWatcher returns a watcher that lets pass reports whose first line matches
// one of known.
func NewWatcher(known ...*regexp.Regexp) *Watcher {
	return &Watcher{known: known, first: make(chan struct{})}
}

// Found is closed at the first report.
func (w *Watcher) Found() <-chan struct{} { return w.first }

// Line takes the next line of the console, without line end.
func (w *Watcher) Line(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	kind := match(line)
	if w.open != nil && !w.startsOver(kind) {
		w.open.Text = append(w.open.Text, line)
		if strings.Contains(line, "---[ end trace") || len(w.open.Text) == maxText {
			w.open = nil
		}
		return
	}
	if kind == "" {
		return
	}
	r := &Report{Kind: kind, Text: []string{line}}
	w.open, w.openKnown = r, false
	for _, k := range w.known {
		if k.MatchString(line) {
			w.openKnown = true // its trace is taken up and forgotten
			return
		}
	}
	if len(w.reports) == 0 {
		close(w.first)
	}
	w.reports = append(w.reports, r)
}

// startsOver reports whether a line of that kind begins a report although one is
// open. Lines that match again, such as the call trace of a warning, belong to
// the open report, but a known one must not swallow what is not known.
func (w *Watcher) startsOver(kind string) bool {
	return w.openKnown && kind != "" && kind != callTrace
}

func match(line string) string {
	for _, p := range patterns {
		if p.re.MatchString(line) {
			return p.name
		}
	}
	return ""
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
