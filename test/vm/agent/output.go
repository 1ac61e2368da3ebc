// SPDX-License-Identifier: MIT

package agent

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"sync"
)

// maxOutput is how many bytes of one command's output are kept. What exceeds
// it is counted, and [Output.Err] reports it.
const maxOutput = 64 << 20

// An Output collects what a command prints while it runs.
type Output struct {
	mu      sync.Mutex
	buf     []byte
	lost    int
	ended   bool
	changed chan struct{} // closed and replaced at each change
	tee     io.Writer
	teeErr  error
}

// NewOutput returns an empty Output.
func NewOutput() *Output { return &Output{changed: make(chan struct{})} }

func (o *Output) add(p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if room := maxOutput - len(o.buf); len(p) > room {
		o.lost += len(p) - room
		o.buf = append(o.buf, p[:room]...)
	} else {
		o.buf = append(o.buf, p...)
	}
	o.copy(p)
	o.wake()
}

func (o *Output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	o.wake()
}

func (o *Output) wake() {
	close(o.changed)
	o.changed = make(chan struct{})
}

func (o *Output) copy(p []byte) {
	if o.tee == nil || o.teeErr != nil {
		return
	}
	_, o.teeErr = o.tee.Write(p)
}

// Tee copies to w all that was printed so far and all that follows. w must not
// block for long: the port to the guest waits for it.
func (o *Output) Tee(w io.Writer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tee = w
	o.copy(o.buf)
}

// Bytes returns what was printed so far.
func (o *Output) Bytes() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.buf)
}

// String is the same as a string.
func (o *Output) String() string { return string(o.Bytes()) }

// Err reports output that could not be kept or copied.
func (o *Output) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost > 0 {
		return fmt.Errorf("output exceeds %d bytes; %d were dropped", maxOutput, o.lost)
	}
	return o.teeErr
}

// WaitLine waits for a complete line that matches re, anywhere in the output so
// far or to come, and returns it with the text of its groups, as
// FindStringSubmatch does. It fails when the command ends or ctx does.
func (o *Output) WaitLine(ctx context.Context, re *regexp.Regexp) ([]string, error) {
	for from := 0; ; {
		o.mu.Lock()
		changed, ended, text := o.changed, o.ended, o.buf[from:]
		o.mu.Unlock()
		for {
			i := bytes.IndexByte(text, '\n')
			if i < 0 && (!ended || len(text) == 0) {
				break
			}
			line := text
			if i >= 0 {
				line = text[:i]
				text = text[i+1:]
				from += i + 1
			} else {
				text = nil
			}
			if m := re.FindStringSubmatch(string(line)); m != nil {
				return m, nil
			}
		}
		if ended {
			return nil, fmt.Errorf("the command ended without printing a line that matches %q; it printed %q", re, o.tail())
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("no line that matches %q: %w; printed so far: %q", re, context.Cause(ctx), o.tail())
		}
	}
}

func (o *Output) tail() []byte {
	b := o.Bytes()
	return b[max(0, len(b)-500):]
}
