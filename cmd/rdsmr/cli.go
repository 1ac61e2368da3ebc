// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
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
				return usageError{fmt.Errorf("no help for %q: there is no such command; see `rdsmr --help`", strings.Join(args, " "))}
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
func execute(root *cobra.Command) error {
	var lost error
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		if _, err := io.WriteString(c.OutOrStdout(), helpText(c)); err != nil {
			lost = fmt.Errorf("write the output: %w", err)
		}
	})
	root.SetHelpCommand(helpCommand())
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Args = usage(cobra.NoArgs)
			c.RunE = func(*cobra.Command, []string) error {
				return usageError{errors.New("which shell? bash, zsh, fish or powershell")}
			}
		}
	}
	return errors.Join(root.Execute(), lost)
}

// numberRanges says what a flag that takes a number accepts.
var numberRanges = map[string]string{
	"depth": fmt.Sprintf("from 1 to %d", wire.MaxDepth),
	"tasks": fmt.Sprintf("from 1 to %d", wire.MaxTasks),
	"count": "from 1",
	"port":  "from 1 to 65535",
	"seed":  "from 0 to 18446744073709551615",
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

// completions makes the shell offer what a flag accepts, and no file names:
// nothing here takes a file.
func completions(c *cobra.Command) {
	c.ValidArgsFunction = cobra.NoFileCompletions
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" {
			return
		}
		offer := cobra.NoFileCompletions
		if f.Name == "mode" {
			var modes []cobra.Completion
			for _, m := range wire.Modes {
				modes = append(modes, cobra.Completion(m))
			}
			offer = cobra.FixedCompletions(modes, cobra.ShellCompDirectiveNoFileComp)
		}
		// It can fail only for a flag that does not exist, or has one already.
		if err := c.RegisterFlagCompletionFunc(f.Name, offer); err != nil {
			panic(err)
		}
	})
}
