// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// names is what turns into an identifier in C as well as in Go.
var names = regexp.MustCompile(`^[a-z][a-z0-9]*([-_][a-z0-9]+)*$`)

// attrTypes are the attribute types that the generators know how to describe.
var attrTypes = []string{"u8", "u16", "u32", "u64", "flag", "string", "binary", "pad"}

// checker collects every fault of a specification, so that one run tells all.
type checker struct {
	errs []error
}

func (c *checker) errorf(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

func (c *checker) name(what, name string) {
	if !names.MatchString(name) {
		c.errorf("%s: name %q must be lower case words joined by - or _", what, name)
	}
}

func (c *checker) doc(what, doc string) {
	if strings.TrimSpace(doc) == "" {
		c.errorf("%s: has no doc", what)
	}
}

// parse reads and checks a specification. Numbers are assigned the way the
// kernel's ynl does: attributes count from 1 in each set, operations from 1 in
// one common list, entries of enumerations from 0; "value" restarts the count.
func parse(raw []byte) (*family, error) {
	var y yamlSpec
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	if err := dec.Decode(&y); err != nil {
		return nil, err
	}
	c := &checker{}
	f := &family{name: y.Name, doc: y.Doc}
	c.name("family", y.Name)
	c.doc("family", y.Doc)
	if y.Protocol != "" && y.Protocol != "genetlink" {
		c.errorf("protocol %q: only genetlink is supported", y.Protocol)
	}
	if m := y.Operations.EnumModel; m != "" && m != "unified" {
		c.errorf("enum-model %q: only unified is supported", m)
	}
	// C names are built from the family's name everywhere, so a prefix that
	// says otherwise would make ynl's names differ from ours.
	if want := strings.ReplaceAll(y.Name, "_", "-") + "-cmd-"; y.Operations.NamePrefix != want {
		c.errorf("operations: name-prefix must be %q, not %q", want, y.Operations.NamePrefix)
	}
	c.definitions(f, y.Definitions)
	c.sets(f, y.AttributeSets)
	for _, g := range y.McastGroups.List {
		c.name("mcast-groups", g.Name)
		if slices.Contains(f.groups, g.Name) {
			c.errorf("multicast group %s: listed twice", g.Name)
		}
		f.groups = append(f.groups, g.Name)
	}
	c.operations(f, y.Operations.List)
	return f, errors.Join(c.errs...)
}

func (c *checker) definitions(f *family, defs []yamlDefinition) {
	seen := map[string]bool{}
	for _, d := range defs {
		what := "definition " + d.Name
		c.name(what, d.Name)
		c.doc(what, d.Doc)
		if seen[d.Name] {
			c.errorf("%s: defined twice", what)
		}
		seen[d.Name] = true
		switch d.Type {
		case "const":
			if d.Value == nil {
				c.errorf("%s: a const needs a value", what)
				continue
			}
			f.consts = append(f.consts, constant{d.Name, d.Doc, *d.Value})
		case "enum", "flags":
			f.enums = append(f.enums, c.enum(what, d))
		default:
			c.errorf("%s: type %q is none of const, enum, flags", what, d.Type)
		}
	}
}

func (c *checker) enum(what string, d yamlDefinition) *enum {
	e := &enum{name: d.Name, doc: d.Doc, flags: d.Type == "flags"}
	if len(d.Entries) == 0 {
		c.errorf("%s: has no entries", what)
	}
	byName, byValue := map[string]bool{}, map[uint64]bool{}
	next := d.ValueStart
	for _, ye := range d.Entries {
		where := what + " entry " + ye.Name
		c.name(where, ye.Name)
		c.doc(where, ye.Doc)
		if ye.Value != nil {
			next = *ye.Value
		}
		if byName[ye.Name] || byValue[next] {
			c.errorf("%s: name or value %d used twice", where, next)
		}
		byName[ye.Name], byValue[next] = true, true
		if limit := uint64(1<<31 - 1); !e.flags && next > limit {
			c.errorf("%s: value %d is over %d", where, next, limit)
		}
		if e.flags && next > 31 {
			c.errorf("%s: bit %d does not fit into a u32", where, next)
		}
		e.entries = append(e.entries, entry{ye.Name, ye.Doc, next})
		next++
	}
	return e
}

func (c *checker) sets(f *family, sets []yamlSet) {
	seen := map[string]bool{}
	for _, ys := range sets {
		what := "attribute set " + ys.Name
		c.name(what, ys.Name)
		c.doc(what, ys.Doc)
		if seen[ys.Name] {
			c.errorf("%s: defined twice", what)
		}
		seen[ys.Name] = true
		s := &attrSet{name: ys.Name, doc: ys.Doc}
		byName := map[string]bool{}
		next := uint64(1)
		for _, ya := range ys.Attributes {
			if ya.Value != nil {
				if *ya.Value < next {
					c.errorf("%s: %s: value %d goes back", what, ya.Name, *ya.Value)
				}
				next = *ya.Value
			}
			if byName[ya.Name] {
				c.errorf("%s: %s: defined twice", what, ya.Name)
			}
			byName[ya.Name] = true
			s.attrs = append(s.attrs, c.attr(f, what, ya, next))
			next++
		}
		if len(s.attrs) == 0 {
			c.errorf("%s: has no attributes", what)
		}
		f.sets = append(f.sets, s)
	}
}

func (c *checker) attr(f *family, set string, ya yamlAttr, value uint64) *attr {
	what := set + " attribute " + ya.Name
	a := &attr{
		name: ya.Name, typ: ya.Type, doc: ya.Doc, value: value,
		min: ya.Checks.Min, max: ya.Checks.Max,
		minLen: ya.Checks.MinLen, maxLen: ya.Checks.MaxLen, exactLen: ya.Checks.ExactLen,
	}
	c.name(what, ya.Name)
	if !slices.Contains(attrTypes, ya.Type) {
		c.errorf("%s: type %q is none of %s", what, ya.Type, strings.Join(attrTypes, ", "))
	}
	if ya.Type != "pad" {
		c.doc(what, ya.Doc)
	}
	scalar := strings.HasPrefix(ya.Type, "u")
	if (a.min != nil || a.max != nil) && !scalar {
		c.errorf("%s: min and max are for unsigned numbers", what)
	}
	if (a.minLen != nil || a.maxLen != nil || a.exactLen != nil) && ya.Type != "binary" && ya.Type != "string" {
		c.errorf("%s: lengths are for binary and string", what)
	}
	if ya.Enum == "" {
		if ya.EnumAsFlags {
			c.errorf("%s: enum-as-flags without enum", what)
		}
		return a
	}
	if !scalar {
		c.errorf("%s: enum needs an unsigned number", what)
	}
	i := slices.IndexFunc(f.enums, func(e *enum) bool { return e.name == ya.Enum })
	if i < 0 {
		c.errorf("%s: no enum %q is defined", what, ya.Enum)
		return a
	}
	a.enum = f.enums[i]
	// ynl shows flags as a list of names only where the attribute says so.
	if a.enum.flags != ya.EnumAsFlags {
		c.errorf("%s: enum-as-flags must be set for flags, and only for them", what)
	}
	return a
}

func (c *checker) operations(f *family, ops []yamlOp) {
	seen := map[string]bool{}
	next := uint64(1)
	for _, yo := range ops {
		what := "operation " + yo.Name
		c.name(what, yo.Name)
		c.doc(what, yo.Doc)
		if seen[yo.Name] {
			c.errorf("%s: defined twice", what)
		}
		seen[yo.Name] = true
		if yo.Value != nil {
			if *yo.Value < next {
				c.errorf("%s: value %d goes back", what, *yo.Value)
			}
			next = *yo.Value
		}
		if next > 255 {
			c.errorf("%s: number %d does not fit into the 8 bits of a command", what, next)
		}
		o := &op{name: yo.Name, doc: yo.Doc, value: next, group: yo.Mcgrp}
		next++
		for _, fl := range yo.Flags {
			if fl != "admin-perm" {
				c.errorf("%s: flag %q is not supported", what, fl)
			}
			o.admin = true
		}
		i := slices.IndexFunc(f.sets, func(s *attrSet) bool { return s.name == yo.AttributeSet })
		if i < 0 {
			c.errorf("%s: no attribute set %q is defined", what, yo.AttributeSet)
			continue
		}
		o.set = f.sets[i]
		o.do = c.subop(what+" do", o.set, yo.Do)
		o.dump = c.subop(what+" dump", o.set, yo.Dump)
		if yo.Event != nil {
			o.isEvent = true
			o.event = c.attrs(what+" event", o.set, yo.Event.Attributes)
		}
		if o.isEvent == (o.do != nil || o.dump != nil) {
			c.errorf("%s: must be either a request (do, dump) or an event", what)
		}
		if o.isEvent && !slices.Contains(f.groups, o.group) {
			c.errorf("%s: no multicast group %q is defined", what, o.group)
		}
		if !o.isEvent && o.group != "" {
			c.errorf("%s: only events have a multicast group", what)
		}
		f.ops = append(f.ops, o)
	}
	if len(f.ops) == 0 {
		c.errorf("no operations")
	}
}

func (c *checker) subop(what string, s *attrSet, y *yamlSubop) *subop {
	if y == nil {
		return nil
	}
	return &subop{
		request: c.attrs(what+" request", s, y.Request.Attributes),
		reply:   c.attrs(what+" reply", s, y.Reply.Attributes),
	}
}

func (c *checker) attrs(what string, s *attrSet, list []string) []*attr {
	var out []*attr
	for _, n := range list {
		i := slices.IndexFunc(s.attrs, func(a *attr) bool { return a.name == n })
		switch {
		case i < 0:
			c.errorf("%s: set %s has no attribute %q", what, s.name, n)
		case s.attrs[i].typ == "pad":
			c.errorf("%s: %s is padding", what, n)
		case slices.Contains(out, s.attrs[i]):
			c.errorf("%s: %s listed twice", what, n)
		default:
			out = append(out, s.attrs[i])
		}
	}
	return out
}
