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
	"strings"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/gonl"
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
protocol version and the features that each side announced, the counters of the
extension headers, and the settings of rds_ext.ko. It follows connections as
they come and go.

Reading is for everybody; "config set" needs CAP_NET_ADMIN (root).

Exit codes:
  0  success
  1  failure; one line on stderr says why
  2  wrong usage
  3  rds_ext.ko is not loaded
  4  permission denied`

// app is what the commands share.
type app struct {
	stdout, stderr io.Writer
	dial           func() (control, error)
	json           bool
	// started is set when the command line was found correct, so that errors
	// from before are wrong usage.
	started bool
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, dial func() (control, error)) int {
	a := &app{stdout: stdout, stderr: stderr, dial: dial}
	cmd := a.root()
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code, text := a.explain(err)
	// Several errors come on lines of their own; scripts count on one.
	text = strings.ReplaceAll(text, "\n", "; ")
	// Stderr is the last resort; if it is gone too, the exit code remains.
	_, _ = fmt.Fprintf(stderr, "rdsinfo: %s\n", text)
	return code
}

// usageError is a mistake in the command line that cobra cannot see.
type usageError struct{ error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// explain turns an error into an exit code and one line that says what to do.
func (a *app) explain(err error) (int, string) {
	var usage usageError
	var op *gonl.OpError
	switch {
	case errors.As(err, &usage) || !a.started:
		return exitUsage, err.Error() + " (see rdsinfo --help)"
	case errors.Is(err, gonl.ErrNotLoaded):
		return exitNotLoaded, `rds_ext.ko is not loaded; load it with "modprobe rds_ext", or "insmod" the project's rds.ko and rds_ext.ko`
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

func (a *app) root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "rdsinfo",
		Short:         "Show and control what rds_ext.ko adds to RDS",
		Long:          longHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		PersistentPreRun: func(*cobra.Command, []string) {
			a.started = true
		},
		RunE: func(*cobra.Command, []string) error {
			return usagef("which command? conn, exthdr, config, monitor or version")
		},
	}
	cmd.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON instead of text")
	cmd.AddCommand(a.connCmd(), a.exthdrCmd(), a.configCmd(), a.monitorCmd(), a.versionCmd())
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
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
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
