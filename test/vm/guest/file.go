// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/rds-ext/rds_ext/test/vm/agent"
)

func (c *call) readFile(f agent.File) error {
	file, err := os.Open(f.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(printer{c, agent.KindStdout}, file)
	return err
}

func (c *call) writeFile(f agent.File) error {
	flags := os.O_WRONLY
	if !f.Direct {
		flags |= os.O_CREATE | os.O_TRUNC
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
			return err
		}
	}
	perm := f.Perm
	if perm == 0 {
		perm = 0o644
	}
	file, err := os.OpenFile(f.Path, flags, perm)
	if err != nil {
		return err
	}
	if !f.Direct {
		// The mode given to open is subject to the umask and to an older file.
		err = file.Chmod(perm)
	}
	// Files of /proc and /sys take a value in one write.
	var data []byte
	for {
		fr, ok := c.feed.get()
		if !ok || fr.Kind == agent.KindInputEnd {
			break
		}
		data = append(data, fr.Payload...)
	}
	if err == nil {
		_, err = file.Write(data)
	}
	return errors.Join(err, file.Close())
}
