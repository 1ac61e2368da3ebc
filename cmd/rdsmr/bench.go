// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/bench"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/engine"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
	"github.com/rds-ext/rds_ext/gonl"
)

// benchFlags are the flags of `rdsmr bench`.
type benchFlags struct {
	target
	modes, direction string
	duration         time.Duration
	rounds           int
	json, quiet      bool
	params           wire.Params
	timing           engine.Timing
}

func newBench() *cobra.Command {
	f := &benchFlags{target: target{plain: "--modes " + string(bench.Plain)}, params: wire.Params{Size: 4096}, timing: engine.DefaultTiming()}
	c := &cobra.Command{
		Use:   "bench [PEER[:PORT]]",
		Short: "Compare the ways to register memory, side by side",
		Long: `bench does the same work in every mode that the kernel offers, with a peer where
"rdsmr serve" runs, and prints what each costs. An operation is: register memory,
send a request with its key, have the peer access it by RDMA, get its answer,
release the memory. Every byte is verified.

Modes:
  get_mr+free_mr      GET_MR and FREE_MR, a system call each
  get_mr+use_once     GET_MR; the peer's answer releases the memory
  rdma_map+free_mr    registered by the sendmsg of the request, and FREE_MR
  rdma_map+use_once   registered by that sendmsg, released by the answer
  rdma_map+use_once+remote_inv
                      and the answer invalidates the key as well; rds_ext.ko has
                      to be loaded on both hosts
  plain               messages of --size bytes, without RDMA

A mode that this kernel cannot do is shown with the reason, and is no failure.
If rds_ext.ko is unloaded on this host meanwhile, the mode that runs fails, and
the others go on without it.

What remote invalidation is agreed on holds for a connection. Where the existing
connection does not fit the mode, bench makes one more to the same peer, with
another type of service, and changes this host's feature mask for the moment in
which it is made; that needs root.

Local invalidations, and peaks that are exact, are known with rds_ext.ko only.
Without it, peaks are of what was seen several times a second, and pinned pages
are those of the whole host. "-" is what cannot be known.`,
		Example: `  rdsmr bench 10.0.0.2
  rdsmr bench 10.0.0.2 --modes rdma_map+free_mr,rdma_map+use_once -D 64k -T 30
  rdsmr bench 10.0.0.2 --rounds 3 --json`,
		Args: usage(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := f.complete(c, args)
			if err != nil {
				return err
			}
			ctx, stop := untilSignal(c.Context())
			defer stop()
			return f.run(ctx, cfg, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	f.flags(fs)
	fs.StringVarP(&f.modes, "modes", "m", "all", "modes, with commas between them")
	fs.StringVar(&f.direction, "direction", string(wire.ModeWrite), "what the peer does with our memory: write, read or both in turn")
	fs.VarP(&sizeValue{&f.params.Size}, "size", "D", "bytes an operation, up to 1m")
	fs.IntVarP(&f.params.Depth, "depth", "d", 8, "operations in flight a task")
	fs.IntVarP(&f.params.Tasks, "tasks", "t", 1, "tasks, each with a socket of its own")
	fs.VarP(&durationValue{&f.duration}, "time", "T", "time for each mode (default 10s, unless --count is given)")
	fs.Int64VarP(&f.params.Count, "count", "n", 0, "end each mode after so many operations")
	fs.IntVar(&f.rounds, "rounds", 1, "run all modes so often, every second time in reverse order")
	fs.Uint64Var(&f.params.Seed, "seed", 0, "seed of the payloads (default: random)")
	fs.BoolVar(&f.json, "json", false, "print the report as JSON, with the distributions of all times")
	fs.BoolVarP(&f.quiet, "quiet", "z", false, "no progress, only the report at the end")
	fs.Var(&durationValue{&f.timing.Connect}, "connect-timeout", "wait this long for the peer's first answer")
	timingFlags(fs, &f.timing)
	completions(c)
	return c
}

// complete checks the flags and fills in what was left out.
func (f *benchFlags) complete(c *cobra.Command, args []string) (bench.Config, error) {
	fs := c.Flags()
	cfg := bench.Config{Rounds: f.rounds, Timing: f.timing}
	bad := func(err error) (bench.Config, error) { return cfg, cli.UsageError{Err: err} }
	if err := f.argument(args); err != nil {
		return cfg, err
	}
	var err error
	if cfg.Modes, err = bench.ParseModes(f.modes); err != nil {
		return bad(err)
	}
	f.params.Mode = wire.Mode(f.direction)
	if f.params.Count == 0 && fs.Changed("count") {
		return bad(errors.New("--count 0 is no count: give 1 or more, or leave it out"))
	}
	if f.params.Count == 0 && f.duration == 0 {
		f.duration = 10 * time.Second
	}
	if !fs.Changed("seed") {
		f.params.Seed = uint64(rand.Uint32()) // a number that every JSON parser keeps
	}
	cfg.Params, cfg.Duration = f.params, f.duration
	if err := cfg.Check(); err != nil {
		return bad(err)
	}
	return cfg, nil
}

func (f *benchFlags) run(ctx context.Context, cfg bench.Config, stdout, stderr io.Writer) error {
	rdma := false
	for _, m := range cfg.Modes {
		rdma = rdma || m.RDMA()
	}
	var err error
	if cfg.Local, cfg.Peer, err = f.addresses(ctx, rdma); err != nil {
		return err
	}
	if !f.quiet {
		cfg.Progress = func(line string) { fmt.Fprintln(stderr, line) }
	}
	client, err := gonl.Dial()
	if err != nil && !errors.Is(err, gonl.ErrNotLoaded) {
		return err
	}
	var control bench.Control
	if client != nil {
		control = client
	}
	r, err := bench.RunAll(ctx, engine.System{}, control, cfg)
	if client != nil {
		err = errors.Join(err, client.Close())
	}
	if r == nil {
		return err
	}
	return errors.Join(printBench(stdout, r, f.json), err)
}

func printBench(w io.Writer, r *bench.Report, asJSON bool) error {
	var err error
	if asJSON {
		e := json.NewEncoder(w)
		if w == os.Stdout && isTerminal(os.Stdout) {
			e.SetIndent("", "  ")
		}
		err = e.Encode(r)
	} else {
		_, err = io.WriteString(w, r.Text())
	}
	if err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	return nil
}
