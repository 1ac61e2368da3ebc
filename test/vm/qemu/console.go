// SPDX-License-Identifier: MIT

package qemu

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// tailLines is how many lines of the console are kept in memory.
const tailLines = 40

// A Console takes the guest's serial output: to a file, with times, and line by
// line to whoever watches it.
type Console struct {
	mu    sync.Mutex
	file  *os.File
	start time.Time
	part  []byte // an unfinished line
	tail  []string
	lines func(string)
	err   error
}

func newConsole(path string, lines func(string)) (*Console, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &Console{file: f, start: time.Now(), lines: lines}, nil
}

// Write takes output as it comes.
func (c *Console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.part = append(c.part, p...)
	for {
		i := bytes.IndexByte(c.part, '\n')
		if i < 0 {
			return len(p), nil
		}
		c.line(string(c.part[:i]))
		c.part = c.part[i+1:]
	}
}

func (c *Console) line(s string) {
	s = strings.TrimRight(s, "\r")
	if _, err := fmt.Fprintf(c.file, "%9.3f %s\n", time.Since(c.start).Seconds(), s); err != nil && c.err == nil {
		// A full disk must not stop the guest, but it must be told.
		c.err = fmt.Errorf("console log: %w", err)
	}
	if len(c.tail) == tailLines {
		c.tail = c.tail[1:]
	}
	c.tail = append(c.tail, s)
	if c.lines != nil {
		c.lines(s)
	}
}

// Tail returns the last lines of the console.
func (c *Console) Tail() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := append([]string(nil), c.tail...)
	if len(c.part) > 0 {
		t = append(t, string(c.part))
	}
	return t
}

func (c *Console) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.part) > 0 {
		c.line(string(c.part))
		c.part = nil
	}
	return errors.Join(c.err, c.file.Close())
}
