// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/gonl"
	"github.com/rds-ext/rds_ext/gonl/spec"
)

// onOff makes a setting that is on or off.
func onOff(key string, get func(gonl.Settings) bool, set func(*gonl.SettingsChange, bool)) setting {
	return setting{
		key: key,
		text: func(s gonl.Settings) string {
			if get(s) {
				return "on"
			}
			return "off"
		},
		json: func(s gonl.Settings) any { return get(s) },
		set: func(_ context.Context, _ control, value string, to *gonl.SettingsChange) error {
			switch strings.ToLower(value) {
			case "on", "1", "yes", "true":
				set(to, true)
			case "off", "0", "no", "false":
				set(to, false)
			default:
				return cli.Usagef("%s is on or off, not %q", key, value)
			}
			return nil
		},
	}
}

// parser reads a number, and tells in words what it wants.
type parser struct {
	parse func(string) (uint64, error)
	form  string
}

// number makes a setting that is a number within the limits of the
// specification.
func number(key string, p parser, get func(gonl.Settings) uint64, set func(*gonl.SettingsChange, uint64)) setting {
	lowest, highest := limits(key)
	return setting{
		key:  key,
		text: func(s gonl.Settings) string { return strconv.FormatUint(get(s), 10) },
		json: func(s gonl.Settings) any { return get(s) },
		set: func(_ context.Context, _ control, value string, to *gonl.SettingsChange) error {
			n, err := p.parse(value)
			if err != nil || n < lowest || n > highest {
				return cli.Usagef("%s is %s from %d to %d, not %q", key, p.form, lowest, highest, value)
			}
			set(to, n)
			return nil
		},
	}
}

// limits are the smallest and the largest value that the kernel takes.
func limits(key string) (lowest, highest uint64) {
	a, ok := spec.SetSettings.ByName(key)
	if !ok {
		panic("no setting " + key)
	}
	if a.Max != 0 {
		return a.Min, a.Max
	}
	if a.Type == spec.TypeU32 {
		return a.Min, math.MaxUint32
	}
	return a.Min, math.MaxUint64
}

var parseNumber = parser{
	func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) },
	"a number",
}

var parseBytes = parser{readBytes, "a number of bytes, with K, M or G behind it in units of 1024,"}

var byteUnits = map[string]uint64{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

func readBytes(s string) (uint64, error) {
	digits := strings.TrimRight(s, "KMGkmg")
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0, err
	}
	unit, ok := byteUnits[strings.ToUpper(s[len(digits):])]
	if !ok || n > math.MaxUint64/unit {
		return 0, fmt.Errorf("%q: unknown unit, or too large", s)
	}
	return n * unit, nil
}

var parseMillis = parser{readMillis, "a number of milliseconds, or a time with its unit such as 90s,"}

func readMillis(s string) (uint64, error) {
	if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		return n, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, err
	}
	if d < 0 || d%time.Millisecond != 0 {
		return 0, fmt.Errorf("%v is not a whole number of milliseconds", d)
	}
	return uint64(d.Milliseconds()), nil
}
