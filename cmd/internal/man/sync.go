// SPDX-License-Identifier: MIT

package man

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// Sync compares pages with the files of a directory whose names begin with
// prefix, and returns the names of those that are not as they should be. With
// write it makes them so.
func Sync(dir, prefix string, pages map[string][]byte, write bool) (stale []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, prefix+"*.8"))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if _, ok := pages[filepath.Base(f)]; !ok {
			stale = append(stale, filepath.Base(f))
			if write {
				err = errors.Join(err, os.Remove(f))
			}
		}
	}
	for name, want := range pages {
		if !strings.HasPrefix(name, prefix) {
			return nil, errors.New(name + " does not begin with " + prefix)
		}
		got, rerr := os.ReadFile(filepath.Join(dir, name))
		if rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			return nil, rerr
		}
		if rerr == nil && bytes.Equal(got, want) {
			continue
		}
		stale = append(stale, name)
		if write {
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), want, 0o644))
		}
	}
	sort.Strings(stale)
	return stale, err
}
