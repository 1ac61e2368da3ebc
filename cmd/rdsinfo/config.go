// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/gonl"
)

const configHelp = `Show or change the settings of rds_ext.ko. They hold for the whole host, until
the module is unloaded, and act on connections that are established from then on.

  version-header      on or off: announce version and features in the first message
  feature-mask        features that may be announced: names joined by commas,
                      a number such as 0x1, "all" that are supported, or "none"
  supported-features  features that the module knows (read only)
  protocol-version    protocol version that the module announces (read only)
  module-version      version of rds_ext.ko (read only)`

// setting is one line of "config get". Only those with a set function can be
// changed; it may ask the kernel what the value stands for.
type setting struct {
	key  string
	text func(gonl.Settings) string
	json func(gonl.Settings) any
	set  func(ctx context.Context, c control, value string, to *gonl.SettingsChange) error
}

var settings = []setting{
	{
		key: "version-header",
		text: func(s gonl.Settings) string {
			if s.VersionHeader {
				return "on"
			}
			return "off"
		},
		json: func(s gonl.Settings) any { return s.VersionHeader },
		set:  setVersionHeader,
	},
	{
		key:  "feature-mask",
		text: func(s gonl.Settings) string { return s.FeatureMask.String() },
		json: func(s gonl.Settings) any { return s.FeatureMask },
		set:  setFeatureMask,
	},
	{
		key:  "supported-features",
		text: func(s gonl.Settings) string { return s.SupportedFeatures.String() },
		json: func(s gonl.Settings) any { return s.SupportedFeatures },
	},
	{
		key:  "protocol-version",
		text: func(s gonl.Settings) string { return s.ProtocolVersion.String() },
		json: func(s gonl.Settings) any { return s.ProtocolVersion },
	},
	{
		key:  "module-version",
		text: func(s gonl.Settings) string { return s.ModuleVersion },
		json: func(s gonl.Settings) any { return s.ModuleVersion },
	},
}

// findSetting accepts - and _ alike, since JSON has the one and flags the other.
func findSetting(key string) (setting, error) {
	var keys []string
	for _, s := range settings {
		if s.key == strings.ReplaceAll(key, "_", "-") {
			return s, nil
		}
		keys = append(keys, s.key)
	}
	return setting{}, cli.Usagef("no setting %q; there are %s", key, strings.Join(keys, ", "))
}

func setVersionHeader(_ context.Context, _ control, value string, to *gonl.SettingsChange) error {
	var on bool
	switch strings.ToLower(value) {
	case "on", "1", "yes", "true":
		on = true
	case "off", "0", "no", "false":
	default:
		return cli.Usagef("version-header is on or off, not %q", value)
	}
	to.VersionHeader = &on
	return nil
}

func setFeatureMask(ctx context.Context, c control, value string, to *gonl.SettingsChange) error {
	var mask gonl.Feature
	if value == "all" {
		s, err := c.Settings(ctx)
		if err != nil {
			return err
		}
		mask = s.SupportedFeatures
	} else if n, err := strconv.ParseUint(value, 0, 32); err == nil {
		mask = gonl.Feature(n)
	} else if value == "" || mask.UnmarshalText([]byte(value)) != nil {
		return cli.Usagef("feature-mask is all, none, a 32-bit number, or names joined by commas (%s, or bit-0 to bit-31), not %q",
			gonl.FeatureExtTypes, value)
	}
	to.FeatureMask = &mask
	return nil
}

func (a *app) configCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show or change the module's settings",
		Long:  configHelp,
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return cli.Usagef("which one? config get or config set")
		},
	}
	cmd.AddCommand(a.configGetCmd(), a.configSetCmd())
	return cmd
}

func (a *app) configGetCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "get [KEY]...",
		Short: "Show all settings, or some",
		Long:  configHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			show := settings
			if len(args) > 0 {
				show = nil
			}
			for _, key := range args {
				s, err := findSetting(key)
				if err != nil {
					return err
				}
				show = append(show, s)
			}
			return a.with(func(c control) error {
				now, err := c.Settings(cmd.Context())
				if err != nil {
					return err
				}
				return a.printSettings(show, now, len(args) == 1)
			})
		},
		ValidArgsFunction: completeSettings(func(setting) (string, bool) { return "", true }),
	}
}

// printSettings prints key and value, or with bare only the value, which is
// what a script wants that asked for one key.
func (a *app) printSettings(show []setting, now gonl.Settings, bare bool) error {
	if a.json {
		m := map[string]any{}
		for _, s := range show {
			m[strings.ReplaceAll(s.key, "-", "_")] = s.json(now)
		}
		return a.printJSON(m)
	}
	var rows [][]string
	for _, s := range show {
		if bare {
			rows = append(rows, []string{s.text(now)})
			continue
		}
		rows = append(rows, []string{s.key, s.text(now)})
	}
	return a.printTable(rows)
}

func (a *app) configSetCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "set KEY=VALUE... | set KEY VALUE",
		Short: "Change settings, all or none (needs CAP_NET_ADMIN)",
		Long:  configHelp,
		Example: "  rdsinfo config set version-header=off\n" +
			"  rdsinfo config set feature-mask ext-types",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("which setting? give KEY=VALUE, such as version-header=off")
			}
			pairs, err := assignments(args)
			if err != nil {
				return err
			}
			return a.with(func(c control) error {
				var change gonl.SettingsChange
				for _, p := range pairs {
					if err := p.setting.set(cmd.Context(), c, p.value, &change); err != nil {
						return err
					}
				}
				if err := c.SetSettings(cmd.Context(), change); err != nil {
					return withSupported(cmd.Context(), c, err)
				}
				if !a.json {
					return nil
				}
				now, err := c.Settings(cmd.Context())
				if err != nil {
					return err
				}
				return a.printSettings(settings, now, false)
			})
		},
		ValidArgsFunction: completeSettings(func(s setting) (string, bool) { return "=", s.set != nil }),
	}
}

// withSupported adds which features there are to a refusal of the mask.
func withSupported(ctx context.Context, c control, err error) error {
	var op *gonl.OpError
	if !errors.As(err, &op) || op.Attr != "feature-mask" {
		return err
	}
	now, serr := c.Settings(ctx)
	if serr != nil {
		return errors.Join(err, serr)
	}
	return hintError{err, "supported are: " + now.SupportedFeatures.String()}
}

// assignment is a setting with its new value.
type assignment struct {
	setting setting
	value   string
}

// assignments reads "KEY=VALUE..." or "KEY VALUE".
func assignments(args []string) ([]assignment, error) {
	if len(args) == 2 && !strings.Contains(args[0], "=") {
		args = []string{args[0] + "=" + args[1]}
	}
	var out []assignment
	seen := map[string]bool{}
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, cli.Usagef("%q is not of the form KEY=VALUE", arg)
		}
		s, err := findSetting(key)
		if err != nil {
			return nil, err
		}
		if s.set == nil {
			return nil, cli.Usagef("%s is read only", s.key)
		}
		if seen[s.key] {
			return nil, cli.Usagef("%s is given twice", s.key)
		}
		seen[s.key] = true
		out = append(out, assignment{s, value})
	}
	return out, nil
}

// completeSettings offers the keys that pick accepts, with a suffix.
func completeSettings(pick func(setting) (suffix string, ok bool)) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var out []cobra.Completion
		for _, s := range settings {
			if suffix, ok := pick(s); ok {
				out = append(out, s.key+suffix)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}
