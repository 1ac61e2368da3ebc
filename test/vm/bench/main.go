// SPDX-License-Identifier: MIT

// Command bench is what "make bench" runs: the same RDMA on the distribution's
// modules and on ours, in the same VMs, alternating, in every mode that "rdsmr
// bench" has, next to what plain verbs reach there. It prints a table, writes
// BUILD/report/bench.json and BUILD/report/bench.html, and exits with 0 if all of
// it ran. Docs/bench.md says what the numbers mean.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/rds-ext/rds_ext/test/vm"
)

// options are the flags beside those of package vm.
type options struct {
	rounds  int
	seconds int
	require bool
}

func main() {
	cfg := vm.RegisterFlags(flag.CommandLine)
	var o options
	flag.IntVar(&o.rounds, "rounds", 3, "`number` of rounds, each with both sets of modules, 2 to 20")
	flag.IntVar(&o.seconds, "seconds", 6, "`seconds` for each mode, 1 to 600")
	flag.BoolVar(&o.require, "require-targets", false, "fail if a target is not met")
	flag.Parse()
	if flag.NArg() != 0 || o.rounds < 2 || o.rounds > 20 || o.seconds < 1 || o.seconds > 600 {
		fmt.Fprintln(os.Stderr, "bench: usage: bench [-kernel SERIES] [-build DIRECTORY] [-rounds N] [-seconds N] [-require-targets], see -help")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *cfg, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench: FAILED:", err)
		os.Exit(1)
	}
}

// limit is for all of it: what the rounds need on a slow machine, and once more.
func (o options) limit() time.Duration {
	perRound := time.Duration(2*len(modes)*(o.seconds+20))*time.Second + 4*time.Minute
	return time.Duration(o.rounds) * perRound
}

func run(ctx context.Context, cfg vm.Config, o options) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.limit(), fmt.Errorf("not done within %v", o.limit()))
	defer cancel()
	start := time.Now()
	step := func(format string, args ...any) {
		fmt.Printf("[%5.1f s] %s\n", time.Since(start).Seconds(), fmt.Sprintf(format, args...))
	}
	r, failed := measure(ctx, cfg, o, step)
	if len(r.Runs) == 0 {
		return failed
	}
	r.evaluate()
	fmt.Printf("\n%s\n", r.text())
	dir := filepath.Join(cfg.Build, "report")
	if cfg.Build == "" {
		dir = filepath.Join("build", "report")
	}
	page, err := r.html()
	if err == nil {
		err = errors.Join(writeJSON(filepath.Join(dir, "bench.json"), r), vm.WriteReport(filepath.Join(dir, "bench.html"), page))
	}
	if err = errors.Join(failed, err); err != nil {
		return err
	}
	step("written: %s", filepath.Join(dir, "bench.{json,html}"))
	if unmet := r.unmet(); o.require && unmet > 0 {
		return fmt.Errorf("%d targets are not met", unmet)
	}
	return nil
}
