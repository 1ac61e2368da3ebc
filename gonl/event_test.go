// SPDX-License-Identifier: MIT

package gonl

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stream subscribes a client of one fake kernel to events of another.
func stream(t testing.TB, ctx context.Context, groups ...EventGroup) (*fakeKernel, *EventStream) {
	t.Helper()
	joined := []uint32{ctrlNotify}
	for _, g := range groups {
		joined = append(joined, map[EventGroup]uint32{GroupConn: testGroup, GroupMR: testMRGroup}[g])
	}
	if len(groups) == 0 {
		joined = append(joined, testGroup)
	}
	c := newFakeKernel(t, nil).client()
	k := newFakeKernel(t, nil)
	c.subscribe = func() (link, error) { return k, nil }
	s, err := c.Events(ctx, groups...)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(k.joined, joined) {
		t.Errorf("joined groups %v, want %v", k.joined, joined)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return k, s
}

func TestEvents(t *testing.T) {
	k, s := stream(t, t.Context())
	clock := time.Unix(1700000000, 0)
	s.now = func() time.Time { return clock }
	k.out <- cat(
		msg(testFamily, 0, 0, genl(5, connAttrs(1, "192.0.2.2"))),
		msg(testFamily, 0, 0, genl(7, connAttrs(1, "192.0.2.2"))),
		msg(testFamily, 0, 0, genl(99, at(1, []byte("what a newer kernel has to say")))),
		msg(testFamily+1, 0, 0, genl(5, connAttrs(3, "192.0.2.2"))),
	)
	k.out <- msg(0x10, 0, 0, genl(2, at(1, u16(testFamily+1)), at(2, []byte("other\x00"))))
	k.out <- msg(testFamily, 0, 0, genl(6, connAttrs(2, "192.0.2.3")))
	conn := func(id uint32, peer string) *Conn { return ptr(fullConn(id, peer)) }
	for _, want := range []Event{
		{Type: EventConnUp, Time: clock, Conn: conn(1, "192.0.2.2")},
		{Type: EventVersionLearnt, Time: clock, Conn: conn(1, "192.0.2.2")},
		{Type: EventConnDown, Time: clock, Conn: conn(2, "192.0.2.3")},
	} {
		got, err := s.Next()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %+v, %v\nwant %+v", got, err, want)
		}
	}
	k.lost <- struct{}{}
	if got, err := s.Next(); err != nil || got.Type != EventLost || got.Conn != nil {
		t.Fatalf("got %+v, %v instead of lost events", got, err)
	}
	k.out <- msg(testFamily, 0, 0, genl(6, connAttrs(3, "192.0.2.3")))
	if got, err := s.Next(); err != nil || got.Conn.ID != 3 {
		t.Fatalf("after lost events: %+v, %v", got, err)
	}
}

func TestMREvents(t *testing.T) {
	for _, groups := range [][]EventGroup{{GroupMR}, {GroupConn, GroupMR}} {
		k, s := stream(t, t.Context(), groups...)
		clock := time.Unix(1700000000, 0)
		s.now = func() time.Time { return clock }
		k.out <- cat(
			msg(testFamily, 0, 0, genl(13, mrAttrs(5))),
			msg(testFamily, 0, 0, genl(6, connAttrs(2, "192.0.2.3"))),
			msg(testFamily, 0, 0, genl(14, bareMR(6))),
		)
		for _, want := range []Event{
			{Type: EventMRAged, Time: clock, MR: ptr(fullMR(5))},
			{Type: EventConnDown, Time: clock, Conn: ptr(fullConn(2, "192.0.2.3"))},
			{Type: EventMRRevoked, Time: clock, MR: ptr(bareMRWant(6))},
		} {
			got, err := s.Next()
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("got  %+v, %v\nwant %+v", got, err, want)
			}
		}
	}
}

// TestEventGroupMissing: a module from before the group is told apart from one
// that has nothing to say.
func TestEventGroupMissing(t *testing.T) {
	k := newFakeKernel(t, nil)
	k.groups = []string{"conn"}
	c := k.client()
	c.subscribe = func() (link, error) { return newFakeKernel(t, nil), nil }
	if _, err := c.Events(t.Context(), GroupConn, GroupMR); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "no multicast group mr") {
		t.Errorf("got %v", err)
	}
}

func TestEventsEndWithModule(t *testing.T) {
	k, s := stream(t, t.Context())
	k.out <- msg(testFamily, 0, 0, genl(5, connAttrs(1, "192.0.2.2")))
	k.out <- msg(0x10, 0, 0, genl(2, at(2, []byte("rds_ext\x00")), at(1, u16(testFamily))))
	var got []Event
	var last error
	for ev, err := range s.All() {
		if last = err; err == nil {
			got = append(got, ev)
		}
	}
	if len(got) != 1 || !errors.Is(last, ErrNotLoaded) {
		t.Errorf("got %d events, then %v", len(got), last)
	}
}

func TestEventsWithoutModule(t *testing.T) {
	k := newFakeKernel(t, nil)
	c := k.client()
	c.subscribe = func() (link, error) { return newFakeKernel(t, nil), nil }
	k.setFamily(0)
	if _, err := c.Events(t.Context()); !errors.Is(err, ErrNotLoaded) {
		t.Errorf("got %v", err)
	}
}

func TestEventsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, s := stream(t, ctx)
	cancel()
	if _, err := s.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	_, s = stream(t, t.Context())
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Next(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

func TestMalformedEvent(t *testing.T) {
	for name, payload := range map[string][]byte{
		"no header": {5, 1},
		"no id":     genl(5, at(2, u32(0))),
		"no mr":     genl(13, at(2, []byte("rxe0\x00"))),
	} {
		k, s := stream(t, t.Context())
		k.out <- msg(testFamily, 0, 0, payload)
		if ev, err := s.Next(); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got %+v, %v", name, ev, err)
		}
	}
}

// After lost events, the stream tells what there is, once, and goes on.
func TestResync(t *testing.T) {
	asked := 0
	answers := newFakeKernel(t, func(r request) [][]byte {
		asked++
		if r.cmd == 8 {
			return [][]byte{r.reply(fMulti, genl(8, mrAttrs(7))), r.done(0, 0)}
		}
		return [][]byte{r.reply(fMulti, genl(1, connAttrs(1, "192.0.2.2"))), r.reply(fMulti, genl(1, connAttrs(2, "192.0.2.3"))), r.done(0, 0)}
	})
	for _, tt := range []struct {
		groups []EventGroup
		want   []EventType
	}{
		{[]EventGroup{GroupConn, GroupMR}, []EventType{EventConnUp, EventLost, EventConnNow, EventConnNow, EventMRNow, EventConnDown}},
		{[]EventGroup{GroupMR}, []EventType{EventConnUp, EventLost, EventMRNow, EventConnDown}},
		{nil, []EventType{EventConnUp, EventLost, EventConnNow, EventConnNow, EventConnDown}},
	} {
		k, s := stream(t, t.Context(), tt.groups...)
		s.Resync(answers.client())
		k.out <- msg(testFamily, 0, 0, genl(5, connAttrs(1, "192.0.2.2")))
		var got []EventType
		for range tt.want {
			ev, err := s.Next()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, ev.Type)
			switch ev.Type {
			case EventConnUp:
				k.lost <- struct{}{}
			case EventLost:
				k.out <- msg(testFamily, 0, 0, genl(6, connAttrs(1, "192.0.2.2")))
			case EventConnNow:
				if want := fullConn(ev.Conn.ID, "192.0.2."+string(rune('1'+ev.Conn.ID))); !reflect.DeepEqual(*ev.Conn, want) {
					t.Errorf("%+v, want %+v", *ev.Conn, want)
				}
			case EventMRNow:
				if !reflect.DeepEqual(*ev.MR, fullMR(7)) {
					t.Errorf("%+v", *ev.MR)
				}
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("of %v: %v, want %v", tt.groups, got, tt.want)
		}
	}
	if asked != 4 {
		t.Errorf("%d lists were asked for, want 4", asked)
	}
	// What cannot be listed is no picture.
	k, s := stream(t, t.Context())
	s.Resync(newFakeKernel(t, func(r request) [][]byte { return [][]byte{r.refuse(int32(syscall.EPERM))} }).client())
	k.lost <- struct{}{}
	if ev, err := s.Next(); err != nil || ev.Type != EventLost {
		t.Errorf("%+v, %v", ev, err)
	}
	if _, err := s.Next(); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a list that is refused: %v", err)
	}
}
