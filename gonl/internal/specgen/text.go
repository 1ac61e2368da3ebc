// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"strings"
)

// wrap breaks text into lines of at most width columns; the first line starts
// with first, the others with rest. Words longer than a line stay whole.
func wrap(text, first, rest string, width int) []string {
	var lines []string
	line, empty := first, true
	for _, w := range strings.Fields(text) {
		switch {
		case empty:
			line += w
		case len(line)+1+len(w) > width:
			lines = append(lines, line)
			line = rest + w
		default:
			line += " " + w
		}
		empty = false
	}
	return append(lines, strings.TrimRight(line, " "))
}

// oneLine joins the lines of a YAML block.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// upper makes the C spelling of a constant.
func upper(parts ...string) string {
	return strings.ToUpper(strings.ReplaceAll(strings.Join(parts, "_"), "-", "_"))
}

// lower makes the C spelling of a type.
func lower(parts ...string) string {
	return strings.ToLower(strings.ReplaceAll(strings.Join(parts, "_"), "-", "_"))
}

// initialisms are written in capitals in Go identifiers.
var initialisms = map[string]string{
	"id": "ID", "ib": "IB", "tcp": "TCP", "cm": "CM", "rds": "RDS",
	"tx": "TX", "rx": "RX", "tos": "TOS", "ms": "MS", "mr": "MR", "mrs": "MRs",
	"pid": "PID", "uid": "UID", "rkey": "RKey", "qp": "QP", "sl": "SL",
}

// camel makes an exported Go identifier.
func camel(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		for _, w := range strings.FieldsFunc(p, func(r rune) bool { return r == '-' || r == '_' }) {
			if s, ok := initialisms[w]; ok {
				b.WriteString(s)
			} else {
				b.WriteString(strings.ToUpper(w[:1]) + w[1:])
			}
		}
	}
	return b.String()
}

// uncamel makes a Go identifier that is not exported.
func uncamel(name string) string {
	first, rest, _ := strings.Cut(name, "-")
	return first + camel(rest)
}

// rule says in words what values an attribute takes; enumName renders the
// name of an enumeration for the reader at hand.
func rule(a *attr, enumName func(*enum) string) string {
	var r string
	switch {
	case a.enum != nil && a.enum.flags:
		r = fmt.Sprintf("%s, bits of %s", a.typ, enumName(a.enum))
	case a.enum != nil:
		r = fmt.Sprintf("%s, one of %s", a.typ, enumName(a.enum))
	case a.typ == "string":
		r = "string, NUL-terminated"
	case a.typ == "flag":
		r = "flag, no payload"
	default:
		r = a.typ
	}
	switch {
	case a.min != nil && a.max != nil:
		r += fmt.Sprintf(", %d to %d", *a.min, *a.max)
	case a.min != nil:
		r += fmt.Sprintf(", at least %d", *a.min)
	case a.max != nil:
		r += fmt.Sprintf(", 0 to %d", *a.max)
	}
	switch {
	case a.exactLen != nil:
		r += fmt.Sprintf(", exactly %d bytes", *a.exactLen)
	case a.minLen != nil && a.maxLen != nil:
		r += fmt.Sprintf(", %d to %d bytes", *a.minLen, *a.maxLen)
	case a.minLen != nil:
		r += fmt.Sprintf(", at least %d bytes", *a.minLen)
	case a.maxLen != nil:
		r += fmt.Sprintf(", at most %d bytes", *a.maxLen)
	}
	return r
}

// listKey identifies a list of attributes, to print each list only once.
func listKey(s *attrSet, list []*attr) string {
	k := s.name
	for _, a := range list {
		k += "," + a.name
	}
	return k
}
