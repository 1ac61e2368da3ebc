// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rds-ext/rds_ext/test/vm"
)

// What is measured with: 4 KiB are one page and one packet.
const (
	benchSize  = 4096
	benchDepth = 8
)

// The modes of "rdsmr bench" that have a name here.
const (
	getMRFreeMR  = "get_mr+free_mr"
	getMRUseOnce = "get_mr+use_once"
	mapFreeMR    = "rdma_map+free_mr"
	mapUseOnce   = "rdma_map+use_once"
	mapRemoteInv = "rdma_map+use_once+remote_inv"
	plain        = "plain"
)

// modes are all modes, in the order of the report.
var modes = []string{getMRFreeMR, getMRUseOnce, mapFreeMR, mapUseOnce, mapRemoteInv, plain}

// The sets of modules, as the report names them.
const (
	stock  = "stock"
	rdsExt = "rds_ext"
)

func modulesOf(name string) []vm.Module {
	if name == stock {
		return []vm.Module{{Name: "rds", From: vm.Stock}, {Name: "rds_rdma", From: vm.Stock}}
	}
	return []vm.Module{{Name: "rds", From: vm.Ours}, {Name: "rds_rdma", From: vm.Ours}, {Name: "rds_ext", From: vm.Ours}}
}

// benchmark is a measurement under way.
type benchmark struct {
	cfg    vm.Config
	opts   options
	report *Report
	step   func(format string, args ...any)
}

// measure runs everything. The error has all that failed; the report has what was
// measured nevertheless.
func measure(ctx context.Context, cfg vm.Config, o options, step func(string, ...any)) (*Report, error) {
	m := &benchmark{cfg: cfg, opts: o, step: step, report: &Report{
		Size: benchSize, Depth: benchDepth, Rounds: o.rounds, SecondsPerMode: o.seconds,
		Host: Host{CPUs: runtime.NumCPU()},
	}}
	files, err := verbsFiles()
	if err != nil {
		return m.report, err
	}
	m.cfg.Files = files
	var errs []error
	for round := 1; round <= o.rounds; round++ {
		for i, modules := range order(round) {
			if err := m.cell(ctx, round, modules, i == 0); err != nil {
				errs = append(errs, fmt.Errorf("round %d, %s: %w", round, modules, err))
			}
			if ctx.Err() != nil {
				return m.report, errors.Join(append(errs, context.Cause(ctx))...)
			}
		}
	}
	if len(m.report.Verbs.Runs) == 0 {
		errs = append(errs, errors.New("what verbs reach was measured in no round"))
	}
	return m.report, errors.Join(errs...)
}

// order says which set of modules comes first in a round: each in turn, so that
// neither always has the machine as the other has left it.
func order(round int) []string {
	if round%2 == 0 {
		return []string{rdsExt, stock}
	}
	return []string{stock, rdsExt}
}

// rotated returns the modes beginning with another one in each round.
func rotated(round int) []string {
	n := (round - 1) % len(modes)
	return slices.Concat(modes[n:], modes[:n])
}

// cell is one set of modules in one round, in two VMs of its own.
func (m *benchmark) cell(ctx context.Context, round int, modules string, withVerbs bool) (err error) {
	cfg := m.cfg
	cfg.Name = fmt.Sprintf("bench-%d-%s", round, modules)
	cfg.Log = func(string, ...any) {}
	env, err := vm.Open(ctx, cfg)
	if err != nil {
		return err
	}
	// What a kernel complained of, at any time, is an error of the whole.
	defer func() { err = errors.Join(err, env.Close()) }()
	m.step("round %d of %d, %s: booting two VMs with Linux %s", round, m.opts.rounds, modules, env.Release())
	p := &pair{env: env}
	if p.a, p.b, err = env.Pair(ctx); err != nil {
		return err
	}
	m.report.Kernel, m.report.Host.Accel = env.Release(), env.Accel()
	if withVerbs {
		if err := m.verbs(ctx, p, round); err != nil {
			if env.Err() != nil || ctx.Err() != nil {
				return err
			}
			m.step("  verbs: not measured in this round: %v", err)
		}
	}
	var errs []error
	for _, mode := range rotated(round) {
		run, err := m.mode(ctx, p, round, modules, mode)
		if err != nil {
			err = fmt.Errorf("%s: %w", mode, err)
			run.Error = strings.ReplaceAll(err.Error(), "\n", "; ")
			errs = append(errs, err)
		}
		m.report.Runs = append(m.report.Runs, run)
		m.step("  %-28s %s", mode, run.line())
		if env.Err() != nil || ctx.Err() != nil {
			break // these VMs are of no more use
		}
	}
	return errors.Join(errs...)
}

// pair is two VMs.
type pair struct {
	env  *vm.Env
	a, b *vm.Node
}

// each does something on both at the same time.
func (p *pair) each(f func(n *vm.Node) error) error {
	errs := make([]error, 2)
	var wg sync.WaitGroup
	for i, n := range []*vm.Node{p.a, p.b} {
		wg.Go(func() { errs[i] = f(n) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// mode runs one mode on modules that are loaded for it: MRs that another mode has
// left in the pools would be found again.
func (m *benchmark) mode(ctx context.Context, p *pair, round int, modules, mode string) (run Run, err error) {
	run = Run{Round: round, Modules: modules, Mode: mode}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(m.opts.seconds)*time.Second+2*time.Minute)
	defer cancel()
	if err := p.each(func(n *vm.Node) error { return n.UseRDS(ctx, modulesOf(modules)...) }); err != nil {
		return run, err
	}
	server, err := p.b.Serve(ctx)
	if err != nil {
		return run, err
	}
	defer func() {
		if err != nil {
			// The modules could not be unloaded otherwise; its own end says nothing.
			_, _ = server.Stop(syscall.SIGKILL)
		}
	}()
	before, err := p.costs()
	if err != nil {
		return run, err
	}
	res, err := p.a.Exec(ctx, "rdsmr", "bench", p.b.IP(), "--bind", p.a.IP(), "--modes", mode,
		"--size", strconv.Itoa(benchSize), "--depth", strconv.Itoa(benchDepth),
		"--time", fmt.Sprintf("%ds", m.opts.seconds), "--seed", strconv.Itoa(round), "--json", "--quiet")
	if err != nil {
		return run, err
	}
	after, err := p.costs()
	if err != nil {
		return run, err
	}
	if err := run.take(res); err != nil {
		return run, err
	}
	if run.Numbers != nil {
		run.Costs = after.since(before, run.Ops)
	}
	if _, err := server.Stop(syscall.SIGTERM); err != nil {
		return run, err
	}
	return run, nil
}

// take reads what "rdsmr bench" has printed.
func (r *Run) take(res vm.Result) error {
	var out struct{ Runs []Run }
	if err := json.Unmarshal([]byte(res.Stdout), &out); err != nil || len(out.Runs) != 1 {
		return fmt.Errorf("rdsmr bench: exit status %d, signal %d: %s%s", res.ExitCode, res.Signal, res.Stderr, res.Stdout)
	}
	got := out.Runs[0]
	if got.Mode != r.Mode {
		return fmt.Errorf("rdsmr bench ran the mode %q", got.Mode)
	}
	r.Numbers, r.Error, r.Unsupported = got.Numbers, got.Error, got.Unsupported
	// That none of its modes can run here is a failure for rdsmr, and not for us.
	if r.Error != "" && !r.Unsupported || r.Error == "" && res.ExitCode != 0 {
		return fmt.Errorf("rdsmr bench: exit status %d: %s", res.ExitCode, strings.TrimSpace(res.Stderr))
	}
	return nil
}
