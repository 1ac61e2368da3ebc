// SPDX-License-Identifier: MIT

package vm

import (
	"os"
	"path/filepath"
)

// WriteReport puts a file in place as a whole, and makes its directory.
func WriteReport(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", data, 0o644); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
