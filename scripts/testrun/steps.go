// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// allKernels must all build; the first two are those that VMs are booted with
// unless the caller says otherwise.
var allKernels = []string{"6.1", "6.12", "7.3"}

// debugKernel checks itself, and takes its time over it. Only the VM tests run on
// it, and only if it is asked for.
const debugKernel = "debug"

func checkKernels(kernels []string) error {
	if len(kernels) == 0 {
		return fmt.Errorf("KERNELS names no kernel: use some of %s", strings.Join(allKernels, " "))
	}
	for _, k := range kernels {
		if k != debugKernel && !slices.Contains(allKernels, k) {
			return fmt.Errorf("unsupported kernel series %q in KERNELS: use some of %s, or %s",
				k, strings.Join(allKernels, " "), debugKernel)
		}
	}
	return nil
}

// packages are those of the module, by what their tests need.
type packages struct {
	unit []string
	// harness tests the VM harness itself: one kernel is enough. May be empty.
	harness []string
	// suite has the tests that run on every kernel.
	suite []string
}

func listPackages(ctx context.Context) (packages, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "./...")
	// Downloads are reported there, too: shown only where it fails.
	var messages strings.Builder
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		return packages{}, fmt.Errorf("go list: %w\n%s", err, messages.String())
	}
	var p packages
	for _, pkg := range strings.Fields(string(out)) {
		switch {
		case strings.HasSuffix(pkg, "/test/vm/suite"):
			p.suite = append(p.suite, pkg)
		case strings.HasSuffix(pkg, "/test/vm/selftest"):
			p.harness = append(p.harness, pkg)
		default:
			p.unit = append(p.unit, pkg)
		}
	}
	return p, nil
}

// steps returns what make test does, in order: what everything else needs comes
// first, the slow VMs last.
func steps(kernels []string, pkgs packages, build string) []step {
	var list []step
	add := func(name string, parse parser, limit time.Duration, argv ...string) {
		list = append(list, step{name: name, parse: parse, limit: limit, argv: argv})
	}
	built := allKernels
	limit := 15 * time.Minute
	if slices.Contains(kernels, debugKernel) {
		built = append(slices.Clone(built), debugKernel)
		limit = 2 * time.Hour // it is compiled first
	}
	for _, k := range built {
		list = append(list, step{name: "modules " + k, parse: parseStatus, verbose: true,
			limit: limit, argv: []string{"scripts/kmod-build", k}})
		add("ABI "+k, parseStatus, time.Minute, "scripts/check-abi", k)
	}
	add("tools", parseStatus, 10*time.Minute, "scripts/tools-build")
	add("lint", parseLines, 10*time.Minute, "scripts/lint")
	add("scripts", parseLines, 10*time.Minute, "scripts/test/run")
	add("unit", parseGo, 15*time.Minute,
		append([]string{"go", "test", "-json", "-race", "-timeout", "10m"}, pkgs.unit...)...)
	exthdr := []string{"make", "--no-print-directory", "-C", "kmod/rds_ext/test",
		"BUILD=" + filepath.Join(build, "exthdr")}
	add("exthdr", parseLines, 10*time.Minute, append(exthdr, "check")...)
	add("exthdr fuzz", parseStatus, 10*time.Minute, append(exthdr, "fuzz", "FUZZTIME=10s")...)

	inVMs := func(name, kernel string, pkgs []string) {
		limit := 30 * time.Minute
		if kernel == debugKernel {
			limit *= 4
		}
		argv := []string{"go", "test", "-json", "-count=1", "-timeout", limit.String()}
		if kernel == debugKernel && name != "VM "+kernel {
			// The rest of the harness does not depend on the kernel.
			argv = append(argv, "-run", "^TestLeak")
		}
		argv = append(argv, pkgs...)
		list = append(list, step{name: name, parse: parseGo, verbose: true,
			limit: limit + 5*time.Minute,
			argv:  append(argv, "-args", "-kernel", kernel, "-build", build)})
	}
	for i, k := range kernels {
		if i == 0 && len(pkgs.harness) > 0 {
			inVMs("VM harness "+k, k, pkgs.harness)
		}
		inVMs("VM "+k, k, pkgs.suite)
	}
	return list
}
