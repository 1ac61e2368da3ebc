// SPDX-License-Identifier: MIT

// Command testrun runs all tests of the project and prints what ran, what
// passed and what failed. Its last line is "N passed, N failed".
//
// Each step is a command; its output goes to a file under build/report/test and
// to the terminal only where something failed. The exit status is 0 only if at
// least one test ran and none failed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	kernels := flag.String("kernels", "6.1 6.12", "kernel series whose VMs are booted")
	only := flag.String("only", "", "run only the steps whose names contain this")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "testrun: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := run(ctx, strings.Fields(*kernels), *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(ctx context.Context, kernels []string, only string) (bool, error) {
	if err := checkKernels(kernels); err != nil {
		return false, err
	}
	build := os.Getenv("RDS_EXT_BUILD")
	if build == "" {
		build = "build"
	}
	// Commands run elsewhere, too.
	build, err := filepath.Abs(build)
	if err != nil {
		return false, err
	}
	logs := filepath.Join(build, "report", "test")
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return false, err
	}
	pkgs, err := listPackages(ctx)
	if err != nil {
		return false, err
	}
	var results []result
	for _, s := range steps(kernels, pkgs, build) {
		if !strings.Contains(s.name, only) {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		r := s.run(ctx, logs, os.Stdout)
		r.report(os.Stdout)
		results = append(results, r)
	}
	if ctx.Err() != nil {
		fmt.Println("\ninterrupted: later steps did not run")
	}
	return summarize(os.Stdout, results) && ctx.Err() == nil, nil
}
