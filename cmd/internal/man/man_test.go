// SPDX-License-Identifier: MIT

package man

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestPages(t *testing.T) {
	root := &cobra.Command{Use: "prog", Short: "Do things", Long: "First.\nSecond 'line'.\n\n.third \\ with:\n  a  table\n  of two"}
	sub := &cobra.Command{Use: "sub [X]", Short: "RDS is it", Example: "  prog sub -x", Run: func(*cobra.Command, []string) {}}
	show := &cobra.Command{Use: "show", Run: func(*cobra.Command, []string) {}}
	sub.Flags().StringP("level", "l", "low", "the `LEVEL` of it")
	sub.Flags().Bool("hidden", false, "not told")
	if err := sub.Flags().MarkHidden("hidden"); err != nil {
		t.Fatal(err)
	}
	root.PersistentFlags().Bool("json", false, "print JSON")
	root.AddCommand(sub, show)
	pages := Pages(root, "rds_ext(7)")
	if len(pages) != 2 {
		t.Fatalf("%d pages", len(pages))
	}
	for name, wants := range map[string][]string{
		"prog.8": {
			".TH PROG 8 ", "\nprog \\- do things\n", "\nFirst.\nSecond \\(aqline\\(aq.\n.PP\n\\&.third \\e with:\n.PP\n.nf\n  a  table\n  of two\n.fi\n",
			".SH COMMANDS\n.TP\n.BR prog\\-sub (8)\nRDS is it.\n", "\\fB\\-\\-json\\fR\nprint JSON.\n", ".SH \"SEE ALSO\"\n.BR rds_ext (7)\n",
		},
		"prog-sub.8": {
			".TH PROG-SUB 8 ", "prog\\-sub \\- RDS is it\n", ".B prog sub [X] [flags]\n", "RDS is it.\n",
			"\\fB\\-l, \\-\\-level\\fR \\fILEVEL\\fR\nthe LEVEL of it (default low).\n", ".SH GLOBAL OPTIONS\n.TP\n\\fB\\-\\-json\\fR",
			".SH EXAMPLES\n.PP\n.nf\n  prog sub \\-x\n.fi\n", ".BR prog (8),\n.BR rds_ext (7)\n",
		},
	} {
		for _, want := range wants {
			if !strings.Contains(string(pages[name]), want) {
				t.Errorf("%s: no %q in\n%s", name, want, pages[name])
			}
		}
		if strings.Contains(string(pages[name]), "hidden") {
			t.Errorf("%s tells of a hidden flag", name)
		}
	}
}

func TestSync(t *testing.T) {
	dir := t.TempDir()
	one := map[string][]byte{"prog.8": []byte("1"), "prog-sub.8": []byte("2")}
	sync := func(pages map[string][]byte, write bool, want string) {
		t.Helper()
		stale, err := Sync(dir, "prog", pages, write)
		if got := strings.Join(stale, " "); err != nil || got != want {
			t.Errorf("stale %q, %v; want %q", got, err, want)
		}
	}
	sync(one, false, "prog-sub.8 prog.8")
	sync(one, true, "prog-sub.8 prog.8")
	sync(one, false, "")
	two := map[string][]byte{"prog.8": []byte("3")}
	sync(two, false, "prog-sub.8 prog.8")
	sync(two, true, "prog-sub.8 prog.8")
	sync(two, false, "")
	if _, err := Sync(dir, "other", two, false); err == nil {
		t.Error("a page of another program: no error")
	}
}
