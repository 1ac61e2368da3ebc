// SPDX-License-Identifier: MIT

package doccheck

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// table is a table of the document, its cells by the name of the column.
type table struct {
	rows []map[string]string
}

// tableNames are the tables that the document must have, each announced by a
// comment such as "<!-- table: types -->".
var tableNames = []string{"header", "types", "features", "constants", "counters", "dest-flags"}

func parseTables(doc string) (map[string]*table, error) {
	tables := map[string]*table{}
	lines := strings.Split(doc, "\n")
	for i, line := range lines {
		name, ok := strings.CutPrefix(line, "<!-- table: ")
		if !ok {
			continue
		}
		name = strings.TrimSuffix(name, " -->")
		if tables[name] != nil {
			return nil, fmt.Errorf("line %d: table %q stands there twice", i+1, name)
		}
		t, err := parseTable(lines[i+1:])
		if err != nil {
			return nil, fmt.Errorf("line %d: table %q: %w", i+1, name, err)
		}
		tables[name] = t
	}
	for _, name := range tableNames {
		if tables[name] == nil {
			return nil, fmt.Errorf("table %q is missing: put <!-- table: %s --> in front of it", name, name)
		}
	}
	return tables, nil
}

func cells(line string) []string {
	parts := strings.Split(strings.Trim(line, "|"), "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

func parseTable(lines []string) (*table, error) {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	n := 0
	for n < len(lines) && strings.HasPrefix(lines[n], "|") {
		n++
	}
	if n < 3 {
		return nil, errors.New("it has no rows")
	}
	head := cells(lines[0])
	t := &table{}
	for _, line := range lines[2:n] {
		row := cells(line)
		if len(row) != len(head) {
			return nil, fmt.Errorf("%d cells, want %d: %s", len(row), len(head), line)
		}
		m := map[string]string{}
		for i, name := range head {
			m[name] = row[i]
		}
		t.rows = append(t.rows, m)
	}
	return t, nil
}

// codeType is a type that the codec knows.
type codeType struct {
	name     string
	length   uint64
	features uint64
}

// code is what the codec knows.
type code struct {
	space    uint64
	firstOwn uint64
	types    map[uint64]codeType
	features map[string]uint64
	flags    map[string]uint64
	// destFlags are the bits of RDMA_DEST_FLAGS.
	destFlags map[string]uint64
}

func parseCode(dump string) (*code, error) {
	c := &code{
		types:    map[uint64]codeType{},
		features: map[string]uint64{},
		flags:    map[string]uint64{},

		destFlags: map[string]uint64{},
	}
	for _, line := range strings.Split(strings.TrimSpace(dump), "\n") {
		f := strings.Split(line, "\t")
		var err error
		num := func(i int) uint64 {
			n, e := strconv.ParseUint(f[i], 0, 32)
			err = errors.Join(err, e)
			return n
		}
		switch {
		case f[0] == "space" && len(f) == 2:
			c.space = num(1)
		case f[0] == "first-own" && len(f) == 2:
			c.firstOwn = num(1)
		case f[0] == "type" && len(f) == 5:
			c.types[num(1)] = codeType{name: f[2], length: num(3), features: num(4)}
		case f[0] == "feature" && len(f) == 3:
			c.features[f[1]] = num(2)
		case f[0] == "flag" && len(f) == 3:
			c.flags[f[1]] = num(2)
		case f[0] == "dest-flag" && len(f) == 3:
			c.destFlags[f[1]] = num(2)
		default:
			err = errors.New("unknown kind of line")
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
	}
	if c.space == 0 || len(c.types) == 0 {
		return nil, errors.New("it is incomplete")
	}
	return c, nil
}

// spec is the part of the netlink specification that concerns the wire.
type spec struct {
	version  uint64
	features []string
	counters []string
}

func parseSpec(text string) (*spec, error) {
	var y struct {
		Definitions []struct {
			Type    string
			Name    string
			Value   uint64
			Entries []struct{ Name string }
		}
		AttributeSets []struct {
			Name       string
			Attributes []struct{ Name, Type string }
		} `yaml:"attribute-sets"`
	}
	if err := yaml.Unmarshal([]byte(text), &y); err != nil {
		return nil, err
	}
	s := &spec{}
	for _, d := range y.Definitions {
		switch {
		case d.Type == "const" && d.Name == "protocol-version":
			s.version = d.Value
		case d.Type == "flags" && d.Name == "feature":
			for _, e := range d.Entries {
				s.features = append(s.features, e.Name)
			}
		}
	}
	for _, set := range y.AttributeSets {
		if set.Name != "exthdr" {
			continue
		}
		for _, a := range set.Attributes {
			if a.Type == "u64" {
				s.counters = append(s.counters, a.Name)
			}
		}
	}
	if s.version == 0 || len(s.features) == 0 || len(s.counters) == 0 {
		return nil, errors.New("protocol-version, feature flags or counters are missing")
	}
	return s, nil
}
