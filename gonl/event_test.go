// SPDX-License-Identifier: MIT

package gonl

import (
	"context"
	"errors"
	"net"
	"reflect"
	"slices"
	"testing"
	"time"
)

// stream subscribes a client of one fake kernel to events of another.
func stream(t *testing.T, ctx context.Context) (*fakeKernel, *EventStream) {
	t.Helper()
	c := newFakeKernel(t, nil).client()
	k := newFakeKernel(t, nil)
	c.subscribe = func() (link, error) { return k, nil }
	s, err := c.Events(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(k.joined, []uint32{ctrlNotify, testGroup}) {
		t.Errorf("joined groups %v", k.joined)
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
		{EventConnUp, clock, conn(1, "192.0.2.2")},
		{EventVersionLearnt, clock, conn(1, "192.0.2.2")},
		{EventConnDown, clock, conn(2, "192.0.2.3")},
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
	} {
		k, s := stream(t, t.Context())
		k.out <- msg(testFamily, 0, 0, payload)
		if ev, err := s.Next(); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got %+v, %v", name, ev, err)
		}
	}
}
