// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// sizeValue is a flag for bytes: a number with an optional k, m or g (binary).
type sizeValue struct{ p *int }

// Set parses a size.
func (v *sizeValue) Set(s string) error {
	n, err := parseSize(s)
	if err == nil {
		*v.p = n
	}
	return err
}

// String returns the size in the largest unit that divides it.
func (v *sizeValue) String() string {
	if v.p == nil {
		return ""
	}
	n := *v.p
	for _, u := range []struct {
		unit int
		name string
	}{{1 << 30, "g"}, {1 << 20, "m"}, {1 << 10, "k"}} {
		if n >= u.unit && n%u.unit == 0 {
			return strconv.Itoa(n/u.unit) + u.name
		}
	}
	return strconv.Itoa(n)
}

// Type names the value in the help.
func (v *sizeValue) Type() string { return "size" }

func parseSize(s string) (int, error) {
	num, shift := strings.ToLower(strings.TrimSpace(s)), 0
	num = strings.TrimSuffix(strings.TrimSuffix(num, "b"), "i")
	for suffix, bits := range map[string]int{"k": 10, "m": 20, "g": 30} {
		if rest, ok := strings.CutSuffix(num, suffix); ok {
			num, shift = rest, bits
			break
		}
	}
	n, err := strconv.ParseInt(num, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt>>shift {
		return 0, fmt.Errorf("%q is not a size: give bytes, or a number with k, m or g", s)
	}
	return int(n) << shift, nil
}

// durationValue is a flag for a time: Go's notation, or a number of seconds as
// rds-stress takes it.
type durationValue struct{ p *time.Duration }

// Set parses a duration.
func (v *durationValue) Set(s string) error {
	d, err := parseDuration(s)
	if err == nil {
		*v.p = d
	}
	return err
}

// String returns Go's notation, and nothing for none.
func (v *durationValue) String() string {
	if v.p == nil || *v.p == 0 {
		return ""
	}
	return v.p.String()
}

// Type names the value in the help.
func (v *durationValue) Type() string { return "duration" }

func parseDuration(s string) (time.Duration, error) {
	bad := fmt.Errorf("%q is not a positive duration: give seconds, or a number with ms, s, m or h", s)
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		if n == 0 {
			return 0, bad
		}
		return time.Duration(n) * time.Second, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, bad
	}
	return d, nil
}
