// SPDX-License-Identifier: MIT

package ether

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// A host is the node's end of a link.
type host struct {
	t    *testing.T
	conn net.Conn
	addr mac
}

const readLimit = 5 * time.Second

func network(t *testing.T, seed uint64, names ...string) (*Switch, []*host) {
	t.Helper()
	sw := New(seed)
	t.Cleanup(func() {
		if err := sw.Close(); err != nil {
			t.Error(err)
		}
	})
	var hosts []*host
	for i, n := range names {
		_, f, err := sw.AddLink(n)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.FileConn(f)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		hosts = append(hosts, &host{t, conn, mac{2, 0, 0, 0, 0, byte(i + 1)}})
	}
	return sw, hosts
}

func frame(dst, src mac, n int) []byte {
	f := slices.Concat(dst[:], src[:], []byte{0x88, 0xb5})
	return binary.BigEndian.AppendUint32(f, uint32(n))
}

func number(f []byte) int { return int(binary.BigEndian.Uint32(f[headerLen:])) }

func (h *host) send(dst mac, n int) {
	h.t.Helper()
	if _, err := h.conn.Write(frame(dst, h.addr, n)); err != nil {
		h.t.Fatal(err)
	}
}

// recv returns the next frame, or nil if there is none within d.
func (h *host) recv(d time.Duration) []byte {
	h.t.Helper()
	if err := h.conn.SetReadDeadline(time.Now().Add(d)); err != nil {
		h.t.Fatal(err)
	}
	buf := make([]byte, maxFrame)
	n, err := h.conn.Read(buf)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return buf[:n]
}

// end is the number of a frame that no rule of a test touches and that shows
// that all before it have come.
const end = 1 << 30

func notEnd(f []byte) bool { return number(f) != end }

// exchange sends the frames 1 to n and returns the numbers that arrive.
func exchange(from, to *host, n int) []int {
	from.t.Helper()
	for i := range n {
		from.send(to.addr, i+1)
	}
	from.send(to.addr, end)
	var got []int
	for {
		f := to.recv(readLimit)
		if f == nil {
			from.t.Fatalf("the last frame did not arrive; these did: %v", got)
		}
		if number(f) == end {
			return got
		}
		got = append(got, number(f))
	}
}

func upTo(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i + 1
	}
	return s
}

func mustAdd(t *testing.T, l *Link, dir Dir, r Rule) *Applied {
	t.Helper()
	a, err := l.Add(dir, r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestFloodsThenLearns(t *testing.T) {
	_, h := network(t, 1, "a", "b", "c")
	h[0].send(h[1].addr, 1) // nobody knows b yet
	for _, i := range []int{1, 2} {
		if f := h[i].recv(readLimit); f == nil || number(f) != 1 {
			t.Fatalf("host %d got %v, want frame 1", i, f)
		}
	}
	h[1].send(h[0].addr, 2) // a is known, and b becomes so
	if f := h[0].recv(readLimit); f == nil || number(f) != 2 {
		t.Fatalf("a got %v, want frame 2", f)
	}
	h[0].send(h[1].addr, 3)
	if f := h[1].recv(readLimit); f == nil || number(f) != 3 {
		t.Fatalf("b got %v, want frame 3", f)
	}
	broadcast := mac{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	h[0].send(broadcast, 4)
	for _, i := range []int{1, 2} {
		// For c it is the first since frame 1: 2 and 3 were not for it.
		if f := h[i].recv(readLimit); f == nil || number(f) != 4 {
			t.Fatalf("host %d got %v, want the broadcast", i, f)
		}
	}
	h[1].send(h[0].addr, 5)
	if f := h[0].recv(readLimit); f == nil || number(f) != 5 {
		t.Errorf("a got %v, want frame 5 and not its own broadcast", f)
	}
}

func TestDrop(t *testing.T) {
	tests := []struct {
		name string
		pick Pick
		want func(n int) bool // kept
	}{
		{"all", nil, func(int) bool { return false }},
		{"every third", Every(3), func(n int) bool { return n%3 != 0 }},
		{"by number", Nth(1, 4), func(n int) bool { return n != 1 && n != 4 }},
		{"first two", First(2), func(n int) bool { return n > 2 }},
		{"after five, one", After(5, First(1)), func(n int) bool { return n != 6 }},
		{"none", Every(0), func(int) bool { return true }},
	}
	for _, dir := range []Dir{FromNode, ToNode} {
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%v, %s", dir, tt.name), func(t *testing.T) {
				sw, h := network(t, 1, "a", "b")
				link := sw.Link("a")
				if dir == ToNode {
					link = sw.Link("b")
				}
				rule := mustAdd(t, link, dir, Rule{Name: "r", Match: notEnd, Pick: tt.pick, Do: Drop()})
				got := exchange(h[0], h[1], 20)
				want := slices.DeleteFunc(upTo(20), func(n int) bool { return !tt.want(n) })
				if !slices.Equal(got, want) {
					t.Errorf("arrived %v, want %v", got, want)
				}
				lost := uint64(20 - len(want))
				if rule.Matched() != 20 || rule.Picked() != lost {
					t.Errorf("the rule counts %d of %d, want %d of 20", rule.Picked(), rule.Matched(), lost)
				}
				if s := link.Stats(dir); s.Dropped != lost || s.Frames != 21 || s.Delivered != 21-lost {
					t.Errorf("statistics %+v, want %d dropped of 21", s, lost)
				}
			})
		}
	}
}

func TestRateFollowsTheSeed(t *testing.T) {
	run := func(seed uint64) []int {
		sw, h := network(t, seed, "a", "b")
		mustAdd(t, sw.Link("b"), ToNode, Rule{Match: notEnd, Pick: Rate(0.3), Do: Drop()})
		first := exchange(h[0], h[1], 200)
		sw.Reset()
		mustAdd(t, sw.Link("b"), ToNode, Rule{Match: notEnd, Pick: Rate(0.3), Do: Drop()})
		if again := exchange(h[0], h[1], 200); !slices.Equal(first, again) {
			t.Errorf("seed %d: after a reset other frames were dropped", seed)
		}
		return first
	}
	one, same, other := run(1), run(1), run(2)
	if !slices.Equal(one, same) {
		t.Error("the same seed dropped different frames")
	}
	if slices.Equal(one, other) {
		t.Error("another seed dropped the same frames")
	}
	if n := len(one); n < 100 || n > 180 {
		t.Errorf("%d of 200 frames passed a loss of 30 %%", n)
	}
}

func TestDuplicate(t *testing.T) {
	sw, h := network(t, 1, "a", "b")
	mustAdd(t, sw.Link("a"), FromNode, Rule{Match: notEnd, Pick: Nth(2), Do: Duplicate(2)})
	if got, want := exchange(h[0], h[1], 3), []int{1, 2, 2, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("arrived %v, want %v", got, want)
	}
	if s := sw.Link("a").Stats(FromNode); s.Duplicated != 2 || s.Delivered != 6 {
		t.Errorf("statistics %+v, want 2 duplicates and 6 delivered", s)
	}
}

func TestReorder(t *testing.T) {
	sw, h := network(t, 1, "a", "b")
	mustAdd(t, sw.Link("a"), FromNode, Rule{Match: notEnd, Pick: Nth(1, 4), Do: Reorder(2, time.Minute)})
	if got, want := exchange(h[0], h[1], 7), []int{2, 3, 1, 5, 6, 4, 7}; !slices.Equal(got, want) {
		t.Errorf("arrived %v, want %v", got, want)
	}
}

func TestReorderGivesUpWaiting(t *testing.T) {
	sw, h := network(t, 1, "a", "b")
	mustAdd(t, sw.Link("a"), FromNode, Rule{Do: Reorder(5, 30*time.Millisecond)})
	start := time.Now()
	h[0].send(h[1].addr, 1)
	if f := h[1].recv(readLimit); f == nil || number(f) != 1 {
		t.Fatalf("got %v, want frame 1", f)
	}
	if d := time.Since(start); d < 30*time.Millisecond {
		t.Errorf("came after %v, with nothing to overtake it", d)
	}
}

func TestDelayKeepsOrder(t *testing.T) {
	sw, h := network(t, 1, "a", "b")
	const delay = 20 * time.Millisecond
	mustAdd(t, sw.Link("b"), ToNode, Rule{Do: Delay(delay)})
	start := time.Now()
	got := exchange(h[0], h[1], 100)
	if !slices.Equal(got, upTo(100)) {
		t.Errorf("arrived %v", got)
	}
	if d := time.Since(start); d < delay {
		t.Errorf("all came within %v", d)
	}
	if s := sw.Link("b").Stats(ToNode); s.Delayed != 101 {
		t.Errorf("statistics %+v, want 101 delayed", s)
	}
}

func TestCorruptFlipsOneBitOfACopy(t *testing.T) {
	sw, h := network(t, 1, "a", "b", "c")
	mustAdd(t, sw.Link("b"), ToNode, Rule{Do: Corrupt()})
	h[0].send(mac{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 0)
	bad, good := h[1].recv(readLimit), h[2].recv(readLimit)
	if bad == nil || good == nil {
		t.Fatal("the broadcast did not arrive")
	}
	bits := 0
	for i := range good {
		for x := bad[i] ^ good[i]; x != 0; x &= x - 1 {
			bits++
			if i < headerLen {
				t.Errorf("byte %d of the Ethernet header is corrupted", i)
			}
		}
	}
	if bits != 1 {
		t.Errorf("%d bits differ, want 1", bits)
	}
	if number(good) != 0 {
		t.Error("the frame to another node is corrupted, too")
	}
}

func TestCutAndRestore(t *testing.T) {
	sw, h := network(t, 1, "a", "b")
	exchange(h[0], h[1], 1)
	c, err := sw.Capture(filepath.Join(t.TempDir(), "c.pcapng"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b := sw.Link("b")
	before := b.Stats(ToNode)
	b.Cut()
	h[0].send(h[1].addr, 12)
	h[1].send(h[0].addr, 13)
	// The link is mended only when the switch has dealt with both.
	ctx, cancel := context.WithTimeout(t.Context(), readLimit)
	defer cancel()
	for n, dir := range map[int]Dir{12: ToNode, 13: FromNode} {
		f, err := c.Wait(ctx, func(f Frame) bool { return f.Link == "b" && f.Dir == dir && number(f.Data) == n })
		if err != nil {
			t.Fatal(err)
		}
		if f.Lost != "link cut" {
			t.Errorf("frame %d passed %v over the cut link", n, dir)
		}
	}
	if s := b.Stats(ToNode); s.Cut != 1 || s.Delivered != before.Delivered {
		t.Errorf("statistics %+v after %+v, want one lost to the cut", s, before)
	}
	b.Restore()
	// What was lost does not come late, either.
	if got := exchange(h[0], h[1], 3); !slices.Equal(got, upTo(3)) {
		t.Errorf("after the repair %v arrived", got)
	}
	if got := exchange(h[1], h[0], 3); !slices.Equal(got, upTo(3)) {
		t.Errorf("after the repair %v arrived the other way", got)
	}
}

func TestRemoveRule(t *testing.T) {
	sw, h := network(t, 1, "a", "b")
	a := mustAdd(t, sw.Link("a"), FromNode, Rule{Match: notEnd, Do: Drop()})
	if got := exchange(h[0], h[1], 3); len(got) != 0 {
		t.Fatalf("arrived %v, want nothing", got)
	}
	a.Remove()
	if got := exchange(h[0], h[1], 3); !slices.Equal(got, upTo(3)) {
		t.Errorf("without the rule %v arrived", got)
	}
}

func TestRuleWithoutActionIsRefused(t *testing.T) {
	sw, _ := network(t, 1, "a")
	if _, err := sw.Link("a").Add(ToNode, Rule{}); err == nil {
		t.Error("no error")
	}
}

func TestSlowNodeLosesFramesAndIsCounted(t *testing.T) {
	sw, h := network(t, 1, "a", "b")
	const n = queueLen + 1000
	for i := range n {
		h[0].send(h[1].addr, i)
	}
	from := sw.Link("a")
	deadline := time.Now().Add(readLimit)
	for from.Stats(FromNode).Frames < n {
		if time.Now().After(deadline) {
			t.Fatalf("the switch took %d of %d frames", from.Stats(FromNode).Frames, n)
		}
		time.Sleep(time.Millisecond)
	}
	s := sw.Link("b").Stats(ToNode)
	if s.Overflow == 0 || s.Overflow+s.Delivered != n {
		t.Errorf("statistics %+v, want an overflow and %d in all", s, n)
	}
}

func TestCapture(t *testing.T) {
	sw, h := network(t, 1, "a", "b")
	c, err := sw.Capture(filepath.Join(t.TempDir(), "c.pcapng"))
	if err != nil {
		t.Fatal(err)
	}
	mustAdd(t, sw.Link("a"), FromNode, Rule{Name: "loss", Match: notEnd, Pick: Nth(2), Do: Drop()})
	mustAdd(t, sw.Link("b"), ToNode, Rule{Name: "twice", Match: notEnd, Pick: Nth(1), Do: Duplicate(1)})
	exchange(h[0], h[1], 3)
	type event struct {
		link string
		dir  Dir
		n    int
		lost string
		rule string
	}
	want := map[event]int{
		{"a", FromNode, 1, "", ""}:     1,
		{"a", FromNode, 2, "loss", ""}: 1,
		{"a", FromNode, 3, "", ""}:     1,
		{"a", FromNode, end, "", ""}:   1,
		{"b", ToNode, 1, "", "twice"}:  2,
		{"b", ToNode, 3, "", ""}:       1,
		{"b", ToNode, end, "", ""}:     1,
	}
	check := func() {
		t.Helper()
		got := make(map[event]int)
		for f, err := range c.Frames() {
			if err != nil {
				t.Fatal(err)
			}
			e := event{link: f.Link, dir: f.Dir, n: number(f.Data), lost: f.Lost}
			if len(f.Rules) > 0 {
				e.rule = f.Rules[0]
			}
			got[e]++
			if d := time.Since(f.Time); d < 0 || d > time.Minute {
				t.Errorf("frame of %v", f.Time)
			}
		}
		for e, n := range want {
			if got[e] != n {
				t.Errorf("%+v: %d times, want %d", e, got[e], n)
			}
			delete(got, e)
		}
		if len(got) > 0 {
			t.Errorf("not expected: %+v", got)
		}
	}
	check()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	exchange(h[0], h[1], 1) // no longer captured
	check()
}

func TestCaptureWait(t *testing.T) {
	sw, h := network(t, 1, "a", "b")
	c, err := sw.Capture(filepath.Join(t.TempDir(), "c.pcapng"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	is := func(n int) func(Frame) bool {
		return func(f Frame) bool { return f.Dir == ToNode && number(f.Data) == n }
	}
	exchange(h[0], h[1], 3)
	ctx, cancel := context.WithTimeout(t.Context(), readLimit)
	defer cancel()
	if _, err := c.Wait(ctx, is(2)); err != nil {
		t.Errorf("a frame of the past: %v", err)
	}
	errs := make(chan error)
	go func() {
		_, err := c.Wait(ctx, is(77))
		errs <- err
	}()
	h[0].send(h[1].addr, 77)
	if err := <-errs; err != nil {
		t.Errorf("a frame to come: %v", err)
	}
	short, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if _, err := c.Wait(short, is(99)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a frame that never comes: %v", err)
	}
}

func TestCaptureOfALaterLink(t *testing.T) {
	sw, h := network(t, 1, "a", "b")
	c, err := sw.Capture(filepath.Join(t.TempDir(), "c.pcapng"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, f, err := sw.AddLink("c")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(t.Context(), readLimit)
	defer cancel()
	h[0].send(mac{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 5)
	if _, err := c.Wait(ctx, func(f Frame) bool { return f.Link == "c" && f.Dir == ToNode }); err != nil {
		t.Error(err)
	}
}

func TestSendToNode(t *testing.T) {
	sw, h := network(t, 1, "a")
	sw.Link("a").Send(frame(h[0].addr, mac{2, 9}, 8))
	if f := h[0].recv(readLimit); f == nil || number(f) != 8 {
		t.Errorf("got %v, want frame 8", f)
	}
}

func TestLinkNamesAreUnique(t *testing.T) {
	sw, _ := network(t, 1, "a")
	if _, _, err := sw.AddLink("a"); err == nil {
		t.Error("no error")
	}
}
