// SPDX-License-Identifier: MIT

// Package doccheck compares docs/protocol.md with the codec of the extension
// headers and with the netlink specification.
package doccheck

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Sources are the texts that have to agree.
type Sources struct {
	Doc  string // docs/protocol.md
	Code string // output of "make dump-table", see dump_table.c
	Spec string // kmod/rds_ext/rds_ext.yaml
}

// Check returns one line for each difference between the sources, or an error
// where one of them cannot be read at all.
func Check(src Sources) ([]string, error) {
	doc, err := parseTables(src.Doc)
	if err != nil {
		return nil, fmt.Errorf("protocol.md: %w", err)
	}
	code, err := parseCode(src.Code)
	if err != nil {
		return nil, fmt.Errorf("table of the codec: %w", err)
	}
	spec, err := parseSpec(src.Spec)
	if err != nil {
		return nil, fmt.Errorf("rds_ext.yaml: %w", err)
	}

	var r report
	r.header(doc["header"], code)
	r.types(doc["types"], code)
	r.features(doc["features"], code, spec)
	r.destFlags(doc["dest-flags"], code)
	r.constants(doc["constants"], code, spec)
	r.counters(doc["counters"], spec)
	return r, nil
}

// report collects differences.
type report []string

func (r *report) addf(format string, args ...any) {
	*r = append(*r, fmt.Sprintf(format, args...))
}

// number reads a decimal or 0x number of the document.
func (r *report) number(what, s string) uint64 {
	n, err := strconv.ParseUint(s, 0, 32)
	if err != nil {
		r.addf("%s: %q is not a number", what, s)
	}
	return n
}

// header checks that the fields follow each other and end with the extension
// space.
func (r *report) header(t *table, code *code) {
	var end, size uint64
	var last string
	for _, row := range t.rows {
		last = row["Field"]
		off := r.number("header: offset of "+last, row["Offset"])
		size = r.number("header: size of "+last, row["Bytes"])
		if off != end {
			r.addf("header: %s is at %d, but the field before it ends at %d", last, off, end)
		}
		end = off + size
	}
	if last != "h_exthdr" || size != code.space {
		r.addf("header: ends with %s of %d bytes, want h_exthdr of %d", last, size, code.space)
	}
	if end != 48 {
		r.addf("header: has %d bytes, want 48", end)
	}
}

func (r *report) types(t *table, code *code) {
	seen := map[uint64]bool{}
	for _, row := range t.rows {
		num := r.number("types", row["Type"])
		what := fmt.Sprintf("type %d", num)
		if seen[num] {
			r.addf("%s: documented twice", what)
		}
		seen[num] = true

		want, ok := code.types[num]
		if !ok {
			r.addf("%s: documented, but the codec does not know it", what)
			continue
		}
		if row["Name"] != want.name {
			r.addf("%s: name is %q, want %q", what, row["Name"], want.name)
		}
		if n := r.number(what, row["Length"]); n != want.length {
			r.addf("%s: length is %d, want %d", what, n, want.length)
		}
		n, err := layoutLen(row["Payload"])
		if err != nil {
			r.addf("%s: payload: %v", what, err)
		} else if n != want.length {
			r.addf("%s: fields of the payload have %d bytes, want %d", what, n, want.length)
		}
		if mask, err := featureMask(row["Needs"], code); err != nil {
			r.addf("%s: %v", what, err)
		} else if mask != want.features {
			r.addf("%s: needs features %#x, want %#x", what, mask, want.features)
		}
	}
	for num, typ := range code.types {
		if !seen[num] {
			r.addf("type %d (%s): not documented", num, typ.name)
		}
	}
}

// features checks the bits against the codec, and all but REPLY_WANTED, which
// is none, against the specification.
func (r *report) features(t *table, code *code, spec *spec) {
	var names []string
	documented := map[string]uint64{}
	for _, row := range t.rows {
		bit := r.number("features", row["Bit"])
		documented[row["Name"]] = 1 << bit
		if code.flags[row["Name"]] != 0 {
			continue
		}
		names = append(names, row["Name"])
		specName := strings.ToLower(strings.ReplaceAll(row["Name"], "_", "-"))
		if i := slices.Index(spec.features, specName); i < 0 {
			r.addf("feature %s: not in rds_ext.yaml", row["Name"])
		} else if uint64(i) != bit {
			r.addf("feature %s: is bit %d, bit %d in rds_ext.yaml", row["Name"], bit, i)
		}
	}
	if len(names) != len(spec.features) {
		r.addf("features: %d documented, %d in rds_ext.yaml", len(names), len(spec.features))
	}
	for _, set := range []map[string]uint64{code.features, code.flags} {
		for name, mask := range set {
			if documented[name] != mask {
				r.addf("feature %s: mask is %#x, %#x in the codec", name, documented[name], mask)
			}
		}
	}
	if len(documented) != len(code.features)+len(code.flags) {
		r.addf("features: %d lines, the codec has %d", len(documented), len(code.features)+len(code.flags))
	}
}

// destFlags checks the bits of RDMA_DEST_FLAGS.
func (r *report) destFlags(t *table, code *code) {
	documented := map[string]uint64{}
	for _, row := range t.rows {
		documented[row["Name"]] = 1 << r.number("dest-flags", row["Bit"])
	}
	for name, mask := range code.destFlags {
		if documented[name] != mask {
			r.addf("flag %s: mask is %#x, %#x in the codec", name, documented[name], mask)
		}
	}
	if len(documented) != len(code.destFlags) {
		r.addf("dest-flags: %d lines, the codec has %d", len(documented), len(code.destFlags))
	}
}

func (r *report) constants(t *table, code *code, spec *spec) {
	want := map[string]uint64{
		"version":         spec.version,
		"extension space": code.space,
		"first own type":  code.firstOwn,
	}
	for _, row := range t.rows {
		name := row["Constant"]
		w, ok := want[name]
		if !ok {
			r.addf("constant %q: not known", name)
			continue
		}
		delete(want, name)
		if n := r.number(name, row["Value"]); n != w {
			r.addf("constant %q: is %#x, want %#x", name, n, w)
		}
	}
	for name := range want {
		r.addf("constant %q: not documented", name)
	}
}

func (r *report) counters(t *table, spec *spec) {
	var names []string
	for _, row := range t.rows {
		names = append(names, row["Counter"])
	}
	if !slices.Equal(names, spec.counters) {
		r.addf("counters: documented are %v, rds_ext.yaml has %v", names, spec.counters)
	}
}

var field = regexp.MustCompile(`^(u8|be16|be32|be64) \w+(?:\[(\d+)\])?$`)

// layoutLen adds up the sizes of fields such as "be32 rkey, u8 pad[3]".
func layoutLen(layout string) (uint64, error) {
	sizes := map[string]uint64{"u8": 1, "be16": 2, "be32": 4, "be64": 8}
	var sum uint64
	if layout == "-" {
		return 0, nil
	}
	for _, f := range strings.Split(layout, ", ") {
		m := field.FindStringSubmatch(f)
		if m == nil {
			return 0, fmt.Errorf("field %q is not like \"be32 name\" or \"u8 name[3]\"", f)
		}
		count := uint64(1)
		if m[2] != "" {
			n, err := strconv.ParseUint(m[2], 10, 8)
			if err != nil {
				return 0, fmt.Errorf("field %q: %w", f, err)
			}
			count = n
		}
		sum += count * sizes[m[1]]
	}
	return sum, nil
}

// featureMask reads "-" or names joined by ", ".
func featureMask(names string, code *code) (uint64, error) {
	var mask uint64
	if names == "-" {
		return 0, nil
	}
	for _, name := range strings.Split(names, ", ") {
		bit, ok := code.features[name]
		if !ok {
			return 0, fmt.Errorf("needs feature %q, which the codec does not know", name)
		}
		mask |= bit
	}
	return mask, nil
}
