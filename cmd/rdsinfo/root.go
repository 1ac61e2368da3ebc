// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/gonl"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// Exit codes; the help of the program documents them.
const (
	exitOK = iota
	exitFailure
	exitUsage
	exitNotLoaded
	exitPermission
)

const longHelp = `rdsinfo shows the RDS connections of this host and network namespace, with the
protocol version and the features that each side announced; their memory regions
(MRs), with owner, state and age; the pools of the MR engine; the counters of the
extension headers; and the settings of rds_ext.ko. It follows connections as they
come and go, and MRs as they grow old. Of RDS itself it shows the connections, the
sockets, the messages in the queues and the counters, without rds_ext.ko, too.

A command may be shortened to what no other begins with: "rdsinfo so" is "rdsinfo
sock". Called as "rds-info", by a link of that name, it takes the options of that
program (rds-info --help); called as "rds-ping" it is "rdsinfo ping".

Reading is for everybody, R_Keys aside; "config set", "conn reset", "mr revoke"
and "pool reset-peaks" need CAP_NET_ADMIN (root).

Exit codes:
  0  success
  1  failure; one line on stderr says why
  2  wrong usage
  3  rds_ext.ko, or for what RDS itself tells RDS, is not loaded
  4  permission denied`

// app is what the commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	dial           func() (control, error)
	info           func() (info, error)
	listen         func(netip.AddrPort, rds.Config) (pingSocket, error)
	proc           string // where procfs is mounted
	// ask puts a question to whoever sits there; a script is not asked.
	ask    func(question string) (yes bool, err error)
	json   bool
	detail int
	watch  time.Duration
	// started is set when the command line was found correct, so that errors
	// from before are wrong usage.
	started bool
}

// newApp makes what runs on this host's kernel.
func newApp(stdout, stderr io.Writer) *app {
	return &app{
		stdin: os.Stdin, stdout: stdout, stderr: stderr, dial: dialKernel, info: openInfo, listen: listenRDS, proc: procfs.DefaultMountPoint,
		ask: askTerminal(os.Stdin, stderr),
	}
}

// run executes one command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	return a.execute(ctx, a.root(), args)
}

func (a *app) execute(ctx context.Context, cmd *cobra.Command, args []string) int {
	cmd.SetArgs(append([]string{}, args...)) // for nil, cobra takes those of the process
	cmd.SetOut(a.stdout)
	cmd.SetErr(a.stderr)
	err := cli.Execute(ctx, cmd)
	if err == nil {
		return exitOK
	}
	code, text := a.explain(cmd.Name(), err)
	var hint hintError
	if errors.As(err, &hint) {
		text += "; " + hint.hint
	}
	// Several errors come on lines of their own; scripts count on one.
	text = strings.ReplaceAll(text, "\n", "; ")
	// Stderr is the last resort; if it is gone too, the exit code remains.
	_, _ = fmt.Fprintf(a.stderr, "%s: %s\n", cmd.Name(), text)
	return code
}

// hintError is an error with advice that the kernel cannot give.
type hintError struct {
	error
	hint string
}

func (e hintError) Unwrap() error { return e.error }

// explain turns an error into an exit code and one line that says what to do.
func (a *app) explain(program string, err error) (int, string) {
	var usage cli.UsageError
	var op *gonl.OpError
	switch {
	case errors.As(err, &usage) || (!a.started && !errors.Is(err, cli.ErrOutput)):
		return exitUsage, err.Error() + " (see " + program + " --help)"
	case errors.Is(err, rds.ErrNotLoaded):
		return exitNotLoaded, err.Error()
	case errors.Is(err, gonl.ErrNotLoaded):
		return exitNotLoaded, `rds_ext.ko is not loaded; load the project's rds.ko, rds_rdma.ko and rds_ext.ko with insmod, in this order (README, "On a machine of your own")`
	case errors.As(err, &op) && errors.Is(err, fs.ErrPermission):
		return exitPermission, fmt.Sprintf("permission denied: %s; run it as root, with CAP_NET_ADMIN", op.Reason())
	case errors.Is(err, fs.ErrPermission):
		return exitPermission, fmt.Sprintf("permission denied: %v", err)
	case errors.As(err, &op):
		return exitFailure, fmt.Sprintf("%s: %s", op.Op, op.Reason())
	case errors.Is(err, context.Canceled):
		return exitFailure, "interrupted"
	default:
		return exitFailure, err.Error()
	}
}

// numberRanges says what a flag that takes a number accepts.
var numberRanges = map[string]string{
	"count":  "from 1",
	"pid":    "from 0 to 4294967295",
	"socket": "from 0",
	"conn":   "from 1 to 4294967295",
	"tos":    "from 0 to 255",

	"port":      "from 0 to 65535",
	"peer-port": "from 0 to 65535",
}

func (a *app) root() *cobra.Command {
	var showVersion bool
	cmd := &cobra.Command{
		Use:           "rdsinfo",
		Short:         "Show and control what rds_ext.ko adds to RDS",
		Long:          longHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cli.KnownCommand,
		PersistentPreRun: func(*cobra.Command, []string) {
			a.started = true
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if showVersion {
				return a.printVersion(c.Context())
			}
			c.PrintErrln(cli.HelpText(c))
			return cli.Usagef("which command? conn, sock, queue, mr, pool, stats, exthdr, config, monitor, top, ping, decode, exporter or version")
		},
	}
	cmd.Flags().BoolVar(&showVersion, "version", false, "same as \"rdsinfo version\"")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return cli.UsageError{Err: cli.PlainFlagError(err, numberRanges)}
	})
	cmd.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON instead of text")
	cmd.AddCommand(a.connCmd(), a.sockCmd(), a.queueCmd(), a.mrCmd(), a.poolCmd(), a.statsCmd(), a.exthdrCmd(),
		a.configCmd(), a.monitorCmd(), a.topCmd(), a.pingCmd(), a.decodeCmd(), a.exporterCmd(), a.versionCmd())
	return cmd
}

// with runs f with a connection to the kernel.
func (a *app) with(f func(control) error) error {
	c, err := a.dial()
	if err != nil {
		return err
	}
	return errors.Join(f(c), c.Close())
}

// print writes text in one piece.
func (a *app) print(b []byte) error {
	if _, err := a.stdout.Write(b); err != nil {
		return fmt.Errorf("%w: %w", cli.ErrOutput, err)
	}
	return nil
}

// writeJSONLine writes v on one line.
func writeJSONLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// printJSON writes v in full, for people as well as programs.
func (a *app) printJSON(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	return a.print(b.Bytes())
}
