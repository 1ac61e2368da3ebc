// SPDX-License-Identifier: MIT

package rds

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Each system call is told once, with its kind and what the kernel said.
func TestOnCall(t *testing.T) {
	s, fd := pair(t)
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	var calls []Call
	s.onCall = func(c Call) { calls = append(calls, c) }
	// told checks that exactly these calls were made since it was asked last.
	told := func(what string, kinds ...CallKind) []Call {
		t.Helper()
		var got []CallKind
		for _, c := range calls {
			got = append(got, c.Kind)
			if c.Elapsed <= 0 {
				t.Errorf("%s: %v took %v", what, c.Kind, c.Elapsed)
			}
		}
		if !slices.Equal(got, kinds) {
			t.Errorf("%s: calls %v, want %v", what, got, kinds)
		}
		made := calls
		calls = nil
		return made
	}

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if _, err := s.Receive(ctx, make([]byte, 8)); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if c := told("nothing there", CallRecvmsg); c[0].Err != unix.EAGAIN {
		t.Errorf("recvmsg told %v", c[0].Err)
	}
	if err := unix.Send(fd, []byte("abc"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Receive(t.Context(), make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	told("a message", CallRecvmsg)

	sent, err := s.TrySend(Message{To: netip.MustParseAddrPort("10.0.0.1:1"), Payload: []byte("abc")})
	if err != nil {
		t.Fatal(err)
	}
	if c := told("send", CallSendmsg); c[0].Elapsed != sent.Elapsed {
		t.Errorf("sendmsg told %v and returned %v", c[0].Elapsed, sent.Elapsed)
	}
	// A Unix socket has none of RDS's options: it refuses them.
	b, err := NewBuffer(100)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := s.GetMR(Segment{Buffer: b, Length: 100}, UseOnce); err == nil {
		t.Error("registered")
	}
	told("GetMR", CallGetMR)
	if err := s.FreeMR(1, 0); err == nil {
		t.Error("freed")
	}
	told("FreeMR", CallFreeMR)
	if err := s.FlushMRs(); err == nil {
		t.Error("flushed")
	}
	told("FlushMRs", CallSetsockopt)
	if _, err := s.SendBuffer(); err != nil {
		t.Error(err)
	}
	told("SendBuffer", CallGetsockopt)
	if full, err := s.sendBufferFull(); full || err != nil {
		t.Error(full, err)
	}
	told("sendBufferFull", CallPoll)
	if _, err := s.Counters(); err == nil {
		t.Error("counters of a Unix socket")
	}
	told("Counters", CallGetsockopt)
}

func TestCallKinds(t *testing.T) {
	names := map[string]bool{}
	for _, k := range CallKinds() {
		names[k.String()] = true
	}
	if len(names) != int(callKinds) || names["unknown"] || callKinds.String() != "unknown" {
		t.Errorf("%v", names)
	}
}
