// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"fmt"
	"strings"
)

// renderMarkdown makes the reference for people who read messages of the
// family or write a client in another language.
func renderMarkdown(f *family) ([]byte, error) {
	var b bytes.Buffer
	para := func(text string) {
		for _, l := range wrap(text, "", "", 88) {
			b.WriteString(l + "\n")
		}
		b.WriteByte('\n')
	}
	b.WriteString("<!-- SPDX-License-Identifier: GPL-2.0 -->\n")
	b.WriteString("<!-- Made from kmod/rds_ext/rds_ext.yaml by gonl/internal/specgen. Do not edit. -->\n\n")
	fmt.Fprintf(&b, "# Netlink family `%s`\n\n", f.name)
	para(f.doc)
	para("The family exists while `rds_ext.ko` is loaded. Its version is 1. `rdsinfo` and the Go" +
		" package `gonl` speak it; this page is for those who write another client or read" +
		" messages. The same contents are in the specification `kmod/rds_ext/rds_ext.yaml`, which" +
		" the kernel's `ynl` tools understand, and in the C header `kmod/rds_ext/rds_ext_uapi.h`.")
	b.WriteString("## Rules for all messages\n\n")
	for _, r := range []string{
		"Numbers are in the byte order of the host; addresses are in network byte order.",
		"Validation is strict: an attribute that the operation does not list, that comes twice, that has" +
			" the wrong length or an unknown value, or bytes behind the last attribute, are refused with" +
			" an error number, a text and the offset of the attribute (extended acknowledgement).",
		"Attributes of a reply may be missing where the description says so. Ignore attributes that you" +
			" do not know: a newer kernel module may add some.",
		"A dump whose objects changed meanwhile carries `NLM_F_DUMP_INTR`: run it again.",
		"Operations marked as privileged are refused with `EPERM` without `CAP_NET_ADMIN`.",
	} {
		for _, l := range wrap(r, "* ", "  ", 88) {
			b.WriteString(l + "\n")
		}
	}
	b.WriteString("\n## Operations and events\n")
	for _, o := range f.ops {
		fmt.Fprintf(&b, "\n### %d `%s`\n\n", o.value, o.name)
		para(o.doc)
		fmt.Fprintf(&b, "Attribute set: [%s](#set-%s).", o.set.name, o.set.name)
		if o.admin {
			b.WriteString(" Privileged.")
		}
		b.WriteString("\n\n")
		row := func(kind string, list []*attr) {
			text := "none"
			if len(list) > 0 {
				var ns []string
				for _, a := range list {
					ns = append(ns, "`"+a.name+"`")
				}
				text = strings.Join(ns, ", ")
			}
			for _, l := range wrap(kind+": "+text, "* ", "  ", 88) {
				b.WriteString(l + "\n")
			}
		}
		for _, p := range []struct {
			name string
			sub  *subop
		}{{"do", o.do}, {"dump", o.dump}} {
			if p.sub == nil {
				continue
			}
			row(p.name+" request", p.sub.request)
			row(p.name+" reply", p.sub.reply)
		}
		if o.isEvent {
			row(fmt.Sprintf("event to multicast group `%s`", o.group), o.event)
		}
	}
	b.WriteString("\n## Attribute sets\n")
	for _, s := range f.sets {
		fmt.Fprintf(&b, "\n<a id=\"set-%s\"></a>\n### `%s`\n\n", s.name, s.name)
		para(s.doc)
		b.WriteString("| no. | name | type | meaning |\n|---|---|---|---|\n")
		for _, a := range s.attrs {
			doc := oneLine(a.doc)
			if a.typ == "pad" {
				doc = "Padding in front of 64-bit numbers, without meaning."
			}
			r := rule(a, func(e *enum) string { return fmt.Sprintf("[%s](#enum-%s)", e.name, e.name) })
			fmt.Fprintf(&b, "| %d | `%s` | %s | %s |\n", a.value, a.name, r, escapeCell(doc))
		}
	}
	b.WriteString("\n## Values\n")
	for _, c := range f.consts {
		fmt.Fprintf(&b, "\n* `%s` = 0x%04x. %s\n", c.name, c.value, oneLine(c.doc))
	}
	for _, e := range f.enums {
		fmt.Fprintf(&b, "\n<a id=\"enum-%s\"></a>\n### `%s`\n\n", e.name, e.name)
		para(e.doc)
		col := "value"
		if e.flags {
			col = "bit"
		}
		fmt.Fprintf(&b, "| %s | name | meaning |\n|---|---|---|\n", col)
		for _, en := range e.entries {
			fmt.Fprintf(&b, "| %d | `%s` | %s |\n", en.value, en.name, escapeCell(oneLine(en.doc)))
		}
	}
	return b.Bytes(), nil
}

// escapeCell keeps a text from ending its table cell.
func escapeCell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
