// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/gonl"
)

const configHelp = `Show or change the settings of rds_ext.ko. They hold for the whole host, until
the module is unloaded. Those of the protocol act on connections that are
established from then on, those of MRs on MRs that are mapped from then on.

  version-header      on or off: announce version and features in the first message
  feature-mask        features that may be announced: names joined by commas,
                      a number such as 0x1, "all" that are supported, or "none"
  mr-engine           on or off: register new MRs with the MR engine; off leaves them
                      to net/rds, so that the engine drains and can be unloaded
  mr-pool-max         MRs that the engine allocates for each RDMA device at most,
                      16 to 1048576, never more than half of what the device has
  mr-sock-max         MRs of each socket at most, 0 for no limit
  mr-sock-bytes       bytes that the MRs of each socket pin at most, 0 for no limit;
                      with K, M or G behind the number in units of 1024
  mr-max-age-ms       age in milliseconds, or with a unit such as 90s, at which a
                      use-once MR that is still in use is reported (mr-aged); 0: never
  mr-age-revoke       on or off: revoke use-once MRs of that age
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
	onOff("version-header",
		func(s gonl.Settings) bool { return s.VersionHeader },
		func(to *gonl.SettingsChange, on bool) { to.VersionHeader = &on }),
	{
		key:  "feature-mask",
		text: func(s gonl.Settings) string { return s.FeatureMask.String() },
		json: func(s gonl.Settings) any { return s.FeatureMask },
		set:  setFeatureMask,
	},
	onOff("mr-engine",
		func(s gonl.Settings) bool { return s.MREngine },
		func(to *gonl.SettingsChange, on bool) { to.MREngine = &on }),
	number("mr-pool-max", parseNumber,
		func(s gonl.Settings) uint64 { return uint64(s.MRPoolMax) },
		func(to *gonl.SettingsChange, n uint64) { v := uint32(n); to.MRPoolMax = &v }),
	number("mr-sock-max", parseNumber,
		func(s gonl.Settings) uint64 { return uint64(s.MRSockMax) },
		func(to *gonl.SettingsChange, n uint64) { v := uint32(n); to.MRSockMax = &v }),
	number("mr-sock-bytes", parseBytes,
		func(s gonl.Settings) uint64 { return s.MRSockBytes },
		func(to *gonl.SettingsChange, n uint64) { to.MRSockBytes = &n }),
	number("mr-max-age-ms", parseMillis,
		func(s gonl.Settings) uint64 { return uint64(s.MRMaxAge.Milliseconds()) },
		func(to *gonl.SettingsChange, n uint64) {
			v := time.Duration(n) * time.Millisecond
			to.MRMaxAge = &v
		}),
	onOff("mr-age-revoke",
		func(s gonl.Settings) bool { return s.MRAgeRevoke },
		func(to *gonl.SettingsChange, on bool) { to.MRAgeRevoke = &on }),
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
		return cli.Usagef("feature-mask is all, none, a 32-bit number, or names joined by commas (%s, %s, or bit-0 to bit-31), not %q",
			gonl.FeatureExtTypes, gonl.FeatureRemoteInvalidate, value)
	}
	to.FeatureMask = &mask
	return nil
}

func (a *app) configCmd() *cobra.Command {
	cmd := a.configGetCmd("config [show] [KEY]...")
	cmd.Short = "Show or change the module's settings"
	get := a.configGetCmd("get [KEY]...")
	get.Aliases = []string{"show"}
	cmd.AddCommand(get, a.configSetCmd())
	return cmd
}

// configGetCmd makes the command once as "config" and once as "config get".
func (a *app) configGetCmd(use string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   use,
		Short: "Show all settings, or some (same as \"config\")",
		Long:  configHelp,
		Args:  cobra.ArbitraryArgs,
		RunE: a.shows(func(cmd *cobra.Command, args []string) error {
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
		}),
		ValidArgsFunction: completeSettings(func(setting) (string, bool) { return "", true }),
	}
	a.watchFlag(cmd)
	return cmd
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
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "set KEY=VALUE... | set KEY VALUE",
		Short: "Change settings, all or none (needs CAP_NET_ADMIN)",
		Long:  configHelp + "\n\n" + configSetHelp,
		Example: "  rdsinfo config set version-header=off\n" +
			"  rdsinfo config set feature-mask ext-types\n" +
			"  rdsinfo config set mr-max-age-ms=90s mr-age-revoke=on --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("which setting? give KEY=VALUE, such as version-header=off")
			}
			pairs, err := assignments(args)
			if err != nil {
				return err
			}
			return a.with(func(c control) error { return a.configSet(cmd.Context(), c, pairs, dryRun) })
		},
		ValidArgsFunction: completeSettings(func(s setting) (string, bool) { return "=", s.set != nil }),
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "change nothing, show what would change")
	return cmd
}

const configSetHelp = `With --dry-run nothing changes; a line for each setting shows its value now and
then, and what the module would refuse is refused. With --json it is a list of
"key", "now" and "then"; without --dry-run, --json shows all settings as they are
after the change.`

// configSet makes the change, or shows what it would be.
func (a *app) configSet(ctx context.Context, c control, pairs []assignment, dryRun bool) error {
	var change gonl.SettingsChange
	for _, p := range pairs {
		if err := p.setting.set(ctx, c, p.value, &change); err != nil {
			return err
		}
	}
	if dryRun {
		now, err := c.Settings(ctx)
		if err != nil {
			return err
		}
		return a.printChange(pairs, now, change.Apply(now))
	}
	if err := c.SetSettings(ctx, change); err != nil {
		return withSupported(ctx, c, err)
	}
	if !a.json {
		return nil
	}
	now, err := c.Settings(ctx)
	if err != nil {
		return err
	}
	return a.printSettings(settings, now, false)
}

// changeView is what would become of a setting, in JSON.
type changeView struct {
	Key  string `json:"key"`
	Now  any    `json:"now"`
	Then any    `json:"then"`
}

// printChange shows what a change would be.
func (a *app) printChange(pairs []assignment, now, then gonl.Settings) error {
	if no := then.FeatureMask &^ then.SupportedFeatures; no != 0 {
		return fmt.Errorf("the module does not support %s; supported are: %s", no, then.SupportedFeatures)
	}
	views := []changeView{}
	rows := [][]string{{"SETTING", "NOW", "THEN"}}
	for _, p := range pairs {
		s := p.setting
		views = append(views, changeView{strings.ReplaceAll(s.key, "-", "_"), s.json(now), s.json(then)})
		rows = append(rows, []string{s.key, s.text(now), s.text(then)})
	}
	if a.json {
		return a.printJSON(views)
	}
	return a.printTable(rows)
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
