// SPDX-License-Identifier: MIT

package ether

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// headerLen is the length of an Ethernet header in bytes.
const headerLen = 14

type mac [6]byte

// multicast reports whether the address is a group's, the broadcast included.
func (m mac) multicast() bool { return m[0]&1 != 0 }

// A Switch is an Ethernet switch. Its methods can be called at any time from
// any goroutine.
type Switch struct {
	seed uint64

	mu       sync.RWMutex
	links    []*Link
	table    map[mac]*Link
	captures []*Capture
	runts    uint64
	closed   bool
}

// New returns a switch without links. The seed decides all that its rules leave
// to chance.
func New(seed uint64) *Switch {
	return &Switch{seed: seed, table: make(map[mac]*Link)}
}

// AddLink adds a link and returns the node's end of it, a connected datagram
// socket.
func (s *Switch) AddLink(name string) (*Link, *os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, nil, errors.New("ether: the switch is closed")
	case slices.ContainsFunc(s.links, func(l *Link) bool { return l.name == name }):
		return nil, nil, fmt.Errorf("ether: there is a link %q already", name)
	}
	l, theirs, err := newLink(s, name, len(s.links))
	if err != nil {
		return nil, nil, err
	}
	s.links = append(s.links, l)
	for _, c := range s.captures {
		c.addLink(l)
	}
	return l, theirs, nil
}

// Link returns the link of that name, or nil.
func (s *Switch) Link(name string) *Link {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, l := range s.links {
		if l.name == name {
			return l
		}
	}
	return nil
}

// Links returns all links.
func (s *Switch) Links() []*Link {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.links)
}

// Reset removes all rules, mends all links, delivers what was delayed and sets
// all counters to zero. Rules that are added afterwards begin their chances
// anew.
func (s *Switch) Reset() {
	for _, l := range s.Links() {
		l.reset()
	}
}

// Runts is how many frames were too short to have a header.
func (s *Switch) Runts() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.runts
}

// Close takes all links down. Captures stay readable but must be closed on
// their own.
func (s *Switch) Close() error {
	s.mu.Lock()
	links := s.links
	already := s.closed
	s.closed = true
	s.mu.Unlock()
	if already {
		return nil
	}
	var errs []error
	for _, l := range links {
		errs = append(errs, l.close())
	}
	return errors.Join(errs...)
}

// receive takes a frame from a node.
func (s *Switch) receive(l *Link, frame []byte) {
	if len(frame) < headerLen {
		s.mu.Lock()
		s.runts++
		s.mu.Unlock()
		return
	}
	sent := frame // rules that change a frame work on a copy
	l.dirs[FromNode].take(frame, func(f *fate) {
		s.record(l, FromNode, sent, f.dropped, f.notes)
	})
}

// forward switches a frame that has left the rules of its sender's link.
func (s *Switch) forward(from *Link, frame []byte) {
	if len(frame) < headerLen {
		return // a rule has cut it short
	}
	dst, src := mac(frame[0:6]), mac(frame[6:12])
	s.mu.Lock()
	if !src.multicast() {
		s.table[src] = from
	}
	to, links := s.table[dst], s.links
	s.mu.Unlock()
	if dst.multicast() || to == nil {
		for _, l := range links {
			if l != from {
				l.dirs[ToNode].take(frame, nil)
			}
		}
		return
	}
	if to != from {
		to.dirs[ToNode].take(frame, nil)
	}
}

// record shows a frame to all captures.
func (s *Switch) record(l *Link, dir Dir, data []byte, lost string, notes []string) {
	s.mu.RLock()
	captures := s.captures
	s.mu.RUnlock()
	if len(captures) == 0 {
		return
	}
	f := Frame{Time: time.Now(), Link: l.name, Dir: dir, Data: data, Lost: lost, Rules: notes}
	for _, c := range captures {
		c.add(l.index, f)
	}
}
