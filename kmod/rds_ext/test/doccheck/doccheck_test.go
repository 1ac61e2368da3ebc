// SPDX-License-Identifier: MIT

package doccheck

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// sources reads the document and the specification, and asks the compiled
// codec for its table.
func sources(t *testing.T) Sources {
	t.Helper()
	// The go command runs a test anew only when a file has changed that the
	// test itself has read; it does not see what make reads.
	for _, path := range []string{"../../exthdr.c", "../../exthdr.h", "../dump_table.c", "../Makefile"} {
		read(t, path)
	}
	cmd := exec.Command("make", "-s", "--no-print-directory", "-C", "..", "dump-table", "BUILD="+t.TempDir())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v (needs make and a C compiler: apt-get install make gcc)\n%s", cmd, err, &stderr)
	}
	return Sources{
		Doc:  read(t, "../../../../docs/protocol.md"),
		Code: string(out),
		Spec: read(t, "../../rds_ext.yaml"),
	}
}

func TestProtocolDocument(t *testing.T) {
	diffs, err := Check(sources(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diffs {
		t.Errorf("docs/protocol.md: %s", d)
	}
}

// TestFindsDifferences changes one thing at a time.
func TestFindsDifferences(t *testing.T) {
	good := sources(t)
	tests := []struct {
		name     string
		in       *string
		old, new string
		want     string
	}{
		{"name", &good.Doc, "| RDMA_DEST       |", "| RDMA_DST        |", `type 3: name is "RDMA_DST"`},
		{"length", &good.Doc, "| NPATHS          |      2 |", "| NPATHS          |      3 |", "type 5: length is 3, want 2"},
		{"layout", &good.Doc, "be32 bytes, u8 direction, u8 pad[3]", "be32 bytes, u8 direction, u8 pad[2]", "type 4: fields of the payload have 7 bytes"},
		{"layout text", &good.Doc, "be16 paths", "two bytes", "type 5: payload: field"},
		{"line gone", &good.Doc, "|    6 | GEN_NUM", "|    8 | GEN_NUM", "type 6 (GEN_NUM): not documented"},
		{"type too many", &good.Doc, "|    8 | SPORT_IDX", "|   10 | SPORT_IDX", "type 10: documented, but"},
		{"needs", &good.Doc, "be16 features, be16 version         | all mainline | - ", "be16 features, be16 version         | all mainline | EXT_TYPES ", "type 1: needs features 0x1, want 0x0"},
		{"needs nothing", &good.Doc, "| rds_ext.ko   | REMOTE_INVALIDATE |", "| rds_ext.ko   | -                 |", "type 9: needs features 0x0, want 0x2"},
		{"needs unknown", &good.Doc, "be16 features, be16 version         | all mainline | - ", "be16 features, be16 version         | all mainline | SPEED ", `needs feature "SPEED"`},
		{"header gap", &good.Doc, "|     20 |     2 | h_sport", "|     20 |     4 | h_sport", "h_dport is at 22"},
		{"header size", &good.Doc, "|     32 |    16 | h_exthdr", "|     32 |    17 | h_exthdr", "has 49 bytes"},
		{"version", &good.Doc, "| 0x0301 | protocol", "| 0x0302 | protocol", `constant "version": is 0x302`},
		{"space", &good.Code, "space\t16", "space\t15", `constant "extension space"`},
		{"first own", &good.Code, "first-own\t9", "first-own\t10", `constant "first own type"`},
		{"constant gone", &good.Doc, "| first own type  |", "| first type      |", `constant "first own type": not documented`},
		{"feature bit", &good.Doc, "|   0 | EXT_TYPES", "|   1 | EXT_TYPES", "feature EXT_TYPES: is bit 1"},
		{"feature bits swapped", &good.Doc, "|   1 | REMOTE_INVALIDATE", "|   2 | REMOTE_INVALIDATE", "feature REMOTE_INVALIDATE: is bit 2"},
		{"flag bit", &good.Doc, "|   0 | MAY_INVALIDATE", "|   1 | MAY_INVALIDATE", "flag MAY_INVALIDATE: mask is 0x2, 0x1 in the codec"},
		{"flag too many in the codec", &good.Code, "dest-flag\t", "dest-flag\tNEW\t0x02\ndest-flag\t", "flag NEW: mask is 0x0"},
		{"reply bit", &good.Doc, "|  15 | REPLY_WANTED", "|  14 | REPLY_WANTED", "feature REPLY_WANTED: mask is 0x4000"},
		{"feature of the spec", &good.Spec, "name: ext-types", "name: other", "feature EXT_TYPES: not in rds_ext.yaml"},
		{"feature too many in the codec", &good.Code, "feature\tEXT", "feature\tNEW\t0x0004\nfeature\tEXT", "feature NEW: mask is 0x0"},
		{"type too many in the codec", &good.Code, "first-own", "type\t10\tNEW\t2\t0x0001\nfirst-own", "type 10 (NEW): not documented"},
		{"counter", &good.Doc, "| rx-unknown   |", "| rx-strange   |", "counters: documented are"},
		{"counter of the spec", &good.Spec, "name: tx-rejected", "name: tx-refused", "counters: documented are"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			saved := *tt.in
			defer func() { *tt.in = saved }()
			if strings.Count(saved, tt.old) != 1 {
				t.Fatalf("%q stands there %d times, want once", tt.old, strings.Count(saved, tt.old))
			}
			*tt.in = strings.Replace(saved, tt.old, tt.new, 1)
			diffs, err := Check(good)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(strings.Join(diffs, "\n"), tt.want) {
				t.Errorf("got %q, want one with %q", diffs, tt.want)
			}
		})
	}
}

// TestUnreadable feeds sources that say nothing; they must not pass as equal.
func TestUnreadable(t *testing.T) {
	good := sources(t)
	tests := []struct {
		name     string
		in       *string
		old, new string
		want     string
	}{
		{"no table", &good.Doc, "<!-- table: types -->", "", `table "types" is missing`},
		{"table twice", &good.Doc, "<!-- table: types -->", "<!-- table: header -->", `table "header" stands there twice`},
		{"cells", &good.Doc, "| RDMA_DEST       |", "| RDMA_DEST       ", "cells, want 6"},
		{"codec", &good.Code, "space\t16", "spice\t16", "unknown kind of line"},
		{"codec number", &good.Code, "space\t16", "space\tmuch", "invalid syntax"},
		{"specification", &good.Spec, "name: protocol-version", "name: protocol", "missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			saved := *tt.in
			defer func() { *tt.in = saved }()
			*tt.in = strings.Replace(saved, tt.old, tt.new, 1)
			_, err := Check(good)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want one with %q", err, tt.want)
			}
		})
	}
}
