// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"fmt"
	"strings"
)

// cWidth is the width of comments in the C header, as kernel style wants it.
const cWidth = 80

// header builds the C header line by line.
type header struct {
	bytes.Buffer
	fam *family
}

func (h *header) linef(format string, args ...any) {
	h.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " "))
	h.WriteByte('\n')
}

func (h *header) text(text, first, rest string) {
	for _, l := range wrap(text, first, rest, cWidth) {
		h.linef("%s", l)
	}
}

func (h *header) cmd(o *op) string                { return upper(h.fam.name, "cmd", o.name) }
func (h *header) attr(s *attrSet, a *attr) string { return upper(h.fam.name, "a", s.name, a.name) }

// renderUAPI makes the header that the kernel module and C programs share.
func renderUAPI(f *family) ([]byte, error) {
	h := &header{fam: f}
	guard := "_" + upper(f.name, "uapi_h")
	h.linef("/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */")
	h.linef("/*")
	h.text("Made from rds_ext.yaml by gonl/internal/specgen. Change the YAML file and run"+
		" \"go generate ./gonl\" instead of editing this one.", " * ", " * ")
	h.linef(" *")
	h.text(fmt.Sprintf("Generic netlink family %q. %s", f.name, f.doc), " * ", " * ")
	h.tree()
	h.linef(" */")
	h.linef("")
	h.linef("#ifndef %s", guard)
	h.linef("#define %s", guard)
	h.linef("")
	h.defines([][2]string{
		{upper(f.name, "family_name"), fmt.Sprintf("%q", f.name)},
		{upper(f.name, "family_version"), "1"},
	})
	for _, g := range f.groups {
		h.linef("")
		h.linef("/* Multicast group of the events. */")
		h.defines([][2]string{{upper(f.name, "mcgrp", g), fmt.Sprintf("%q", g)}})
	}
	for _, c := range f.consts {
		h.linef("")
		h.text(oneLine(c.doc)+" */", "/* ", " * ")
		h.defines([][2]string{{upper(f.name, c.name), fmt.Sprintf("0x%04x", c.value)}})
	}
	for _, e := range f.enums {
		h.enum(e)
	}
	for _, s := range f.sets {
		h.set(s)
	}
	h.cmds()
	h.linef("")
	h.linef("#endif /* %s */", guard)
	return h.Bytes(), nil
}

// defines prints macros with their values aligned.
func (h *header) defines(defs [][2]string) {
	width := 0
	for _, d := range defs {
		width = max(width, len(d[0]))
	}
	for _, d := range defs {
		h.linef("#define %-*s %s", width, d[0], d[1])
	}
}

// tree prints which operation takes and gives which attribute. A list that
// was printed before is referred to.
func (h *header) tree() {
	printed := map[string]string{}
	for _, o := range h.fam.ops {
		h.linef(" *")
		h.linef(" * %s", h.cmd(o))
		h.text(o.doc, " *   ", " *   ")
		if o.admin {
			h.linef(" *   Refused with EPERM without CAP_NET_ADMIN.")
		}
		for _, p := range []struct {
			name string
			sub  *subop
		}{{"do", o.do}, {"dump", o.dump}} {
			if p.sub == nil {
				continue
			}
			h.list(o, p.name+" request", p.sub.request, printed, h.cmd(o))
			h.list(o, p.name+" reply", p.sub.reply, printed, h.cmd(o))
		}
		if o.isEvent {
			h.list(o, fmt.Sprintf("event to group %q", o.group), o.event, printed, h.cmd(o))
		}
	}
}

func (h *header) list(o *op, title string, list []*attr, printed map[string]string, cmd string) {
	if len(list) == 0 {
		h.linef(" *   %s: no attributes", title)
		return
	}
	key := listKey(o.set, list)
	if where, ok := printed[key]; ok {
		h.text(fmt.Sprintf("%s: as in the %s", title, where), " *   ", " *     ")
		return
	}
	printed[key] = title + " of " + cmd
	h.linef(" *   %s:", title)
	for _, a := range list {
		name := h.attr(o.set, a)
		h.text(name+": "+rule(a, func(e *enum) string { return upper(h.fam.name, e.name) + "_*" }),
			" *     ", " *       ")
	}
}

// member is one line of a C enum.
type member struct{ name, init, doc string }

// members prints a C enum with its kernel-doc, and behind it private ones,
// which exist for arithmetic only.
func (h *header) members(tag, doc string, list, private []member) {
	h.linef("")
	h.linef("/**")
	h.text(fmt.Sprintf("enum %s - %s", tag, doc), " * ", " *   ")
	for _, m := range list {
		h.text(fmt.Sprintf("@%s: %s", m.name, m.doc), " * ", " *   ")
	}
	h.linef(" */")
	h.linef("enum %s {", tag)
	for _, m := range list {
		h.member(m)
	}
	if len(private) > 0 {
		h.linef("")
		h.linef("\t/* private: */")
		for _, m := range private {
			h.member(m)
		}
	}
	h.linef("};")
}

func (h *header) member(m member) {
	if m.init != "" {
		h.linef("\t%s = %s,", m.name, m.init)
		return
	}
	h.linef("\t%s,", m.name)
}

func (h *header) enum(e *enum) {
	var list []member
	var mask []string
	last := ""
	var top uint64
	for i, en := range e.entries {
		m := member{name: upper(h.fam.name, e.name, en.name), doc: oneLine(en.doc)}
		switch {
		case e.flags:
			m.init = fmt.Sprintf("1U << %d", en.value)
			mask = append(mask, m.name)
		default:
			m.init = fmt.Sprint(en.value)
		}
		if i == 0 || en.value > top {
			top, last = en.value, m.name
		}
		list = append(list, m)
	}
	// A policy needs the largest value, or all bits.
	private := []member{{name: upper(h.fam.name, e.name, "max"), init: last}}
	if e.flags {
		private = []member{{
			name: upper(h.fam.name, e.name, "mask"),
			init: strings.Join(mask, " |\n\t\t"),
		}}
	}
	h.members(lower(h.fam.name, e.name), oneLine(e.doc), list, private)
}

func (h *header) set(s *attrSet) {
	var list []member
	next := uint64(0)
	for _, a := range s.attrs {
		doc := oneLine(a.doc)
		if a.typ == "pad" {
			doc = "Padding in front of 64-bit numbers, without meaning."
		}
		m := member{
			name: h.attr(s, a),
			doc:  rule(a, func(e *enum) string { return "enum " + lower(h.fam.name, e.name) }) + ". " + doc,
		}
		if a.typ == "pad" {
			m.doc = doc
		}
		if a.value != next {
			m.init = fmt.Sprint(a.value)
		}
		next = a.value + 1
		list = append(list, m)
	}
	h.members(lower(h.fam.name, "a", s.name), "Attributes: "+oneLine(s.doc), list,
		h.limit(upper(h.fam.name, "a", s.name, "max")))
}

// limit gives the pair of members that yields the largest number in use.
func (h *header) limit(name string) []member {
	return []member{{name: "__" + name}, {name: name, init: "(__" + name + " - 1)"}}
}

func (h *header) cmds() {
	var list []member
	next := uint64(0)
	for _, o := range h.fam.ops {
		m := member{name: h.cmd(o), doc: oneLine(o.doc)}
		if o.value != next {
			m.init = fmt.Sprint(o.value)
		}
		next = o.value + 1
		list = append(list, m)
	}
	h.members(lower(h.fam.name, "cmd"), "Operations and events.", list,
		h.limit(upper(h.fam.name, "cmd", "max")))
}
