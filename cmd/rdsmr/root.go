// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/engine"
)

// defaultPort is the port that rds-stress uses, too.
const defaultPort = 4000

func newRoot() *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:   "rdsmr",
		Short: "Stress, verify and measure RDMA over RDS",
		Long: `rdsmr registers memory over RDS, lets a peer read or write it by RDMA, verifies
every byte, and measures. Run "rdsmr serve" on one host, and "rdsmr stress" or
"rdsmr bench" on another.

Exit status: 0 if all was right, 1 if not, 2 for a wrong command line.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if showVersion {
				return printVersion(c.OutOrStdout())
			}
			c.PrintErrln(cli.HelpText(c))
			return cli.UsageError{Err: errors.New("which command? serve, stress or bench")}
		},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return cli.UsageError{Err: fmt.Errorf("%w; see `%s --help`", cli.PlainFlagError(err, numberRanges), c.CommandPath())}
	})
	root.Flags().BoolVar(&showVersion, "version", false, "same as \"rdsmr version\"")
	root.AddCommand(newServe(), newStress(), newBench(), newVersion())
	return root
}

// newVersion is --version as a command.
func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program (same as --version)",
		Args:  usage(cobra.NoArgs),
		RunE:  func(c *cobra.Command, _ []string) error { return printVersion(c.OutOrStdout()) },
	}
}

func printVersion(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "rdsmr %s\n", buildVersion()); err != nil {
		return fmt.Errorf("%w: %w", cli.ErrOutput, err)
	}
	return nil
}

// version is set by the build (-ldflags "-X main.version=...").
var version string

// buildVersion says what this program was built from.
func buildVersion() string {
	if version != "" {
		return version
	}
	bi, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := bi.Main.Version
	for _, s := range bi.Settings {
		if s.Key == "vcs.revision" {
			v += " " + s.Value[:min(12, len(s.Value))]
		}
	}
	return v
}

// usage makes cobra's argument checks usage errors.
func usage(f cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := f(c, args); err != nil {
			return cli.UsageError{Err: fmt.Errorf("%w; see `%s --help`", err, c.CommandPath())}
		}
		return nil
	}
}

// untilSignal returns a context that ends at the first SIGINT or SIGTERM. The
// second has its usual effect, for when a clean end takes too long.
func untilSignal(parent context.Context) (context.Context, context.CancelFunc) {
	if parent == nil {
		parent = context.Background()
	}
	ctx, stop := signal.NotifyContext(parent, syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// timingFlags adds the limits in time that both commands have.
func timingFlags(fs *pflag.FlagSet, t *engine.Timing) {
	d := func(p *time.Duration, name, text string) { fs.Var(&durationValue{p}, name, text) }
	d(&t.Peer, "peer-timeout", "give up when nothing succeeded for this long")
	d(&t.Stall, "stall-timeout", "try operations again when no answer came for this long")
	d(&t.Drain, "drain-timeout", "wait this long at the end for what is in flight")
}
