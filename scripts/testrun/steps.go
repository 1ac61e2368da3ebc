// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// allKernels must all build; the first two are those that VMs are booted with
// unless the caller says otherwise.
var allKernels = []string{"6.1", "6.12", "7.3"}

func checkKernels(kernels []string) error {
	for _, k := range kernels {
		if !slices.Contains(allKernels, k) {
			return fmt.Errorf("unsupported kernel series %q in KERNELS: use some of %s",
				k, strings.Join(allKernels, " "))
		}
	}
	return nil
}

// unitPackages lists the packages whose tests boot no VM.
func unitPackages(ctx context.Context) ([]string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	return slices.DeleteFunc(strings.Fields(string(out)), func(pkg string) bool {
		return strings.HasSuffix(pkg, "/test/vm/suite")
	}), nil
}

// steps returns what make test does, in order: what everything else needs comes
// first, the slow VMs last.
func steps(kernels, units []string) []step {
	var list []step
	add := func(name string, parse parser, limit time.Duration, argv ...string) {
		list = append(list, step{name: name, parse: parse, limit: limit, argv: argv})
	}
	for _, k := range allKernels {
		add("modules "+k, parseStatus, 15*time.Minute, "scripts/kmod-build", k)
		add("ABI "+k, parseStatus, time.Minute, "scripts/check-abi", k)
	}
	add("tools", parseStatus, 10*time.Minute, "scripts/tools-build")
	add("lint", parseLines, 10*time.Minute, "scripts/lint")
	add("scripts", parseLines, 10*time.Minute, "scripts/test/run")
	add("unit", parseGo, 15*time.Minute,
		append([]string{"go", "test", "-json", "-race", "-timeout", "10m"}, units...)...)
	add("exthdr", parseLines, 10*time.Minute,
		"make", "--no-print-directory", "-C", "kmod/rds_ext/test", "check")
	add("exthdr fuzz", parseStatus, 10*time.Minute,
		"make", "--no-print-directory", "-C", "kmod/rds_ext/test", "fuzz", "FUZZTIME=10s")
	for _, k := range kernels {
		list = append(list, step{
			name:  "VM " + k,
			parse: parseGo,
			limit: 35 * time.Minute,
			argv: []string{"go", "test", "-json", "-count=1", "-timeout", "30m",
				"./test/vm/suite", "-args", "-kernel", k},
			verbose: true,
		})
	}
	return list
}
