// SPDX-License-Identifier: MIT

package ether

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// A Rule says what becomes of some of the frames of one direction.
type Rule struct {
	// Name is for statistics and captures.
	Name string
	// Match selects the frames that the rule is about; nil selects all. It must
	// not change the frame or keep it.
	Match func(frame []byte) bool
	// Pick decides which of the selected frames the rule acts on; nil means all.
	Pick Pick
	// Do is what it does to them.
	Do Action
}

// A Pick decides by number and chance. n counts the frames that the rule
// matched, from 1. r is the rule's own generator.
type Pick func(n uint64, r *rand.Rand) bool

// Rate picks each frame with a probability between 0 and 1.
func Rate(p float64) Pick {
	return func(_ uint64, r *rand.Rand) bool { return r.Float64() < p }
}

// Every picks each n-th frame. Every(0) picks none.
func Every(n uint64) Pick {
	return func(i uint64, _ *rand.Rand) bool { return n > 0 && i%n == 0 }
}

// Nth picks frames by number; the first is 1.
func Nth(ns ...uint64) Pick {
	return func(i uint64, _ *rand.Rand) bool { return slices.Contains(ns, i) }
}

// First picks the first n frames.
func First(n uint64) Pick {
	return func(i uint64, _ *rand.Rand) bool { return i <= n }
}

// After leaves the first n frames alone and asks p about the others, which it
// counts from 1 again.
func After(n uint64, p Pick) Pick {
	return func(i uint64, r *rand.Rand) bool { return i > n && p(i-n, r) }
}

// An Action changes the fate of a frame.
type Action func(f *fate, r *rand.Rand)

// fate is what is to be done with one frame.
type fate struct {
	data    []byte // a copy as soon as it differs from what was sent
	dropped string // the rule that dropped it
	extra   int    // further copies
	delay   time.Duration
	hold    int // deliver after so many later frames
	holdMax time.Duration
	changed bool
	notes   []string // the rules that acted on it
}

// Drop discards the frame.
func Drop() Action {
	return func(f *fate, _ *rand.Rand) { f.dropped = "dropped" }
}

// Delay delivers the frame later. Frames with the same delay stay in order;
// those without overtake them.
func Delay(d time.Duration) Action {
	return func(f *fate, _ *rand.Rand) { f.delay += d }
}

// Jitter delays by a random time of at least low and less than high.
func Jitter(low, high time.Duration) Action {
	return func(f *fate, r *rand.Rand) {
		f.delay += low
		if high > low {
			f.delay += time.Duration(r.Int64N(int64(high - low)))
		}
	}
}

// Duplicate delivers n further copies right behind the frame.
func Duplicate(n int) Action {
	return func(f *fate, _ *rand.Rand) { f.extra += n }
}

// Reorder holds the frame back until n later frames of the same direction have
// gone out, but no longer than limit.
func Reorder(n int, limit time.Duration) Action {
	return func(f *fate, _ *rand.Rand) { f.hold, f.holdMax = n, limit }
}

// Corrupt flips one random bit behind the Ethernet header.
func Corrupt() Action {
	return Edit(func(frame []byte, r *rand.Rand) []byte {
		if len(frame) > headerLen {
			bit := headerLen*8 + r.IntN((len(frame)-headerLen)*8)
			frame[bit/8] ^= 1 << (bit % 8)
		}
		return frame
	})
}

// Edit replaces the frame by what edit returns. edit gets a copy and may change
// it in place.
func Edit(edit func(frame []byte, r *rand.Rand) []byte) Action {
	return func(f *fate, r *rand.Rand) {
		f.data = edit(slices.Clone(f.data), r)
		f.changed = true
	}
}

// An Applied is a rule in force.
type Applied struct {
	d       *direction
	rule    Rule
	rng     *rand.Rand
	matched uint64
	picked  uint64
}

// Matched is how many frames the rule was about, Picked on how many of them it
// acted.
func (a *Applied) Matched() uint64 {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	return a.matched
}

// Picked is the number of frames on which the rule acted.
func (a *Applied) Picked() uint64 {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	return a.picked
}

// Remove takes the rule out of force. Frames that it delays still come.
func (a *Applied) Remove() {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	a.d.rules = slices.DeleteFunc(a.d.rules, func(o *Applied) bool { return o == a })
}

func (a *Applied) apply(f *fate) {
	if a.rule.Match != nil && !a.rule.Match(f.data) {
		return
	}
	a.matched++
	if a.rule.Pick != nil && !a.rule.Pick(a.matched, a.rng) {
		return
	}
	a.picked++
	a.rule.Do(f, a.rng)
	if f.dropped != "" {
		f.dropped = a.rule.Name
		return
	}
	f.notes = append(f.notes, a.rule.Name)
}

// validate completes the rule. index is its place among all that were ever
// added to the direction since the last reset.
func (r *Rule) validate(index int) error {
	if r.Do == nil {
		return fmt.Errorf("ether: rule %q does nothing: Do is nil", r.Name)
	}
	if r.Name == "" {
		r.Name = fmt.Sprintf("rule %d", index+1)
	}
	return nil
}
