// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/gonl"
)

const (
	watchDefault = 2 * time.Second
	watchMin     = 100 * time.Millisecond
)

// watchView is what --watch prints with --json, on one line each time.
type watchView struct {
	Time time.Time       `json:"time"`
	Data json.RawMessage `json:"data"`
}

// showFlags adds what all commands that list objects have.
func (a *app) showFlags(cmd *cobra.Command) {
	cmd.Flags().CountVarP(&a.detail, "details", "d", "show more of each; -dd shows everything, a line each")
	a.watchFlag(cmd)
}

// watchFlag adds the flag that makes a command show things again and again.
func (a *app) watchFlag(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.DurationVarP(&a.watch, "watch", "w", 0, "show it again every `INTERVAL`, 2s by default, until Ctrl-C")
	fl.Lookup("watch").NoOptDefVal = watchDefault.String()
	completeFlags(cmd, map[string][]string{"watch": {"1s", "2s", "5s", "1m"}})
}

type runE = func(*cobra.Command, []string) error

// shows makes a command that shows objects do so as often, and in as much detail, as the
// flags ask for.
func (a *app) shows(once runE) runE {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case a.detail > fullLevel:
			return cli.Usagef("-dd is the most detail that there is")
		case !cmd.Flags().Changed("watch"):
			return once(cmd, args)
		case a.watch < watchMin:
			return cli.Usagef("--watch must be at least %v, not %v", watchMin, a.watch)
		}
		return a.watchLoop(cmd.Context(), func() error { return once(cmd, args) })
	}
}

func (a *app) watchLoop(ctx context.Context, once func() error) error {
	screen := isTerminal(a.stdout)
	tick := time.NewTicker(a.watch)
	defer tick.Stop()
	for {
		b, err := a.captured(once)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, gonl.ErrPartial):
			// The next look may see a list that keeps still.
			if _, err := fmt.Fprintf(a.stderr, "rdsinfo: %v\n", err); err != nil {
				return fmt.Errorf("write to stderr: %w", err)
			}
		case err != nil:
			return err
		}
		if err := a.printWatched(b, time.Now(), screen); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// captured returns what f prints.
func (a *app) captured(f func() error) ([]byte, error) {
	var b bytes.Buffer
	out := a.stdout
	a.stdout = &b
	defer func() { a.stdout = out }()
	err := f()
	return b.Bytes(), err
}

// clearScreen goes to the first line and erases everything.
const clearScreen = "\x1b[H\x1b[J"

func (a *app) printWatched(b []byte, at time.Time, screen bool) error {
	if a.json {
		line, err := json.Marshal(watchView{at, b}) // which compacts the data
		if err != nil {
			return err
		}
		return a.print(append(line, '\n'))
	}
	var head []byte
	if screen {
		head = append(head, clearScreen...)
	}
	head = fmt.Appendf(head, "%s, every %v\n\n", at.Format(time.RFC3339), a.watch)
	return a.print(append(append(head, b...), '\n'))
}

// isTerminal tells whether w, a file or not, is a terminal.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
