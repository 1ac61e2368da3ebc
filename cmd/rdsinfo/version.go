// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/gonl"
)

// version is set by the build (-ldflags "-X main.version=...").
var version string

// buildVersion says what this program was built from.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// versionView is "rdsinfo version" in JSON; the module's part is null where it
// is not loaded.
type versionView struct {
	Rdsinfo         string        `json:"rdsinfo"`
	Module          *string       `json:"module"`
	ProtocolVersion *gonl.Version `json:"protocol_version"`
}

func (a *app) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of this program and of the module",
		Long: "Print the versions of this program and of the loaded rds_ext.ko, and the protocol\n" +
			"version that the module announces. Without the module it says so and succeeds.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.printVersion(cmd.Context()) },
	}
}

// printVersion is the command itself.
func (a *app) printVersion(ctx context.Context) error {
	v := versionView{Rdsinfo: buildVersion()}
	err := a.with(func(c control) error {
		s, err := c.Settings(ctx)
		if err != nil {
			return err
		}
		v.Module, v.ProtocolVersion = &s.ModuleVersion, &s.ProtocolVersion
		return nil
	})
	if err != nil && !errors.Is(err, gonl.ErrNotLoaded) {
		return err
	}
	if a.json {
		return a.printJSON(v)
	}
	rows := [][]string{{"rdsinfo", v.Rdsinfo}}
	if v.Module == nil {
		rows = append(rows, []string{"rds_ext.ko", "not loaded"})
	} else {
		rows = append(rows, []string{"rds_ext.ko", *v.Module},
			[]string{"protocol", v.ProtocolVersion.String()})
	}
	return a.printTable(rows)
}
