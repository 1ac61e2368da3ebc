// SPDX-License-Identifier: MIT

package ether

import (
	"container/heap"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"
)

// Dir is a direction of a link.
type Dir int

// The directions, as seen from the node.
const (
	FromNode Dir = iota
	ToNode
)

func (d Dir) String() string {
	if d == FromNode {
		return "from node"
	}
	return "to node"
}

// Stats counts frames of one direction.
type Stats struct {
	Frames     uint64 // taken, before the rules
	Delivered  uint64 // passed on, copies included
	Dropped    uint64 // by rules
	Cut        uint64 // lost on the cut link
	Overflow   uint64 // lost because the node did not take them
	Duplicated uint64 // extra copies
	Delayed    uint64
	Reordered  uint64
	Changed    uint64 // corrupted or edited
}

// direction applies the rules of one direction of a link.
type direction struct {
	link *Link
	dir  Dir
	seed uint64
	// pass takes what comes out, in order. It is called with mu held.
	pass func(frame []byte, notes []string)
	// lost is told of each frame that does not come out.
	lost func(frame []byte, why string)

	mu     sync.Mutex
	rules  []*Applied
	added  int
	isCut  bool
	stats  Stats
	held   []*pending // to be released by later frames
	queue  pendingHeap
	number uint64
	timer  *time.Timer
	closed bool
}

// A pending frame waits for its time or for later frames.
type pending struct {
	fate  *fate
	due   time.Time
	order uint64
	after int // later frames still to pass; 0 if only time counts
	gone  bool
}

func newDirection(l *Link, dir Dir, seed uint64) *direction {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d", l.name, dir)
	return &direction{link: l, dir: dir, seed: seed ^ h.Sum64()}
}

func (d *direction) add(r Rule) (*Applied, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := r.validate(d.added); err != nil {
		return nil, err
	}
	a := &Applied{d: d, rule: r, rng: rand.New(rand.NewPCG(d.seed, uint64(d.added)))}
	d.added++
	d.rules = append(d.rules, a)
	return a, nil
}

// reset removes the rules, restores the link and lets go what is held back.
func (d *direction) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rules, d.added, d.isCut, d.stats = nil, 0, false, Stats{}
	held := d.held
	d.held = nil // deliver works on it
	for _, p := range held {
		d.release(p)
	}
	for d.queue.Len() > 0 {
		d.release(heap.Pop(&d.queue).(*pending))
	}
}

func (d *direction) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.timer != nil {
		d.timer.Stop()
	}
}

func (d *direction) setCut(cut bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.isCut = cut
}

func (d *direction) snapshot() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stats
}

// take puts a frame through the rules. It owns the frame. before, if not nil,
// is called when the fate is known and before the frame goes on.
func (d *direction) take(frame []byte, before func(*fate)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	f := &fate{data: frame}
	d.stats.Frames++
	d.decide(f)
	if before != nil {
		before(f)
	}
	if f.dropped != "" {
		d.lost(frame, f.dropped)
		return
	}
	if f.delay == 0 && f.hold == 0 {
		d.deliver(f)
		return
	}
	d.postpone(f)
}

func (d *direction) decide(f *fate) {
	if d.isCut {
		d.stats.Cut++
		f.dropped = "link cut"
		return
	}
	for _, a := range d.rules {
		if a.apply(f); f.dropped != "" {
			d.stats.Dropped++
			return
		}
	}
	d.stats.Duplicated += uint64(f.extra)
	if f.delay > 0 {
		d.stats.Delayed++
	}
	if f.hold > 0 {
		d.stats.Reordered++
	}
	if f.changed {
		d.stats.Changed++
	}
}

// deliver passes a frame and its copies on, and then what waited for it.
func (d *direction) deliver(f *fate) {
	for range f.extra + 1 {
		d.stats.Delivered++
		d.pass(f.data, f.notes)
	}
	var free []*pending
	keep := d.held[:0]
	for _, p := range d.held {
		if p.gone {
			continue
		}
		if p.after--; p.after <= 0 {
			free = append(free, p)
		} else {
			keep = append(keep, p)
		}
	}
	d.held = keep
	for _, p := range free {
		d.release(p)
	}
}

// release passes on a frame that waited, unless that has happened already. A
// cable that is cut meanwhile loses it.
func (d *direction) release(p *pending) {
	if p.gone {
		return
	}
	p.gone = true
	if d.isCut {
		d.stats.Cut++
		d.lost(p.fate.data, "link cut")
		return
	}
	d.deliver(p.fate)
}

func (d *direction) postpone(f *fate) {
	d.number++
	p := &pending{fate: f, due: time.Now().Add(f.delay + f.holdMax), order: d.number, after: f.hold}
	if f.hold > 0 {
		d.held = append(d.held, p)
	}
	heap.Push(&d.queue, p)
	d.arm()
}

// arm sets the timer for the first frame of the queue.
func (d *direction) arm() {
	for d.queue.Len() > 0 && d.queue[0].gone {
		heap.Pop(&d.queue)
	}
	if d.queue.Len() == 0 || d.closed {
		return
	}
	wait := time.Until(d.queue[0].due)
	if d.timer == nil {
		d.timer = time.AfterFunc(wait, d.expire)
		return
	}
	d.timer.Reset(wait)
}

func (d *direction) expire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	now := time.Now()
	for d.queue.Len() > 0 && !d.queue[0].due.After(now) {
		d.release(heap.Pop(&d.queue).(*pending))
	}
	d.arm()
}

// pendingHeap has the earliest frame on top, of two at the same time the one
// that came first.
type pendingHeap []*pending

func (h pendingHeap) Len() int { return len(h) }
func (h pendingHeap) Less(i, j int) bool {
	if !h[i].due.Equal(h[j].due) {
		return h[i].due.Before(h[j].due)
	}
	return h[i].order < h[j].order
}
func (h pendingHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push is for package heap.
func (h *pendingHeap) Push(x any) { *h = append(*h, x.(*pending)) }

// Pop is for package heap.
func (h *pendingHeap) Pop() any {
	old := *h
	p := old[len(old)-1]
	*h = old[:len(old)-1]
	return p
}
