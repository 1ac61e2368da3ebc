// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/rds-ext/rds_ext/gonl/spec"
)

// TestUpToDate fails if somebody changed the specification, or a generated
// file, without running the generator.
func TestUpToDate(t *testing.T) {
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 4 {
		t.Errorf("%d files", len(files))
	}
	for _, f := range files {
		have, err := os.ReadFile(filepath.Join(root, f.path))
		if err != nil {
			t.Error(err)
			continue
		}
		if !bytes.Equal(have, f.content) {
			t.Errorf("%s is out of date with %s: run \"go generate ./gonl\"", f.path, specPath)
		}
	}
}

// TestNumbers counts once more, straight in the YAML, the way ynl documents
// it, and compares with the tables that programs use.
func TestNumbers(t *testing.T) {
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(root, specPath))
	if err != nil {
		t.Fatal(err)
	}
	var y map[string]any
	if err := yaml.Unmarshal(raw, &y); err != nil {
		t.Fatal(err)
	}
	counted := 0
	for _, s := range y["attribute-sets"].([]any) {
		set := s.(map[string]any)
		for i, a := range set["attributes"].([]any) {
			name := a.(map[string]any)["name"].(string)
			for _, o := range spec.Ops {
				if o.Set.Name != set["name"] {
					continue
				}
				counted++
				if got, ok := o.Set.ByName(name); !ok || int(got.Number) != i+1 {
					t.Errorf("%s %s: number %d, want %d", set["name"], name, got.Number, i+1)
				}
			}
		}
	}
	for i, o := range y["operations"].(map[string]any)["list"].([]any) {
		counted++
		name := o.(map[string]any)["name"].(string)
		if got, ok := spec.OpByNumber(uint8(i + 1)); !ok || got.Name != name {
			t.Errorf("operation %d is %s, want %s", i+1, got.Name, name)
		}
	}
	if counted == 0 {
		t.Error("nothing was compared")
	}
}

const minimal = `
name: fam
doc: A family.
definitions:
  - {type: enum, name: kind, doc: Kind., entries: [{name: a, doc: A.}, {name: b, value: 4, doc: B.}, {name: c, doc: C.}]}
  - {type: flags, name: bit, doc: Bits., entries: [{name: x, doc: X.}]}
attribute-sets:
  - name: set
    doc: A set.
    attributes:
      - {name: one, type: u32, enum: kind, doc: One.}
      - {name: two, type: binary, checks: {exact-len: 16}, doc: Two.}
      - {name: ten, type: u8, value: 10, checks: {min: 1, max: 3}, doc: Ten.}
      - {name: pad, type: pad}
operations:
  name-prefix: fam-cmd-
  list:
    - {name: get, doc: Get., attribute-set: set, do: {request: {attributes: [one]}, reply: {attributes: [one, two]}}}
    - {name: gone, doc: Gone., attribute-set: set, value: 9, mcgrp: grp, event: {attributes: [one]}}
mcast-groups: {list: [{name: grp}]}
`

func TestHeader(t *testing.T) {
	f, err := parse([]byte(minimal))
	if err != nil {
		t.Fatal(err)
	}
	h, err := renderUAPI(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"FAM_KIND_A = 0,", "FAM_KIND_B = 4,", "FAM_KIND_C = 5,", "FAM_KIND_MAX = FAM_KIND_C,",
		"FAM_BIT_X = 1U << 0,", "FAM_A_SET_ONE = 1,", "FAM_A_SET_TWO,", "FAM_A_SET_TEN = 10,", "FAM_A_SET_PAD,",
		"FAM_CMD_GET = 1,", "FAM_CMD_GONE = 9,", `#define FAM_MCGRP_GRP "grp"`,
		"FAM_A_SET_ONE: u32, one of FAM_KIND_*", "FAM_A_SET_TWO: binary, exactly 16 bytes",
	} {
		if !strings.Contains(string(h), want+"\n") {
			t.Errorf("no %q in\n%s", want, h)
		}
	}
	for i, l := range strings.Split(string(h), "\n") {
		if len(strings.ReplaceAll(l, "\t", "        ")) > cWidth {
			t.Errorf("line %d is longer than %d columns: %s", i+1, cWidth, l)
		}
	}
}

// TestFaults breaks the specification in one place at a time.
func TestFaults(t *testing.T) {
	for _, tt := range []struct{ old, new, want string }{
		{"name: fam", "name: Fam", "lower case"},
		{"name: fam\n", "name: fam\nprotocol: netlink-raw\n", "only genetlink"},
		{"name-prefix: fam-cmd-", "name-prefix: other-", "name-prefix must be"},
		{"doc: A family.", "doc: A family.\nbogus: 1", "bogus"},
		{"type: enum, name: kind", "type: struct, name: kind", "none of const, enum, flags"},
		{"type: flags, name: bit", "type: const, name: bit", "needs a value"},
		{"name: b, value: 4", "name: b, value: 0", "used twice"},
		{"name: b, value: 4", "name: a, value: 4", "used twice"},
		{"doc: B.", "doc: ''", "has no doc"},
		{"{name: x, doc: X.}", "{name: x, value: 32, doc: X.}", "does not fit"},
		{"type: u32, enum: kind", "type: u32, enum: none", "no enum"},
		{"type: u32, enum: kind", "type: string, enum: kind", "needs an unsigned number"},
		{"type: u32, enum: kind", "type: u32, enum: bit", "enum-as-flags"},
		{"type: u32, enum: kind", "type: u32, enum-as-flags: true", "without enum"},
		{"type: u32, enum: kind", "type: nest", "is none of u8"},
		{"type: binary, checks: {exact-len: 16}", "type: binary, checks: {max: 16}", "min and max"},
		{"checks: {min: 1, max: 3}", "checks: {exact-len: 3}", "lengths are for"},
		{"value: 10", "value: 2", "goes back"},
		{"name: two", "name: one", "defined twice"},
		{"attributes: [one, two]", "attributes: [one, one]", "listed twice"},
		{"attributes: [one, two]", "attributes: [one, pad]", "padding"},
		{"attributes: [one, two]", "attributes: [six]", "has no attribute"},
		{"attribute-set: set, do", "attribute-set: sat, do", "no attribute set"},
		{"attribute-set: set, value: 9, mcgrp: grp", "attribute-set: set, mcgrp: grp, do: {}", "either a request"},
		{"mcgrp: grp", "mcgrp: grape", "no multicast group"},
		{"value: 9", "value: 256", "8 bits"},
		{"value: 9", "value: 1", "goes back"},
		{"[{name: grp}]", "[{name: grp}, {name: grp}]", "listed twice"},
		{"set, do", "set, flags: [uns-admin-perm], do", "not supported"},
		{"set, do", "set, mcgrp: grp, do", "only events"},
	} {
		if !strings.Contains(minimal, tt.old) {
			t.Errorf("nothing to replace: %q", tt.old)
			continue
		}
		_, err := parse([]byte(strings.Replace(minimal, tt.old, tt.new, 1)))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q instead of %q: error %v, want one with %q", tt.new, tt.old, err, tt.want)
		}
	}
}

func TestWrap(t *testing.T) {
	got := strings.Join(wrap("aa bb\n cc averyverylongword d", "* ", "  ", 8), "|")
	if want := "* aa bb|  cc|  averyverylongword|  d"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
