// SPDX-License-Identifier: MIT

package ether

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// A Frame is a frame as a capture saw it.
type Frame struct {
	Time time.Time
	Link string
	// Dir is FromNode for a frame as the node sent it, before any rule, and ToNode
	// for one as it was delivered, or would have been.
	Dir  Dir
	Data []byte
	// Lost is empty for a frame that went on. Otherwise it names the rule that
	// dropped it, or says "link cut" or "node too slow".
	Lost string
	// Rules are the rules that acted on it otherwise.
	Rules []string
}

// The comments with which a capture file keeps what pcapng has no field for.
const (
	lostComment = "lost: "
	ruleComment = "rule: "
)

// A Capture records all frames of a switch to a pcapng file, which Wireshark
// reads: an interface for each link, the direction as seen from the switch
// (inbound is FromNode), and a comment on each frame that was lost or on which
// a rule acted. Each frame is there twice, as sent and as delivered.
type Capture struct {
	sw   *Switch
	path string

	mu      sync.Mutex
	file    *os.File
	w       *pcapgo.NgWriter
	frames  int
	err     error
	closed  bool
	waiters []*waiter
	end     chan struct{} // closed with the capture
}

// Capture starts a capture to a new file.
func (s *Switch) Capture(path string) (*Capture, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.links) == 0 {
		return nil, errors.New("ether: a capture needs links")
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("ether: capture: %w", err)
	}
	c := &Capture{sw: s, path: path, file: f, end: make(chan struct{})}
	if err := c.begin(s.links); err != nil {
		return nil, errors.Join(fmt.Errorf("ether: capture: %w", err), f.Close())
	}
	// A new slice: record iterates over the old one without the lock.
	s.captures = append(slices.Clone(s.captures), c)
	return c, nil
}

func linkInterface(l *Link) pcapgo.NgInterface {
	return pcapgo.NgInterface{Name: l.name, LinkType: layers.LinkTypeEthernet, TimestampResolution: 9}
}

func (c *Capture) begin(links []*Link) error {
	opts := pcapgo.NgWriterOptions{SectionInfo: pcapgo.NgSectionInfo{Application: "rds_ext test switch"}}
	var err error
	if c.w, err = pcapgo.NewNgWriterInterface(c.file, linkInterface(links[0]), opts); err != nil {
		return err
	}
	for _, l := range links[1:] {
		if _, err := c.w.AddInterface(linkInterface(l)); err != nil {
			return err
		}
	}
	return c.w.Flush()
}

// addLink takes up a link that is added while the capture runs.
func (c *Capture) addLink(l *Link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed && c.err == nil {
		_, c.err = c.w.AddInterface(linkInterface(l))
	}
}

func (c *Capture) add(intf int, f Frame) {
	flags := pcapgo.NgEpbFlags{Direction: pcapgo.NgEpbFlagDirectionInbound}
	if f.Dir == ToNode {
		flags.Direction = pcapgo.NgEpbFlagDirectionOutbound
	}
	opts := pcapgo.NgPacketOptions{Flags: &flags}
	if f.Lost != "" {
		opts.Comments = append(opts.Comments, lostComment+f.Lost)
	}
	for _, r := range f.Rules {
		opts.Comments = append(opts.Comments, ruleComment+r)
	}
	ci := gopacket.CaptureInfo{
		Timestamp: f.Time, CaptureLength: len(f.Data), Length: len(f.Data), InterfaceIndex: intf,
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.err != nil {
		return
	}
	c.err = c.w.WritePacketWithOptions(ci, f.Data, opts)
	c.frames++
	c.waiters = slices.DeleteFunc(c.waiters, func(w *waiter) bool {
		if !w.want(f) {
			return false
		}
		w.found <- f // has room for one, and the waiter gets no more
		return true
	})
}

// Path is the name of the file.
func (c *Capture) Path() string { return c.path }

// Count is the number of frames so far.
func (c *Capture) Count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.frames
}

// Close ends the capture. What it holds can still be read.
func (c *Capture) Close() error {
	c.sw.mu.Lock()
	c.sw.captures = slices.DeleteFunc(slices.Clone(c.sw.captures), func(o *Capture) bool { return o == c })
	c.sw.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return c.err
	}
	c.closed = true
	close(c.end)
	if err := errors.Join(c.w.Flush(), c.file.Close()); err != nil && c.err == nil {
		c.err = fmt.Errorf("ether: capture: %w", err)
	}
	return c.err
}

// Frames returns what the capture has so far, in order. A capture that could
// not be written or read ends with an error.
func (c *Capture) Frames() iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		c.mu.Lock()
		err := c.err
		if err == nil && !c.closed {
			err = c.w.Flush()
		}
		n := c.frames
		c.mu.Unlock()
		if err != nil {
			yield(Frame{}, fmt.Errorf("ether: capture: %w", err))
			return
		}
		i := 0
		for f, err := range ReadFile(c.path) {
			// What has been added since may be there in part only.
			if i == n || !yield(f, err) {
				return
			}
			i++
		}
	}
}

// Wait returns the first frame, of those captured and those to come, for which
// want returns true. want must be quick: the switch waits for it.
func (c *Capture) Wait(ctx context.Context, want func(Frame) bool) (Frame, error) {
	w := &waiter{want: want, found: make(chan Frame, 1)}
	c.mu.Lock()
	n := c.frames
	c.waiters = append(c.waiters, w)
	c.mu.Unlock()
	defer c.forget(w)
	i := 0
	for f, err := range c.Frames() {
		if err != nil {
			return Frame{}, err
		}
		// From here on the waiter sees them.
		if i++; i > n {
			break
		}
		if want(f) {
			return f, nil
		}
	}
	select {
	case f := <-w.found:
		return f, nil
	case <-c.end:
		return Frame{}, errors.New("ether: the capture ended without such a frame")
	case <-ctx.Done():
		return Frame{}, fmt.Errorf("ether: no such frame among %d: %w", c.Count(), context.Cause(ctx))
	}
}

// A waiter looks at each frame as it is captured.
type waiter struct {
	want  func(Frame) bool
	found chan Frame
}

func (c *Capture) forget(w *waiter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiters = slices.DeleteFunc(c.waiters, func(o *waiter) bool { return o == w })
}

// ReadFile reads a capture file frame by frame.
func ReadFile(path string) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		file, err := os.Open(path)
		if err != nil {
			yield(Frame{}, fmt.Errorf("ether: capture: %w", err))
			return
		}
		defer file.Close()
		r, err := pcapgo.NewNgReader(file, pcapgo.DefaultNgReaderOptions)
		for err == nil {
			var f Frame
			if f, err = readFrame(r); err == nil && !yield(f, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(Frame{}, fmt.Errorf("ether: %s: %w", path, err))
		}
	}
}

func readFrame(r *pcapgo.NgReader) (Frame, error) {
	data, ci, opts, err := r.ReadPacketDataWithOptions()
	if err != nil {
		return Frame{}, err
	}
	intf, err := r.Interface(ci.InterfaceIndex)
	if err != nil {
		return Frame{}, err
	}
	f := Frame{Time: ci.Timestamp, Link: intf.Name, Data: data}
	if opts.Flags != nil && opts.Flags.Direction == pcapgo.NgEpbFlagDirectionOutbound {
		f.Dir = ToNode
	}
	for _, comment := range opts.Comments {
		if why, ok := strings.CutPrefix(comment, lostComment); ok {
			f.Lost = why
		} else if name, ok := strings.CutPrefix(comment, ruleComment); ok {
			f.Rules = append(f.Rules, name)
		}
	}
	return f, nil
}
