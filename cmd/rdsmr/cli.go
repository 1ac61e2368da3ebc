// SPDX-License-Identifier: MIT

package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/bench"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
)

// numberRanges says what a flag that takes a number accepts.
var numberRanges = map[string]string{
	"rounds": "from 1 to 100",
	"depth":  fmt.Sprintf("from 1 to %d", wire.MaxDepth),
	"tasks":  fmt.Sprintf("from 1 to %d", wire.MaxTasks),
	"count":  "from 1",
	"port":   "from 1 to 65535",
	"seed":   "from 0 to 18446744073709551615",
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
		if values := valuesOf[f.Name]; values != nil {
			offer = cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
		}
		// It can fail only for a flag that does not exist, or has one already.
		if err := c.RegisterFlagCompletionFunc(f.Name, offer); err != nil {
			panic(err)
		}
	})
}

// valuesOf has the values of those flags that take one of several, by name.
var valuesOf = map[string][]cobra.Completion{
	"mode":      names(wire.Modes...),
	"modes":     append(names(bench.Modes()...), "all"),
	"direction": names(wire.ModeWrite, wire.ModeRead, wire.ModeBoth),
}

func names[T ~string](values ...T) (list []cobra.Completion) {
	for _, v := range values {
		list = append(list, cobra.Completion(v))
	}
	return list
}
