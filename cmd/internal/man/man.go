// SPDX-License-Identifier: MIT

// Package man makes manual pages of commands, out of what their --help says, so
// that the two cannot differ.
package man

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Pages makes a page for a command and each below it, by file name: "prog.8",
// "prog-sub.8". see are further pages, such as "rds_ext(7)".
func Pages(root *cobra.Command, see ...string) map[string][]byte {
	root.InitDefaultHelpFlag()
	pages := map[string][]byte{}
	add(pages, root, see)
	return pages
}

func add(pages map[string][]byte, c *cobra.Command, see []string) {
	pages[pageName(c)+".8"] = page(c, see)
	for _, sub := range c.Commands() {
		if documented(sub) {
			add(pages, sub, see)
		}
	}
}

// documented leaves out what cobra adds by itself, and "show", which is what its
// parent does anyway.
func documented(c *cobra.Command) bool {
	return c.IsAvailableCommand() && c.Name() != "help" && c.Name() != "completion" && c.Name() != "show"
}

// pageName is that of a command with those above it.
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

func page(c *cobra.Command, see []string) []byte {
	var b bytes.Buffer
	name := pageName(c)
	fmt.Fprintf(&b, ".\\\" SPDX-License-Identifier: MIT\n.\\\" Made from the text of --help. Do not edit.\n")
	fmt.Fprintf(&b, ".TH %s 8 \"\" rds_ext \"RDS Administration\"\n", strings.ToUpper(name))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escape(name), escape(lowerFirst(c.Short)))
	b.WriteString(".SH SYNOPSIS\n")
	b.WriteString(".B " + escape(c.UseLine()) + "\n")
	long := c.Long
	if long == "" {
		long = c.Short + "."
	}
	b.WriteString(".SH DESCRIPTION\n")
	text(&b, long)
	subcommands(&b, c)
	options(&b, "OPTIONS", c.NonInheritedFlags())
	options(&b, "GLOBAL OPTIONS", c.InheritedFlags())
	if c.Example != "" {
		b.WriteString(".SH EXAMPLES\n")
		block(&b, strings.Split(c.Example, "\n"))
	}
	seeAlso(&b, c, see)
	return b.Bytes()
}

func subcommands(b *bytes.Buffer, c *cobra.Command) {
	title := ".SH COMMANDS\n"
	for _, sub := range c.Commands() {
		if documented(sub) {
			fmt.Fprintf(b, "%s.TP\n.BR %s (8)\n%s.\n", title, escape(pageName(sub)), escape(sub.Short))
			title = ""
		}
	}
}

func options(b *bytes.Buffer, title string, flags *pflag.FlagSet) {
	head := fmt.Sprintf(".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		line := "\\fB" + escape(name) + "\\fR"
		if f.NoOptDefVal != "" && kind != "" && f.Value.Type() != "bool" && f.Value.Type() != "count" {
			line += "[=\\fI" + escape(kind) + "\\fR]"
		} else if kind != "" && f.Value.Type() != "count" {
			line += " \\fI" + escape(kind) + "\\fR"
		}
		fmt.Fprintf(b, "%s.TP\n%s\n%s", head, line, escape(usage))
		if def := f.DefValue; def != "" && def != "false" && def != "0" && def != "[]" && def != "0s" {
			fmt.Fprintf(b, " (default %s)", escape(strings.Trim(def, "[]")))
		}
		b.WriteString(".\n")
		head = ""
	})
}

func seeAlso(b *bytes.Buffer, c *cobra.Command, see []string) {
	var pages []string
	if c.HasParent() {
		pages = append(pages, pageName(c.Parent())+"(8)")
	}
	pages = append(pages, see...)
	if len(pages) == 0 {
		return
	}
	b.WriteString(".SH \"SEE ALSO\"\n")
	for i, p := range pages {
		name, section, _ := strings.Cut(p, "(")
		comma := ","
		if i == len(pages)-1 {
			comma = ""
		}
		fmt.Fprintf(b, ".BR %s (%s%s\n", escape(name), escape(section), comma)
	}
}

// text writes paragraphs. Those with an indented line keep their lines.
func text(b *bytes.Buffer, s string) {
	for i, par := range strings.Split(strings.Trim(s, "\n"), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		lines := strings.Split(par, "\n")
		plain := lines
		for n, l := range lines {
			if strings.HasPrefix(l, " ") {
				plain = lines[:n]
				break
			}
		}
		for _, l := range plain {
			b.WriteString(escape(l) + "\n")
		}
		if len(plain) < len(lines) {
			block(b, lines[len(plain):])
		}
	}
}

// block writes lines as they are.
func block(b *bytes.Buffer, lines []string) {
	b.WriteString(".PP\n.nf\n")
	for _, l := range lines {
		b.WriteString(escape(l) + "\n")
	}
	b.WriteString(".fi\n")
}

// escape makes plain text of what roff would take for more.
func escape(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}

func lowerFirst(s string) string {
	if len(s) > 1 && s[1] >= 'a' && s[1] <= 'z' {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}
