// SPDX-License-Identifier: MIT

package wire

import (
	"iter"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// recorded analyses what the nodes have sent in a capture of two VMs with Debian's
// kernel 6.1 while "rdsmr stress" ran: connect-6.1 with the distribution's RDS
// modules, connect-ipv6-6.1 with ours before they had remote invalidation,
// invalidate-6.1 with it.
func recorded(t *testing.T, capture string) *Trace {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", capture+".pcapng.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := Analyse(inbound(ReadCapture(f, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// inbound are the frames that came in at the interfaces of the switch. The same
// went out at another.
func inbound(frames iter.Seq2[Frame, error]) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		for f, err := range frames {
			if (err != nil || f.Direction == Inbound) && !yield(f, err) {
				return
			}
		}
	}
}

// TestRecordedConnection holds the reading of the protocol against what kernels
// really send.
func TestRecordedConnection(t *testing.T) {
	tr := recorded(t, "connect-6.1")
	if tr.Undecoded != 0 {
		t.Errorf("%d undecoded: %v", tr.Undecoded, tr.FirstError)
	}
	var types []CMType
	for _, e := range tr.CM {
		types = append(types, e.Type)
	}
	if !slices.Equal(types, []CMType{CMReq, CMRep, CMRtu}) {
		t.Errorf("connection manager said %v", types)
	}
	if len(tr.Conns) != 1 {
		t.Fatalf("%d connections, want 1", len(tr.Conns))
	}
	a, b := netip.MustParseAddr("10.77.0.1"), netip.MustParseAddr("10.77.0.2")
	c := tr.Conns[0]
	if c.Active.Addr != a || c.Passive.Addr != b || !c.Established || c.PathMTU != 4096 {
		t.Errorf("connection %+v", c)
	}
	for _, side := range []netip.Addr{a, b} {
		first := c.First(side)
		if first.Flags != FlagCongestion || first.Len != 8192 || len(first.Payload) != 4096 || first.Fragment != 0 || len(first.Ext) != 0 {
			t.Errorf("first message from %v: %+v, %d bytes", side, first.Header, len(first.Payload))
		}
		if second := c.From(side)[1]; second.Fragment != 1 || second.Flags != FlagCongestion {
			t.Errorf("second message from %v: %+v", side, second.Header)
		}
	}
	for _, m := range tr.Messages {
		if !m.ChecksumOK || m.ExtErr != nil {
			t.Errorf("message %d from %v: checksum right %v, extension headers: %v", m.Sequence, m.Src, m.ChecksumOK, m.ExtErr)
		}
	}
	checkKeys(t, tr)
}

// TestRecordedIPv6: the same over IPv6, between two nodes that announce
// themselves.
func TestRecordedIPv6(t *testing.T) {
	tr := recorded(t, "connect-ipv6-6.1")
	if tr.Undecoded != 0 || len(tr.Conns) != 1 {
		t.Fatalf("%d connections, %d frames undecoded: %v", len(tr.Conns), tr.Undecoded, tr.FirstError)
	}
	a, b := netip.MustParseAddr("fd77::1"), netip.MustParseAddr("fd77::2")
	c := tr.Conns[0]
	if c.Active.Addr != a || c.Passive.Addr != b || !c.Established || c.PathMTU != 4096 || len(c.Messages) != 15 {
		t.Errorf("%d messages on %+v", len(c.Messages), c)
	}
	for _, side := range []netip.Addr{a, b} {
		for i, m := range c.From(side) {
			ext := m.Find(ExtVersion)
			if (i == 0) != (ext != nil) {
				t.Errorf("message %d from %v: version header %v", i, side, ext)
			}
			if ext == nil {
				continue
			}
			if version, features := ext.Version(); version != 0x0301 || features != 1 {
				t.Errorf("%v announces %#x, features %#x", side, version, features)
			}
		}
	}
	for _, m := range tr.Messages {
		if !m.ChecksumOK || m.ExtErr != nil {
			t.Errorf("message %d from %v: checksum right %v, extension headers: %v", m.Sequence, m.Src, m.ChecksumOK, m.ExtErr)
		}
	}
	checkKeys(t, tr)
}

// TestRecordedInvalidation: each key is advertised with leave, used once, and
// invalidated by the message that names it.
func TestRecordedInvalidation(t *testing.T) {
	tr := recorded(t, "invalidate-6.1")
	if tr.Undecoded != 0 || len(tr.Conns) != 1 {
		t.Fatalf("%d connections, %d frames undecoded: %v", len(tr.Conns), tr.Undecoded, tr.FirstError)
	}
	checkKeys(t, tr)
	a, b := netip.MustParseAddr("10.77.0.1"), netip.MustParseAddr("10.77.0.2")
	for _, side := range []netip.Addr{a, b} {
		version := tr.Conns[0].First(side).Find(ExtVersion)
		if version == nil {
			t.Fatalf("%v does not announce itself", side)
		}
		if _, features := version.Version(); features != FeatExtTypes|FeatRemoteInvalidate {
			t.Errorf("%v announces features %#x", side, features)
		}
	}
	keys := tr.Keys()
	if len(keys) != 6 || len(tr.RDMA) != 6 {
		t.Errorf("%d keys, %d operations, want 6 of each", len(keys), len(tr.RDMA))
	}
	reads := 0
	for _, k := range keys {
		if k.Owner != a || k.Offer == nil || !k.MayInvalidate || len(k.RDMA) != 1 || len(k.Releases) != 1 || len(k.Invalidations) != 1 {
			t.Errorf("key %+v", k)
			continue
		}
		if k.Releases[0] != k.Invalidations[0] {
			t.Errorf("key %#x: named by message %d, invalidated by message %d", k.RKey, k.Releases[0].Sequence, k.Invalidations[0].Sequence)
		}
		if k.RDMA[0].Read {
			reads++
		}
		if err := k.CheckInvalidation(); err != nil {
			t.Error(err)
		}
	}
	if reads == 0 || reads == len(keys) {
		t.Errorf("%d reads of %d operations, want writes as well", reads, len(keys))
	}
}

// checkKeys checks that each RDMA operation uses a key that was advertised in an
// extension header before, and that a message with that key follows it.
func checkKeys(t *testing.T, tr *Trace) {
	t.Helper()
	if len(tr.RDMA) < 2 || tr.RDMA[0].Read || !tr.RDMA[1].Read {
		t.Fatalf("%d operations, want a write and a read", len(tr.RDMA))
	}
	for _, op := range tr.RDMA[:2] {
		var before, after bool
		for _, m := range tr.Messages {
			if e := m.Find(ExtRDMADest); e != nil && e.RKey() == op.RKey && m.Src == op.Dst && m.Time.Before(op.Time) {
				before = true
			}
			if e := m.Find(ExtRDMA); e != nil && e.RKey() == op.RKey && m.Src == op.Src && !m.Time.Before(op.Time) {
				after = true
			}
		}
		if !before || !after {
			t.Errorf("key %#x: advertised before %v, named after %v", op.RKey, before, after)
		}
	}
}
