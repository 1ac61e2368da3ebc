// SPDX-License-Identifier: MIT

// Command demo is what "make demo" runs: two VMs with our modules, the
// connection between them as rdsinfo shows it on both, and 10 s of verified
// use-once RDMA. It prints what it does, writes the same to
// BUILD/report/demo.json, and exits with 0 only if all of it held.
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

// limit is for all of it; a later run takes about half a minute.
const limit = 5 * time.Minute

func main() {
	cfg := vm.RegisterFlags(flag.CommandLine)
	seconds := flag.Int("seconds", 10, "how long the RDMA stress lasts")
	flag.Parse()
	if flag.NArg() != 0 || *seconds < 1 {
		fmt.Fprintln(os.Stderr, "demo: usage: demo [-kernel SERIES] [-build DIRECTORY] [-seconds N], N at least 1")
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := run(ctx, *cfg, *seconds); err != nil {
		fmt.Fprintln(os.Stderr, "demo: FAILED:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, cfg vm.Config, seconds int) (err error) {
	start := time.Now()
	cfg.Name = "demo"
	cfg.Log = func(format string, args ...any) { step(start, format, args...) }
	env, err := vm.Open(ctx, cfg)
	if err != nil {
		return err
	}
	// What a kernel complained of, at any time, is an error of the whole.
	defer func() { err = errors.Join(err, env.Close()) }()

	step(start, "booting two VMs with Linux %s", env.Release())
	a, b, err := env.Pair(ctx)
	if err != nil {
		return err
	}
	step(start, "loading rds, rds_rdma (patched), rds_tcp (the distribution's) and rds_ext on both")
	for _, n := range []*vm.Node{a, b} {
		if err := n.UseRDS(ctx, vm.OurRDS()...); err != nil {
			return err
		}
	}
	server, err := b.Serve(ctx)
	if err != nil {
		return err
	}

	step(start, "a says hello to b, which makes the connection")
	if err := hello(ctx, a, b); err != nil {
		return err
	}
	var rep Report
	for _, n := range []*vm.Node{a, b} {
		conns, err := showConns(ctx, n)
		if err != nil {
			return err
		}
		rep.Conns = append(rep.Conns, conns...)
	}

	step(start, "use-once RDMA writes and reads between the nodes for %d s, every byte verified", seconds)
	rep.Stress, err = stress(ctx, a, b, seconds)
	if err != nil {
		return err
	}
	rep.Stress.print(os.Stdout)
	if _, err := server.Stop(syscall.SIGTERM); err != nil {
		return err
	}

	file := filepath.Join(cfg.Build, "report", "demo.json")
	if err := rep.write(file); err != nil {
		return err
	}
	if err := rep.verdict(); err != nil {
		return err
	}
	step(start, "all of it held; the same as JSON is in %s", file)
	return nil
}

func step(start time.Time, format string, args ...any) {
	fmt.Printf("[%5.1f s] %s\n", time.Since(start).Seconds(), fmt.Sprintf(format, args...))
}
