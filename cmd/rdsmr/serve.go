// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/engine"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/stats"
)

// serveFlags are the flags of `rdsmr serve`.
type serveFlags struct {
	bind              []string
	port              uint16
	once, json, quiet bool
	maxMemory         int
	timing            engine.Timing
}

func newServe() *cobra.Command {
	f := &serveFlags{maxMemory: 256 << 20, timing: engine.DefaultTiming()}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Answer the requests of `rdsmr stress` and `rdsmr bench`",
		Long: `serve answers the sessions of "rdsmr stress" and "rdsmr bench" on other hosts,
several at a time, until Ctrl-C or SIGTERM, which end running sessions cleanly.
It prints a line "ready ADDRESS:PORT" for each address once it is bound there,
and a report after each session. For "rdsmr bench" each mode is a session.

With --once it ends after the first session; its exit status is then the
verdict on this session.`,
		Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if f.maxMemory == 0 {
				return cli.UsageError{Err: errors.New("--max-memory 0 leaves no room for any session: give at least the size of a buffer, such as 256m")}
			}
			ctx, stop := untilSignal(c.Context())
			defer stop()
			return f.run(ctx, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringArrayVarP(&f.bind, "bind", "r", nil, "local `address`, may be repeated (default: all of InfiniBand and RoCE devices)")
	fs.Uint16VarP(&f.port, "port", "p", defaultPort, "port")
	fs.BoolVar(&f.once, "once", false, "end after the first session")
	fs.BoolVar(&f.json, "json", false, "print reports as JSON, one a line")
	fs.BoolVarP(&f.quiet, "quiet", "z", false, "no messages about sessions on stderr")
	fs.Var(&sizeValue{&f.maxMemory}, "max-memory", "bytes of buffers for all sessions of an address")
	fs.Var(&durationValue{&f.timing.Idle}, "idle-timeout", "end a session of which nothing is heard for this long")
	fs.Var(&durationValue{&f.timing.Connect}, "connect-timeout", "wait this long for the first answer to a request of ours (see stress --duplex)")
	timingFlags(fs, &f.timing)
	completions(c)
	return c
}

// output keeps the lines of concurrent sessions whole.
type output struct {
	mu          sync.Mutex
	out, err    io.Writer
	json, quiet bool
	failed      error // first verdict that was bad, or print that failed
}

func (o *output) log(format string, args ...any) {
	if o.quiet {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Fprintf(o.err, format+"\n", args...)
}

func (o *output) report(r *stats.Report, why error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	err := finish(o.out, r, why, o.json)
	if err != nil && o.failed == nil {
		o.failed = err
	}
	if err != nil && !o.quiet {
		fmt.Fprintf(o.err, "session of %s: %s\n", r.PeerAddr, oneLine(err))
	}
}

func (o *output) ready(a netip.AddrPort) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, err := fmt.Fprintf(o.out, "ready %v\n", a)
	return err
}

func (f *serveFlags) addresses() ([]netip.Addr, error) {
	if len(f.bind) == 0 {
		return rdmaAddresses()
	}
	var as []netip.Addr
	for _, s := range f.bind {
		a, err := parseBind(s)
		if err != nil {
			return nil, err
		}
		as = append(as, a)
	}
	return as, nil
}

func (f *serveFlags) run(ctx context.Context, stdout, stderr io.Writer) error {
	addrs, err := f.addresses()
	if err != nil {
		return err
	}
	o := &output{out: stdout, err: stderr, json: f.json, quiet: f.quiet}
	if f.once {
		f.timing.Linger = min(f.timing.Linger, 5*time.Second)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cfg := engine.ServerConfig{Timing: f.timing, MaxMemory: f.maxMemory, Once: f.once, Log: o.log, Report: o.report}
	var servers []*engine.Server
	for _, a := range addrs {
		s, err := engine.NewServer(engine.System{}, netip.AddrPortFrom(a, f.port), cfg)
		if err != nil {
			cancel() // the others end at once
			return errors.Join(err, runAll(ctx, cancel, servers))
		}
		servers = append(servers, s)
	}
	for _, s := range servers {
		if err := o.ready(s.Addr()); err != nil {
			cancel()
			return errors.Join(err, runAll(ctx, cancel, servers))
		}
	}
	if err := runAll(ctx, cancel, servers); err != nil {
		return err
	}
	if f.once {
		return o.failed
	}
	return nil
}

// runAll runs the servers until all have ended. The end of one, by an error or
// after its only session, is the end of all.
func runAll(ctx context.Context, cancel context.CancelFunc, servers []*engine.Server) error {
	errs := make(chan error)
	for _, s := range servers {
		go func() { errs <- s.Run(ctx) }()
	}
	var all []error
	for range servers {
		all = append(all, <-errs)
		cancel()
	}
	return errors.Join(all...)
}
