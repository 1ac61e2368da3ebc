// SPDX-License-Identifier: MIT

package vm

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// kmemleak is where the kernel lists what is allocated and referred to by
// nothing.
const kmemleak = "/sys/kernel/debug/kmemleak"

// leakAge is more than the age below which kmemleak reports nothing.
const leakAge = 6 * time.Second

// leakLimit is the time for the search of one VM.
const leakLimit = 5 * time.Minute

// A knownLeak is a leak of stock code: its trace has a line that matches.
type knownLeak struct {
	trace *regexp.Regexp
	why   string
}

// stockLeaks are let pass.
var stockLeaks []knownLeak

// leaks has the kernel look for lost memory and returns as an error what it
// finds.
func (n *Node) leaks() error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), leakLimit,
		fmt.Errorf("the search for leaks took more than %v", leakLimit))
	defer cancel()
	// What was lost a moment ago counts as well, but has to come of age first.
	select {
	case <-time.After(leakAge):
	case <-ctx.Done():
	}
	// What changed since the scan before is taken to be in use, so it takes two.
	for range 2 {
		if err := n.Set(ctx, kmemleak, "scan"); err != nil {
			return fmt.Errorf("search for leaks: %w", err)
		}
	}
	b, err := n.ReadFile(ctx, kmemleak)
	if err != nil {
		return fmt.Errorf("search for leaks: %w", err)
	}
	var errs []error
	for _, leak := range splitLeaks(string(b)) {
		if why := leakIsKnown(leak); why != "" {
			n.env.cfg.Log("node %s: let pass: leak: %s", n.spec.Name, why)
			continue
		}
		errs = append(errs, fmt.Errorf("memory leak:\n\t%s", strings.ReplaceAll(leak, "\n", "\n\t")))
	}
	return errors.Join(errs...)
}

// splitLeaks takes the reports of kmemleak apart. Each begins with a line that
// is not indented.
func splitLeaks(text string) []string {
	var leaks []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, " ") || len(leaks) == 0 {
			leaks = append(leaks, "")
		}
		leaks[len(leaks)-1] += line
	}
	for i := range leaks {
		leaks[i] = strings.TrimSpace(leaks[i])
	}
	return leaks
}

func leakIsKnown(leak string) (why string) {
	for _, k := range stockLeaks {
		if k.trace.MatchString(leak) {
			return k.why
		}
	}
	return ""
}

// lockdepOn is the line in lockdepStats of a kernel that still watches its locks.
var lockdepOn = regexp.MustCompile(`(?m)^ debug_locks: +1$`)

const lockdepStats = "/proc/lockdep_stats"

// lockdep returns an error if the kernel has stopped to watch its locks, as it
// does at its first report, and nothing that was reported accounts for that.
func (n *Node) lockdep() error {
	b, err := n.ReadFile(context.Background(), lockdepStats)
	if err != nil || lockdepOn.Match(b) {
		return err
	}
	if len(n.splats.Passed()) == 0 {
		return fmt.Errorf("lockdep has turned itself off without a report:\n%s", b)
	}
	n.env.cfg.Log("node %s: locks were not watched to the end", n.spec.Name)
	return nil
}
