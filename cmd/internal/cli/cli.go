// SPDX-License-Identifier: MIT

// Package cli is what the command line programs share: cobra, with its loose ends
// tied.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ErrOutput is a failure to write the output, which is no fault of the command
// line, whenever it happens.
var ErrOutput = errors.New("write the output")

// UsageError is a mistake in the command line.
type UsageError struct{ Err error }

// Error returns the text of the error itself.
func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e UsageError) Unwrap() error { return e.Err }

// Usagef returns a [UsageError] as fmt.Errorf makes it.
func Usagef(format string, args ...any) error {
	return UsageError{Err: fmt.Errorf(format, args...)}
}

// Args makes cobra's argument checks usage errors.
func Args(f cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := f(c, args); err != nil {
			return UsageError{Err: err}
		}
		return nil
	}
}

// Cobra has this switch for all commands of a program.
func init() { cobra.EnablePrefixMatching = true }

// HasStem tells whether name may be shortened to stem.
func HasStem(name, stem string) bool { return stem != "" && strings.HasPrefix(name, stem) }

// KnownCommand checks the arguments of a command that does nothing but have
// others below it: what is left is a command that does not exist, or is
// shortened too much.
func KnownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && HasStem(sub.Name(), args[0]) {
			names = append(names, sub.Name())
		}
	}
	if len(names) > 1 {
		return Usagef("%q is short for several commands: %s", args[0], strings.Join(names, ", "))
	}
	return Usagef("there is no command %q", args[0])
}

// HelpText is the text of --help.
func HelpText(c *cobra.Command) string {
	text := c.Long
	if text == "" {
		text = c.Short
	}
	return strings.TrimRight(text, " \n") + "\n\n" + c.UsageString()
}

// helpCommand replaces cobra's, which takes an unknown topic for success.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]...",
		Short: "Help about any command",
		RunE: func(c *cobra.Command, args []string) error {
			topic, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return Usagef("no help for %q: there is no such command", strings.Join(args, " "))
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
			if topic, rest, err := c.Root().Find(args); err == nil && len(rest) == 0 {
				for _, sub := range topic.Commands() {
					if sub.IsAvailableCommand() {
						names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// Execute runs a command line whose output has been set. Cobra drops the errors
// of writing help, and takes "completion" of an unknown shell for a call for
// help; both are failures here: [ErrOutput] and a [UsageError]. Commands may be
// shortened to what no other at their place begins with.
func Execute(ctx context.Context, root *cobra.Command) error {
	var lost error
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		if _, err := io.WriteString(c.OutOrStdout(), HelpText(c)); err != nil {
			lost = fmt.Errorf("%w: %w", ErrOutput, err)
		}
	})
	root.SetHelpCommand(helpCommand())
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Args = Args(cobra.NoArgs)
			c.RunE = func(*cobra.Command, []string) error {
				return Usagef("which shell? bash, zsh, fish or powershell")
			}
		}
	}
	return errors.Join(root.ExecuteContext(ctx), lost)
}

// PlainFlagError says in plain words what the packages that parse numbers say in
// terms of the program's own functions. ranges has what a flag that takes a
// number accepts, such as "from 1", by its name.
func PlainFlagError(err error, ranges map[string]string) error {
	var value *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &value) || !errors.As(err, &number) {
		return err
	}
	name := value.GetFlag().Name
	what := "true or false"
	if r, ok := ranges[name]; ok {
		what = "a whole number " + r
	}
	return fmt.Errorf("--%s must be %s, not %q", name, what, value.GetValue())
}
