// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

func mountAll() error {
	mounts := []struct {
		fs, dir, data string
		optional      bool // not every kernel has it
	}{
		{fs: "proc", dir: "/proc"},
		{fs: "sysfs", dir: "/sys"},
		{fs: "devtmpfs", dir: "/dev"},
		{fs: "tmpfs", dir: "/tmp", data: "mode=1777"},
		{fs: "tmpfs", dir: "/run", data: "mode=755"},
		{fs: "debugfs", dir: "/sys/kernel/debug", optional: true},
		{fs: "tracefs", dir: "/sys/kernel/tracing", optional: true},
	}
	for _, m := range mounts {
		if m.optional {
			if _, err := os.Stat(m.dir); err != nil {
				continue
			}
		} else if err := os.MkdirAll(m.dir, 0o755); err != nil {
			return err
		}
		err := unix.Mount(m.fs, m.dir, m.fs, 0, m.data)
		if m.optional && errors.Is(err, unix.ENODEV) {
			continue
		}
		if err != nil {
			return fmt.Errorf("mount %s on %s: %w", m.fs, m.dir, err)
		}
	}
	return nil
}
