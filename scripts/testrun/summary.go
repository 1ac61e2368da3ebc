// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// summarize prints a table of all steps and, as the last line, the totals. It
// reports whether tests ran and all of them passed.
func summarize(out io.Writer, results []result) bool {
	var passed, failed, skipped int
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "step\tpassed\tfailed\tskipped\tseconds")
	for _, r := range results {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%.1f\n", r.name, r.passed,
			len(r.failed), len(r.skipped), r.took.Seconds())
		passed += r.passed
		failed += len(r.failed)
		skipped += len(r.skipped)
	}
	table.Flush()
	fmt.Fprintln(out)
	for _, r := range results {
		for _, name := range r.skipped {
			fmt.Fprintf(out, "skipped: %s: %s\n", r.name, name)
		}
	}
	for _, r := range results {
		for _, f := range r.failed {
			fmt.Fprintf(out, "failed: %s: %s\n", r.name, f.name)
		}
	}
	fmt.Fprintf(out, "%d passed, %d failed", passed, failed)
	if skipped > 0 {
		fmt.Fprintf(out, ", %d skipped", skipped)
	}
	fmt.Fprintln(out)
	return passed > 0 && failed == 0
}
