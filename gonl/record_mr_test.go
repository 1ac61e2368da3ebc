// SPDX-License-Identifier: MIT

//go:build record

package gonl

import (
	"context"
	"errors"
	"flag"
	"net/netip"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/gonl/rds"
)

// See record_test.go.

var (
	recordLocal = flag.String("record.local", "", "address of this host over IB, to make MRs at")
	recordPeer  = flag.String("record.peer", "", "address of another host over IB, to advertise an MR to")
)

// holdMRs makes one MR of each kind: by GET_MR, by GET_MR_FOR_DEST, and by
// sendmsg for one use, in a message to a port where nobody is.
func holdMRs(ctx context.Context, t *testing.T) {
	t.Helper()
	local, peer := netip.MustParseAddr(*recordLocal), netip.MustParseAddr(*recordPeer)
	s, err := rds.Listen(netip.AddrPortFrom(local, 4100), rds.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	buffer, err := rds.NewBuffer(1 << 16)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.GetMR(rds.Segment{Buffer: buffer, Length: 4096}, 0); err != nil {
		t.Fatal(err)
	}
	to := netip.AddrPortFrom(peer, 4999)
	if _, err := s.GetMRForDest(to, rds.Segment{Buffer: buffer, Offset: 100, Length: 8191}, rds.UseOnce|rds.ReadWrite); err != nil {
		t.Fatal(err)
	}
	_, err = s.Send(ctx, rds.Message{
		To: to, Payload: []byte("x"),
		Map: &rds.Map{Segment: rds.Segment{Buffer: buffer, Length: 1 << 16}, Flags: rds.UseOnce},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// settledMRs waits until the message with a key has left.
func settledMRs(ctx context.Context, t *testing.T, c *Client) []MR {
	t.Helper()
	for ; ; time.Sleep(10 * time.Millisecond) {
		mrs, err := c.MRs(ctx, MRFilter{PID: ptr(uint32(os.Getpid()))})
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(mrs, func(m MR) bool { return m.State == MRStateAdvertised }) {
			return mrs
		}
	}
}

func TestRecordMRs(t *testing.T) {
	if *recordDir == "" || *recordLocal == "" || *recordPeer == "" {
		t.Fatal("say where to and where: -record.dir DIR -record.local ADDR -record.peer ADDR")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, c := newRecorder(t)
	holdMRs(ctx, t)
	mrs := settledMRs(ctx, t, c)
	if len(mrs) != 3 {
		t.Errorf("%d MRs, want 3", len(mrs))
	}
	r.steps(t, []step{
		{"mrs", func() error { _, err := c.MRs(ctx, MRFilter{}); return err }, 0},
		{"mr", func() error { _, err := c.MR(ctx, mrs[0].ID); return err }, 0},
		{"pools", func() error { _, err := c.Pools(ctx); return err }, 0},
		{"mr-stats", func() error { _, err := c.MRStats(ctx); return err }, 0},
		{"refused-mr", func() error { _, err := c.MR(ctx, ^uint32(0)); return err }, syscall.ENOENT},
		{"refused-revoke", func() error { return c.RevokeMR(ctx, 0) }, syscall.ERANGE},
	})

	e := subscribeRecorder(t, r, c)
	s, err := c.Events(ctx, GroupMR)
	if err != nil {
		t.Fatal(err)
	}
	next := func() Event {
		ev, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v %+v", ev.Type, ev.MR)
		return ev
	}
	before, err := c.Settings(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetSettings(ctx, SettingsChange{MRMaxAge: ptr(time.Second)}); err != nil {
		t.Fatal(err)
	}
	// Both that are for one use grow old.
	next()
	next()
	err = errors.Join(c.SetSettings(ctx, SettingsChange{MRMaxAge: &before.MRMaxAge}), c.RevokeMR(ctx, mrs[0].ID))
	if err != nil {
		t.Fatal(err)
	}
	if ev := next(); ev.Type != EventMRRevoked || ev.MR.ID != mrs[0].ID {
		t.Errorf("%v of MR %d instead of the revocation of %d", ev.Type, ev.MR.ID, mrs[0].ID)
	}
	if err := e.write("mr-events"); err != nil {
		t.Error(err)
	}
}
