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
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/engine"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/stats"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
)

// stressFlags are the flags of `rdsmr stress`.
type stressFlags struct {
	target
	mode        string
	message     int
	duration    time.Duration
	json, quiet bool
	params      wire.Params
	timing      engine.Timing
}

func newStress() *cobra.Command {
	f := &stressFlags{target: target{plain: "--mode msg"}, params: wire.Params{Size: 4096}, timing: engine.DefaultTiming()}
	c := &cobra.Command{
		Use:   "stress [PEER[:PORT]]",
		Short: "Register memory, let the peer access it, verify and measure",
		Long: `stress registers memory for one use with each request, asks the peer, where
"rdsmr serve" runs, to access it by RDMA, and verifies every byte and the bytes
around it. It ends after --time or --count, or cleanly at Ctrl-C.

Modes:
  write  the peer writes into our memory, we verify it
  read   the peer reads our memory and verifies it
  both   in turn
  msg    plain messages without RDMA; the peer verifies bytes, order, no loss

At the end both sides ask the kernel for every memory region whether it was
released; "MRs still held" counts those that were not, and they are freed.

With --duplex both sides send requests, with the same settings: of --size, with
--depth, on --tasks sockets, until the same --time, or --count of them each. The
side that has done its count goes on answering until the other has; what is
printed first is of this side, the other's account follows as "peer".

Operations that a connection reset took are tried again and counted as aborted
and retried. "resets" is the host's count while the run lasted.`,
		Example: `  rdsmr stress 10.0.0.2                            10 s of writes and reads, 4 KiB
  rdsmr stress 10.0.0.2 -D 64k -d 16 -t 4 -T 60    larger, deeper, longer
  rdsmr stress 10.0.0.2 --mode msg --count 100000 --json`,
		Args: usage(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.complete(c, args); err != nil {
				return err
			}
			ctx, stop := untilSignal(c.Context())
			defer stop()
			return f.run(ctx, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	f.flags(fs)
	fs.StringVarP(&f.mode, "mode", "m", string(wire.ModeBoth), "write, read, both or msg")
	fs.VarP(&sizeValue{&f.params.Size}, "size", "D", "bytes an operation, up to 1m")
	fs.VarP(&sizeValue{&f.message}, "message-size", "q", "bytes a message in mode msg, instead of --size")
	fs.IntVarP(&f.params.Depth, "depth", "d", 8, "operations in flight a task")
	fs.IntVarP(&f.params.Tasks, "tasks", "t", 1, "tasks, each with a socket of its own")
	fs.BoolVarP(&f.params.Duplex, "duplex", "o", false, "the peer sends requests to us as well, with the same settings")
	fs.VarP(&durationValue{&f.duration}, "time", "T", "end after this time (default 10s, unless --count is given)")
	fs.Int64VarP(&f.params.Count, "count", "n", 0, "end after so many operations of all tasks; with --duplex, of each side")
	fs.Uint64Var(&f.params.Seed, "seed", 0, "seed of the payloads (default: random)")
	fs.BoolVar(&f.json, "json", false, "print the report as JSON")
	fs.BoolVarP(&f.quiet, "quiet", "z", false, "no progress, only the report at the end")
	fs.Var(&durationValue{&f.timing.Connect}, "connect-timeout", "wait this long for the peer's first answer")
	timingFlags(fs, &f.timing)
	completions(c)
	return c
}

// complete checks the flags and fills in what was left out.
func (f *stressFlags) complete(c *cobra.Command, args []string) error {
	fs := c.Flags()
	if err := f.argument(args); err != nil {
		return err
	}
	f.params.Mode = wire.Mode(f.mode)
	if fs.Changed("message-size") {
		if f.params.Mode != wire.ModeMsg {
			return cli.UsageError{Err: errors.New("--message-size is for --mode msg; use --size for RDMA")}
		}
		f.params.Size = f.message
	}
	if err := f.params.Check(); err != nil {
		return cli.UsageError{Err: err}
	}
	if f.params.Count == 0 && fs.Changed("count") {
		return cli.UsageError{Err: errors.New("--count 0 is no count: give 1 or more, or leave it out")}
	}
	if f.params.Count == 0 && f.duration == 0 {
		f.duration = 10 * time.Second
	}
	if !fs.Changed("seed") {
		f.params.Seed = uint64(rand.Uint32()) // a number that every JSON parser keeps
	}
	return nil
}

func (f *stressFlags) run(ctx context.Context, stdout, stderr io.Writer) error {
	local, peer, err := f.addresses(ctx, f.params.RDMA())
	if err != nil {
		return err
	}
	cfg := engine.ClientConfig{
		Local: local, Peer: peer, Params: f.params, Timing: f.timing, Duration: f.duration,
	}
	if !f.quiet {
		cfg.Progress = func(p stats.Progress) { fmt.Fprintln(stderr, p) }
	}
	r, err := engine.RunClient(ctx, engine.System{}, cfg)
	if r == nil {
		return err
	}
	return finish(stdout, r, err, f.json)
}

// finish prints a report and returns what was wrong with the run.
func finish(w io.Writer, r *stats.Report, why error, asJSON bool) error {
	if err := printReport(w, r, asJSON); err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	// A reason for an early end explains the verdict, so it comes first.
	return errors.Join(why, r.Verdict())
}

func printReport(w io.Writer, r *stats.Report, asJSON bool) error {
	if !asJSON {
		_, err := io.WriteString(w, r.Text())
		return err
	}
	e := json.NewEncoder(w)
	if w == os.Stdout && isTerminal(os.Stdout) {
		e.SetIndent("", "  ")
	}
	return e.Encode(r)
}

// isTerminal reports whether a person reads the output: JSON then gets more
// than one line.
func isTerminal(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}
