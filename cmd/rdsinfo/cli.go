// SPDX-License-Identifier: MIT

package main

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

// helpText is the text of --help.
func helpText(c *cobra.Command) string {
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
				return usagef("no help for %q: there is no such command", strings.Join(args, " "))
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

// execute runs a command line whose output has been set. Cobra drops the errors
// of writing help, and takes "completion" of an unknown shell for a call for
// help; both are failures here.
func execute(ctx context.Context, root *cobra.Command) error {
	var lost error
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		if _, err := io.WriteString(c.OutOrStdout(), helpText(c)); err != nil {
			lost = fmt.Errorf("%w: %w", errOutput, err)
		}
	})
	root.SetHelpCommand(helpCommand())
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.RunE = func(*cobra.Command, []string) error {
				return usagef("which shell? bash, zsh, fish or powershell")
			}
		}
	}
	return errors.Join(root.ExecuteContext(ctx), lost)
}

// numberRanges says what a flag that takes a number accepts.
var numberRanges = map[string]string{
	"count": "from 1",
}

// plainFlagError says in plain words what the packages that parse numbers say
// in terms of the program's own functions.
func plainFlagError(err error) error {
	var value *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &value) || !errors.As(err, &number) {
		return err
	}
	name := value.GetFlag().Name
	what := "true or false"
	if r, ok := numberRanges[name]; ok {
		what = "a whole number " + r
	}
	return fmt.Errorf("--%s must be %s, not %q", name, what, value.GetValue())
}
