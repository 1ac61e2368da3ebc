// SPDX-License-Identifier: MIT

// Specgen makes everything that repeats the netlink specification from the
// specification itself, so that the kernel module, the Go client and the
// operators' reference cannot disagree about a number or a rule.
//
// It reads kmod/rds_ext/rds_ext.yaml, which is in the format of the kernel's
// own Documentation/netlink/specs, and writes
//
//	kmod/rds_ext/rds_ext_uapi.h   constants for C, kernel and user space
//	gonl/zspec.go                 enumerations of the Go client
//	gonl/spec/zspec.go            numbers and tables for Go tools
//	docs/netlink.md               reference for operators
//
// Run it with "go generate ./gonl". With -check it writes nothing and fails
// if a file is out of date.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// specPath is the source of truth, relative to the root of the repository.
const specPath = "kmod/rds_ext/rds_ext.yaml"

func main() {
	check := flag.Bool("check", false, "write nothing; fail if a generated file is out of date")
	flag.Parse()
	if flag.NArg() != 0 {
		fmt.Fprintln(os.Stderr, "specgen: takes no arguments; the paths are fixed")
		os.Exit(2)
	}
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "specgen:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	root, err := findRoot()
	if err != nil {
		return err
	}
	files, err := generate(root)
	if err != nil {
		return err
	}
	var stale []string
	for _, f := range files {
		path := filepath.Join(root, filepath.FromSlash(f.path))
		old, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err == nil && bytes.Equal(old, f.content) {
			continue
		}
		if check {
			stale = append(stale, f.path)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.content, 0o644); err != nil {
			return err
		}
	}
	if len(stale) > 0 {
		return fmt.Errorf("out of date with %s: %s; run \"go generate ./gonl\"",
			specPath, strings.Join(stale, ", "))
	}
	return nil
}

// file is one generated file; path is relative to the root of the repository.
type file struct {
	path    string
	content []byte
}

// generate renders all files from the specification under root.
func generate(root string) ([]file, error) {
	raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(specPath)))
	if err != nil {
		return nil, err
	}
	fam, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", specPath, err)
	}
	var files []file
	for _, r := range []struct {
		path   string
		render func(*family) ([]byte, error)
	}{
		{"kmod/rds_ext/rds_ext_uapi.h", renderUAPI},
		{"gonl/zspec.go", renderEnums},
		{"gonl/spec/zspec.go", renderTables},
		{"docs/netlink.md", renderMarkdown},
	} {
		content, err := r.render(fam)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.path, err)
		}
		files = append(files, file{r.path, content})
	}
	return files, nil
}

// findRoot walks up to the directory that holds the specification, so that
// the program works from "go generate" and from the root alike.
func findRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(specPath))); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no %s in %s or above; run this inside the repository", specPath, start)
		}
		dir = up
	}
}
