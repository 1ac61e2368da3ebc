// SPDX-License-Identifier: MIT

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The tests that a document names as its proof exist.
func TestDocumentedTests(t *testing.T) {
	doc, err := os.ReadFile("../../docs/other-tools.md")
	if err != nil {
		t.Fatal(err)
	}
	var sources strings.Builder
	for _, dir := range []string{".", "../../test/vm/suite"} {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			sources.Write(b)
		}
	}
	goldens := []string{"TestOutput", "TestCompat", "TestStockOutput", "TestPing"}
	named := 0
	for _, m := range regexp.MustCompile("`(Test[A-Za-z0-9]+)(?:/([^`]+))?`").FindAllStringSubmatch(string(doc), -1) {
		named++
		name, sub := m[1], m[2]
		if !strings.Contains(sources.String(), "func "+name+"(t *testing.T)") {
			t.Errorf("there is no %s", name)
		}
		if sub != "" && !strings.Contains(sources.String(), `"`+strings.ReplaceAll(sub, "_", " ")+`"`) && !slices.Contains(goldens, name) {
			t.Errorf("%s has no subtest %s", name, sub)
		}
		if sub != "" && slices.Contains(goldens, name) {
			if _, err := os.Stat(filepath.Join("testdata", sub+".golden")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if named < 20 {
		t.Errorf("only %d tests are named", named)
	}
}
