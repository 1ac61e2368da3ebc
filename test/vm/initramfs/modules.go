// SPDX-License-Identifier: MIT

package initramfs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ulikunitz/xz"
)

// implicit are dependencies that a module has at run time and depmod cannot
// see, because the module asks for them by the name of an algorithm.
var implicit = map[string][]string{
	"rdma_rxe":  {"crc32_generic"},
	"libcrc32c": {"crc32c_generic"},
}

// A Tree is the module tree of one kernel, lib/modules/RELEASE of its package.
type Tree struct {
	dir     string
	files   map[string]string   // module name to path below dir
	deps    map[string][]string // module name to the names it needs, from modules.dep
	builtin map[string]bool
	soft    map[string][]string // module name to the names in its softdep "pre:" list
}

// OpenTree reads the indices of a module tree.
func OpenTree(dir string) (*Tree, error) {
	t := &Tree{
		dir: dir, files: make(map[string]string), deps: make(map[string][]string),
		builtin: make(map[string]bool), soft: make(map[string][]string),
	}
	if err := t.readDeps(); err != nil {
		return nil, fmt.Errorf("module tree: %w; run depmod, or scripts/kernel-fetch again", err)
	}
	if err := t.readBuiltin(); err != nil {
		return nil, fmt.Errorf("module tree: %w", err)
	}
	if err := t.readSoftdeps(); err != nil {
		return nil, fmt.Errorf("module tree: %w", err)
	}
	return t, nil
}

// ModuleName is the name under which the kernel knows the module in a file.
func ModuleName(file string) string {
	name, _, _ := strings.Cut(path.Base(file), ".ko")
	return strings.ReplaceAll(name, "-", "_")
}

// eachLine calls f with the lines of an index. A missing index is an error.
func (t *Tree) eachLine(index string, f func(string) error) error {
	b, err := os.ReadFile(filepath.Join(t.dir, index))
	if err != nil {
		return err
	}
	sc := bufio.NewScanner(bytes.NewReader(b))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		if line := strings.TrimSpace(sc.Text()); line != "" && line[0] != '#' {
			if err := f(line); err != nil {
				return fmt.Errorf("%s: %w", index, err)
			}
		}
	}
	return sc.Err()
}

func (t *Tree) readDeps() error {
	return t.eachLine("modules.dep", func(line string) error {
		file, deps, ok := strings.Cut(line, ":")
		if !ok {
			return fmt.Errorf("cannot read %q", line)
		}
		name := ModuleName(file)
		t.files[name] = file
		for _, d := range strings.Fields(deps) {
			t.deps[name] = append(t.deps[name], ModuleName(d))
		}
		return nil
	})
}

func (t *Tree) readBuiltin() error {
	return t.eachLine("modules.builtin", func(line string) error {
		t.builtin[ModuleName(line)] = true
		return nil
	})
}

// readSoftdeps takes "softdep NAME pre: A B post: C". What the tree does not
// have as a module of that name (it may be an alias, see implicit) is left out, as modprobe
// does.
func (t *Tree) readSoftdeps() error {
	err := t.eachLine("modules.softdep", func(line string) error {
		w := strings.Fields(line)
		if len(w) < 3 || w[0] != "softdep" {
			return nil
		}
		name := strings.ReplaceAll(w[1], "-", "_")
		pre := false
		for _, s := range w[2:] {
			if strings.HasSuffix(s, ":") {
				pre = s == "pre:"
			} else if pre {
				t.soft[name] = append(t.soft[name], strings.ReplaceAll(s, "-", "_"))
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Has reports whether the tree has the module as a file.
func (t *Tree) Has(name string) bool { return t.files[name] != "" }

// Builtin reports whether the kernel has the module built in.
func (t *Tree) Builtin(name string) bool { return t.builtin[name] }

// Order returns the named modules and all that they need in an order in which
// they can be loaded. Built-in ones are left out. A name that the kernel has
// neither way is an error.
func (t *Tree) Order(names ...string) ([]string, error) {
	var order []string
	done := make(map[string]bool)
	var visit func(name string, optional bool) error
	visit = func(name string, optional bool) error {
		if done[name] || t.builtin[name] {
			return nil
		}
		if !t.Has(name) {
			if optional {
				return nil
			}
			return fmt.Errorf("the kernel in %s has no module %q", t.dir, name)
		}
		done[name] = true
		// modules.dep lists the whole closure, the deepest last.
		for _, d := range slices.Backward(t.deps[name]) {
			if err := visit(d, false); err != nil {
				return err
			}
		}
		for _, d := range slices.Concat(t.soft[name], implicit[name]) {
			if err := visit(d, true); err != nil {
				return err
			}
		}
		order = append(order, name)
		return nil
	}
	for _, n := range names {
		if err := visit(strings.ReplaceAll(n, "-", "_"), false); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// Read returns a module, decompressed.
func (t *Tree) Read(name string) ([]byte, error) {
	file, ok := t.files[name]
	if !ok {
		return nil, fmt.Errorf("no module %q in %s", name, t.dir)
	}
	return ReadModule(filepath.Join(t.dir, file))
}

// ReadModule reads the file of a module, NAME.ko or NAME.ko.xz, and
// decompresses it.
func ReadModule(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch {
	case strings.HasSuffix(file, ".ko"):
		return io.ReadAll(f)
	case strings.HasSuffix(file, ".ko.xz"):
		r, err := xz.NewReader(bufio.NewReader(f))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		return b, nil
	default:
		return nil, fmt.Errorf("%s: neither .ko nor .ko.xz", file)
	}
}
