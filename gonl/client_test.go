// SPDX-License-Identifier: MIT

package gonl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func fullConn(id uint32, peer string) Conn {
	return Conn{
		ID: id, Transport: TransportIB,
		Local: netip.MustParseAddr("192.0.2.1"), Peer: netip.MustParseAddr(peer),
		TOS: 3, State: ConnStateUp, Paths: 1, Loopback: true, Passive: true,
		Version: ptr(Version(0x301)), Features: ptr(FeatureExtTypes),
		PeerVersion: ptr(Version(0x301)), PeerFeatures: ptr(Feature(5)),
		AgreedFeatures: FeatureExtTypes, LearntFrom: LearntFromFirstPacket,
		PeerKind: PeerKindRDSExt, Ups: 4, Downs: 3, Uptime: ptr(61500 * time.Millisecond),
		SinceDown: ptr(90500 * time.Millisecond), Down: &End{EndReasonSendError, ptr(uint32(12))},
		Attempts: 3, LastAttempt: &End{EndReasonUnreachable, ptr(uint32(110))},
		Link: &Link{Device: "rxe0", QPNum: 0x11, SL: 3, FlowControl: true},
	}
}

func TestConns(t *testing.T) {
	k := newFakeKernel(t, func(r request) [][]byte {
		if r.cmd != 1 || !r.dump() || len(r.attrs) != 0 {
			t.Errorf("unexpected request %x", r.raw)
		}
		return [][]byte{
			cat(r.reply(fMulti, genl(1, connAttrs(1, "192.0.2.2"))), r.reply(fMulti, genl(1, bareConn(2, "2001:db8::2")))),
			r.reply(fMulti, genl(1, connAttrs(9, "192.0.2.9"), at(77, []byte("of a newer kernel")))),
			r.done(0, 0),
		}
	})
	got, err := k.client().Conns(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Conn{
		fullConn(1, "192.0.2.2"),
		{
			ID: 2, Transport: TransportTCP, Local: netip.MustParseAddr("2001:db8::1"),
			Peer: netip.MustParseAddr("2001:db8::2"), Paths: 8,
		},
		fullConn(9, "192.0.2.9"),
	}
	want[2].Unknown = []Attribute{{77, []byte("of a newer kernel")}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestConnsFilter(t *testing.T) {
	var req request
	k := newFakeKernel(t, func(r request) [][]byte {
		req = r
		return [][]byte{
			r.reply(fMulti, genl(1, connAttrs(1, "192.0.2.2"))),
			r.reply(fMulti, genl(1, bareConn(2, "192.0.2.2"))),
			r.done(0, 0),
		}
	})
	f := Filter{
		Transport: ptr(TransportIB), Local: netip.MustParseAddr("192.0.2.1"), Peer: netip.MustParseAddr("::ffff:192.0.2.2"),
		State: ptr(ConnStateUp), PeerVersion: ptr(Version(0x301)), PeerKind: ptr(PeerKindRDSExt),
		Version: ptr(Version(0x301)), TOS: ptr(uint8(3)),
	}
	got, err := k.client().Conns(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	wire := cat(at(2, u32(0)), at(3, mapped("192.0.2.1")), at(4, mapped("192.0.2.2")),
		at(6, u32(3)), at(12, u32(0x301)), at(16, u32(2)), at(10, u32(0x301)), at(5, []byte{3}))
	if string(req.attrs) != string(wire) {
		t.Errorf("request has %x\nwant        %x", req.attrs, wire)
	}
	if len(got) != 1 || got[0].ID != 1 {
		t.Errorf("got %+v, want connection 1", got)
	}
}

func TestFilterMatch(t *testing.T) {
	full := fullConn(1, "192.0.2.2")
	bare := Conn{ID: 2, Transport: TransportTCP, Local: full.Local, Peer: full.Peer}
	for _, tt := range []struct {
		name       string
		f          Filter
		full, bare bool
	}{
		{"zero", Filter{}, true, true},
		{"transport", Filter{Transport: ptr(TransportTCP)}, false, true},
		{"local", Filter{Local: full.Local}, true, true},
		{"other local", Filter{Local: netip.MustParseAddr("192.0.2.8")}, false, false},
		{"mapped peer", Filter{Peer: netip.MustParseAddr("::ffff:192.0.2.2")}, true, true},
		{"state", Filter{State: ptr(ConnStateDown)}, false, true},
		{"peer version", Filter{PeerVersion: ptr(Version(0x301))}, true, false},
		{"other version", Filter{Version: ptr(Version(0x401))}, false, false},
		{"kind", Filter{PeerKind: ptr(PeerKindUnknown)}, false, true},
		{"tos", Filter{TOS: ptr(uint8(3))}, true, false},
	} {
		if got := tt.f.Match(full); got != tt.full {
			t.Errorf("%s: full connection: %v", tt.name, got)
		}
		if got := tt.f.Match(bare); got != tt.bare {
			t.Errorf("%s: bare connection: %v", tt.name, got)
		}
	}
}

func TestConn(t *testing.T) {
	var req request
	k := newFakeKernel(t, func(r request) [][]byte {
		req = r
		if r.dump() {
			t.Error("asked for a list")
		}
		return [][]byte{r.reply(0, genl(1, connAttrs(7, "192.0.2.2")))}
	})
	c := k.client()
	got, err := c.Conn(t.Context(), 7)
	if err != nil || !reflect.DeepEqual(got, fullConn(7, "192.0.2.2")) {
		t.Errorf("got %+v, %v", got, err)
	}
	if want := at(1, u32(7)); string(req.attrs) != string(want) {
		t.Errorf("by ID: request has %x, want %x", req.attrs, want)
	}
	_, err = c.ConnByAddr(t.Context(), ConnAddr{
		Transport: TransportTCP, Local: netip.MustParseAddr("192.0.2.1"), Peer: netip.MustParseAddr("2001:db8::2"), TOS: 9,
	})
	if err != nil {
		t.Error(err)
	}
	want := cat(at(2, u32(2)), at(3, mapped("192.0.2.1")), at(4, mapped("2001:db8::2")), at(5, []byte{9}))
	if string(req.attrs) != string(want) {
		t.Errorf("by address: request has %x, want %x", req.attrs, want)
	}
	if _, err := c.ConnByAddr(t.Context(), ConnAddr{Local: netip.MustParseAddr("192.0.2.1")}); err == nil {
		t.Error("a connection without a peer's address was asked for")
	}
}

func TestExtHdrs(t *testing.T) {
	k := newFakeKernel(t, func(r request) [][]byte {
		if r.cmd != 2 || !r.dump() {
			t.Errorf("unexpected request %x", r.raw)
		}
		return [][]byte{
			r.reply(fMulti, genl(2, at(1, u32(1)), at(2, []byte("version\x00")), at(3, u32(4)), at(4, u64(11)), at(5, u64(12)),
				at(6, u64(13)), at(7, u64(14)), at(8, u64(15)), at(9, u64(16)), at(10, u64(17)), at(11, u64(18)), at(12, nil))),
			r.reply(fMulti, genl(2, at(1, u32(200)), at(9, u64(1)))),
			r.done(0, 0),
		}
	})
	got, err := k.client().ExtHdrs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []ExtHdr{
		{Type: 1, Name: "version", Length: ptr(uint32(4)), TX: 11, RX: 12, TXNoRoom: 13, TXDuplicate: 14,
			TXRejected: 15, RXUnknown: 16, RXTruncated: 17, RXDuplicate: 18},
		{Type: 200, RXUnknown: 1},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestSettings(t *testing.T) {
	old := cat(at(1, []byte{1}), at(2, u32(1)), at(3, u32(3)), at(4, u32(0x301)), at(5, []byte("0.1.0\x00")))
	want := Settings{VersionHeader: true, FeatureMask: 1, SupportedFeatures: 3, ProtocolVersion: 0x301, ModuleVersion: "0.1.0"}
	full := want
	full.MREngine, full.MRPoolMax, full.MRSockMax, full.MRSockBytes = true, 32768, 7, 1<<40
	full.MRMaxAge, full.MRAgeRevoke = time.Minute, true
	for name, tt := range map[string]struct {
		attrs []byte
		want  Settings
	}{
		"all":                           {cat(old, at(6, []byte{1}), at(7, u32(32768)), at(8, u32(7)), at(12, nil), at(9, u64(1<<40)), at(10, u32(60000)), at(11, []byte{1})), full},
		"of a module without MR engine": {old, want},
	} {
		k := newFakeKernel(t, func(r request) [][]byte {
			if r.cmd != 3 || r.dump() || len(r.attrs) != 0 {
				t.Errorf("unexpected request %x", r.raw)
			}
			return [][]byte{r.reply(0, genl(3, tt.attrs))}
		})
		got, err := k.client().Settings(t.Context())
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

func TestSetSettings(t *testing.T) {
	for _, tt := range []struct {
		change SettingsChange
		want   []byte
	}{
		{SettingsChange{}, nil},
		{SettingsChange{VersionHeader: ptr(false)}, at(1, []byte{0})},
		{SettingsChange{VersionHeader: ptr(true), FeatureMask: ptr(Feature(3))}, cat(at(1, []byte{1}), at(2, u32(3)))},
		{SettingsChange{MREngine: ptr(false), MRPoolMax: ptr(uint32(16))}, cat(at(6, []byte{0}), at(7, u32(16)))},
		{SettingsChange{MRSockMax: ptr(uint32(0)), MRSockBytes: ptr(uint64(1 << 33))}, cat(at(8, u32(0)), at(9, u64(1<<33)))},
		{SettingsChange{MRMaxAge: ptr(90 * time.Second), MRAgeRevoke: ptr(true)}, cat(at(10, u32(90000)), at(11, []byte{1}))},
		{SettingsChange{MRMaxAge: ptr(time.Duration(0))}, at(10, u32(0))},
		{SettingsChange{MRMaxAge: ptr(4294967295 * time.Millisecond)}, at(10, u32(4294967295))},
	} {
		var req request
		k := newFakeKernel(t, func(r request) [][]byte {
			req = r
			return [][]byte{msg(tError, fCapped, r.seq, cat(u32(0), r.raw[:16]))}
		})
		if err := k.client().SetSettings(t.Context(), tt.change); err != nil {
			t.Error(err)
		}
		if req.cmd != 4 || req.flags != 0x5 || string(req.attrs) != string(tt.want) {
			t.Errorf("request %x, want attributes %x", req.raw, tt.want)
		}
	}
	for _, age := range []time.Duration{-time.Second, time.Microsecond, time.Second + 1, 4294967296 * time.Millisecond} {
		k := newFakeKernel(t, func(r request) [][]byte {
			t.Errorf("an age of %v was sent: %x", age, r.raw)
			return [][]byte{r.refuse(22)}
		})
		if err := k.client().SetSettings(t.Context(), SettingsChange{MRMaxAge: &age}); err == nil || !strings.Contains(err.Error(), "MRMaxAge") {
			t.Errorf("an age of %v: %v", age, err)
		}
	}
}

func TestOpError(t *testing.T) {
	mask := SettingsChange{VersionHeader: ptr(true), FeatureMask: ptr(Feature(1 << 9))}
	for _, tt := range []struct {
		name   string
		answer func(r request) []byte
		want   OpError
		is     error
		text   string
	}{
		{
			"plain", func(r request) []byte { return r.refuse(1) },
			OpError{Errno: syscall.EPERM}, fs.ErrPermission,
			"gonl: settings-set: operation not permitted (EPERM)",
		},
		{
			"text", func(r request) []byte { return r.refuse(1, extMsg("needs CAP_NET_ADMIN")) },
			OpError{Errno: syscall.EPERM, Message: "needs CAP_NET_ADMIN"}, syscall.EPERM,
			"gonl: settings-set: needs CAP_NET_ADMIN (EPERM)",
		},
		{
			"attribute", func(r request) []byte {
				return r.refuse(22, extMsg("not supported"), extOff(r.offsetOf(t, 2)))
			},
			OpError{Errno: syscall.EINVAL, Message: "not supported", Attr: "feature-mask", Offset: 28}, syscall.EINVAL,
			"gonl: settings-set: not supported, attribute feature-mask (EINVAL)",
		},
		{
			"missing", func(r request) []byte { return r.refuse(22, extMissing(1)) },
			OpError{Errno: syscall.EINVAL, Attr: "version-header", Missing: true}, syscall.EINVAL,
			"gonl: settings-set: invalid argument, attribute version-header is missing (EINVAL)",
		},
		{
			"offset outside", func(r request) []byte { return r.refuse(22, extOff(4000)) },
			OpError{Errno: syscall.EINVAL, Offset: 4000}, syscall.EINVAL,
			"gonl: settings-set: invalid argument (EINVAL)",
		},
		{
			"not capped", func(r request) []byte {
				return msg(tError, fTLVs, r.seq, cat(u32(^uint32(0)), r.raw, extMsg("no")))
			},
			OpError{Errno: syscall.EPERM, Message: "no"}, syscall.EPERM, "gonl: settings-set: no (EPERM)",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newFakeKernel(t, func(r request) [][]byte { return [][]byte{tt.answer(r)} })
			err := k.client().SetSettings(t.Context(), mask)
			var oe *OpError
			if !errors.As(err, &oe) {
				t.Fatalf("got %v", err)
			}
			tt.want.Op = "settings-set"
			if *oe != tt.want {
				t.Errorf("got  %+v\nwant %+v", *oe, tt.want)
			}
			if !errors.Is(err, tt.is) {
				t.Errorf("%v is not %v", err, tt.is)
			}
			if err.Error() != tt.text {
				t.Errorf("text %q, want %q", err.Error(), tt.text)
			}
		})
	}
}

func TestDumpErrorAtItsEnd(t *testing.T) {
	k := newFakeKernel(t, func(r request) [][]byte {
		end := msg(tDone, fMulti|fTLVs, r.seq, cat(u32(^uint32(11)), extMsg("no memory left")))
		return [][]byte{cat(r.reply(fMulti, genl(1, connAttrs(1, "192.0.2.2"))), end)}
	})
	_, err := k.client().Conns(t.Context(), Filter{})
	if !errors.Is(err, syscall.ENOMEM) || !strings.Contains(err.Error(), "no memory left") {
		t.Errorf("got %v", err)
	}
}

func TestInterruptedDump(t *testing.T) {
	for _, tt := range []struct {
		name    string
		bad     int    // so many dumps are interrupted
		message uint16 // flags of the last object
		done    uint16 // flags of the end
		want    error
		asked   int
	}{
		{"settles", 2, fIntr, 0, nil, 3},
		{"settles, flag at the end only", 2, 0, fIntr, nil, 3},
		{"never settles", 1000, fIntr, fIntr, ErrPartial, dumpAttempts},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := 0
			k := newFakeKernel(t, func(r request) [][]byte {
				asked++
				var m, d uint16
				if asked <= tt.bad {
					m, d = tt.message, tt.done
				}
				return [][]byte{
					r.reply(fMulti, genl(1, connAttrs(1, "192.0.2.2"))),
					cat(r.reply(fMulti|m, genl(1, connAttrs(uint32(asked)+1, "192.0.2.2"))), r.done(d, 0)),
				}
			})
			got, err := k.client().Conns(t.Context(), Filter{})
			if !errors.Is(err, tt.want) {
				t.Errorf("got error %v, want %v", err, tt.want)
			}
			if asked != tt.asked {
				t.Errorf("asked %d times, want %d", asked, tt.asked)
			}
			if len(got) != 2 || got[1].ID != uint32(tt.asked)+1 {
				t.Errorf("got %+v, not the last reading", got)
			}
		})
	}
}

func TestNotLoaded(t *testing.T) {
	k := newFakeKernel(t, nil)
	k.family = 0
	if _, err := newClient(k, 0); !errors.Is(err, ErrNotLoaded) || !strings.Contains(err.Error(), "rds_ext.ko with insmod") {
		t.Errorf("got %v", err)
	}
}

func TestModuleReloaded(t *testing.T) {
	k := newFakeKernel(t, func(r request) [][]byte {
		return [][]byte{r.reply(0, genl(1, connAttrs(1, "192.0.2.2")))}
	})
	c := k.client()
	k.setFamily(testFamily + 1)
	if _, err := c.Conn(t.Context(), 1); err != nil {
		t.Errorf("after the module was loaded again: %v", err)
	}
	k.setFamily(0)
	if _, err := c.Conn(t.Context(), 1); !errors.Is(err, ErrNotLoaded) {
		t.Errorf("after the module was unloaded: %v", err)
	}
}

func TestNoSuchConnection(t *testing.T) {
	asked := 0
	k := newFakeKernel(t, func(r request) [][]byte {
		asked++
		return [][]byte{r.refuse(2, extMsg("no such connection"))}
	})
	_, err := k.client().Conn(t.Context(), 1)
	if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotLoaded) || asked != 1 {
		t.Errorf("asked %d times, got %v", asked, err)
	}
}

// TestGivenUp cancels a dump half-way. The next call must not take the rest of
// it for its own reply, nor start before the kernel is through with it.
func TestGivenUp(t *testing.T) {
	first, rest := true, make(chan func(), 1)
	var k *fakeKernel
	k = newFakeKernel(t, func(r request) [][]byte {
		if r.cmd == 3 {
			return [][]byte{r.reply(0, genl(3, at(1, []byte{1}), at(2, u32(0)), at(3, u32(1)), at(4, u32(0x301)), at(5, []byte("x\x00"))))}
		}
		if !first {
			t.Error("second dump")
		}
		first = false
		rest <- func() {
			k.out <- r.reply(fMulti, genl(1, connAttrs(2, "192.0.2.2")))
			k.out <- r.done(0, 0)
		}
		return [][]byte{r.reply(fMulti, genl(1, connAttrs(1, "192.0.2.2")))}
	})
	c := k.client()
	ctx, cancel := context.WithCancel(t.Context())
	givenUp := make(chan error, 1)
	go func() { _, err := c.Conns(ctx, Filter{}); givenUp <- err }()
	finish := <-rest // the dump has begun
	cancel()
	if err := <-givenUp; !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	finish()
	s, err := c.Settings(t.Context())
	if err != nil || s.ModuleVersion != "x" {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestWaitingForTurnEndsWithContext(t *testing.T) {
	k := newFakeKernel(t, func(request) [][]byte { return nil })
	c := k.client()
	<-c.turn // as if another call had it
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Settings(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	c.turn <- struct{}{}
}

func TestClosed(t *testing.T) {
	waiting := make(chan struct{})
	k := newFakeKernel(t, func(request) [][]byte { close(waiting); return nil })
	c := k.client()
	done := make(chan error)
	go func() { _, err := c.Settings(context.Background()); done <- err }()
	<-waiting
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, net.ErrClosed) {
		t.Errorf("call under way: %v", err)
	}
	if _, err := c.Settings(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("later call: %v", err)
	}
}

func TestConcurrentCalls(t *testing.T) {
	k := newFakeKernel(t, func(r request) [][]byte {
		id := uint32(0)
		if b := r.attr(1); len(b) == 4 {
			id = uint32(b[0]) | uint32(b[3]) // either byte order
		}
		return [][]byte{r.reply(0, genl(1, connAttrs(id, "192.0.2.2")))}
	})
	c := k.client()
	var wg sync.WaitGroup
	for id := uint32(1); id <= 20; id++ {
		wg.Go(func() {
			got, err := c.Conn(t.Context(), id)
			if err != nil || got.ID != id {
				t.Errorf("asked for %d, got %d, %v", id, got.ID, err)
			}
		})
	}
	wg.Wait()
}

func TestMalformedReplies(t *testing.T) {
	for name, payload := range map[string][]byte{
		"short number":       genl(1, connAttrs(1, "192.0.2.2"), at(7, u16(1))),
		"long number":        genl(1, connAttrs(1, "192.0.2.2"), at(1, u64(1))),
		"short address":      genl(1, connAttrs(1, "192.0.2.2"), at(3, []byte{1, 2, 3, 4})),
		"flag with payload":  genl(1, connAttrs(1, "192.0.2.2"), at(8, u32(1))),
		"version too large":  genl(1, connAttrs(1, "192.0.2.2"), at(12, u32(0x10000))),
		"uptime too large":   genl(1, connAttrs(1, "192.0.2.2"), at(19, u64(1<<63))),
		"no state":           genl(1, at(1, u32(1)), at(2, u32(0)), at(3, mapped("192.0.2.1")), at(4, mapped("192.0.2.2"))),
		"attribute past end": genl(1, connAttrs(1, "192.0.2.2"), []byte{5, 0, 1, 0}),
		"empty attribute":    genl(1, connAttrs(1, "192.0.2.2"), []byte{0, 0, 1, 0}),
		"no genl header":     {1, 1},
		"cut attribute":      genl(1, connAttrs(1, "192.0.2.2"), []byte{9, 0, 1, 0}),
		"trailing bytes":     genl(1, connAttrs(1, "192.0.2.2"), []byte{9, 0}),
	} {
		k := newFakeKernel(t, func(r request) [][]byte { return [][]byte{r.reply(0, payload)} })
		if c, err := k.client().Conn(t.Context(), 1); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got %+v, %v", name, c, err)
		}
	}
}

func TestMalformedDatagrams(t *testing.T) {
	whole := func(r request) []byte { return r.reply(0, genl(1, connAttrs(1, "192.0.2.2"))) }
	for name, f := range map[string]func(request) []byte{
		"shorter than a header": func(r request) []byte { return whole(r)[:15] },
		"cut":                   func(r request) []byte { return whole(r)[:40] },
		"bytes behind":          func(r request) []byte { return cat(whole(r), []byte{1, 2, 3, 4}) },
		"length 0":              func(r request) []byte { b := whole(r); copy(b, u32(0)); return b },
		"error without number":  func(r request) []byte { return msg(tError, 0, r.seq, []byte{1, 2}) },
		"positive error":        func(r request) []byte { return msg(tError, 0, r.seq, cat(u32(22), r.raw[:16])) },
		"error without header":  func(r request) []byte { return msg(tError, fTLVs, r.seq, u32(^uint32(21))) },
	} {
		k := newFakeKernel(t, func(r request) [][]byte { return [][]byte{f(r)} })
		if c, err := k.client().Conn(t.Context(), 1); err == nil {
			t.Errorf("%s: accepted: %+v", name, c)
		}
	}
}

// TestEmptyReply: an acknowledgement in place of the object is not an object.
func TestEmptyReply(t *testing.T) {
	k := newFakeKernel(t, func(r request) [][]byte {
		return [][]byte{msg(tError, fCapped, r.seq, cat(u32(0), r.raw[:16]))}
	})
	if c, err := k.client().Conn(t.Context(), 1); !errors.Is(err, ErrMalformed) {
		t.Errorf("got %+v, %v", c, err)
	}
}

func ExampleDial() {
	c, err := Dial()
	if errors.Is(err, ErrNotLoaded) {
		fmt.Println("load rds_ext.ko first")
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = c.Close() }()
	conns, err := c.Conns(context.Background(), Filter{PeerKind: ptr(PeerKindStock)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, conn := range conns {
		fmt.Println(conn.Peer, "does not run rds_ext")
	}
}

func ExampleClient_SetSettings() {
	c, err := Dial()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = c.Close() }()
	on := true
	err = c.SetSettings(context.Background(), SettingsChange{VersionHeader: &on})
	if errors.Is(err, fs.ErrPermission) {
		fmt.Println("run this as root:", err)
	}
}

func ExampleClient_MRs() {
	c, err := Dial()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = c.Close() }()
	mrs, err := c.MRs(context.Background(), MRFilter{State: ptr(MRStateAdvertised)})
	if err != nil && !errors.Is(err, ErrPartial) {
		fmt.Println(err)
		return
	}
	for _, m := range mrs {
		if m.Age > time.Minute {
			fmt.Println(m.Command, m.PID, "waits for", *m.Peer, "to use", m.Length, "bytes")
		}
	}
}

func ExampleClient_Events() {
	c, err := Dial()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	events, err := c.Events(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = events.Close() }()
	for ev, err := range events.All() {
		switch {
		case err != nil:
			fmt.Println(err)
		case ev.Type == EventLost:
			fmt.Println("too slow: list the connections again")
		default:
			fmt.Println(ev.Type, ev.Conn.Local, ev.Conn.Peer)
		}
	}
}

func ExampleParseVersion() {
	v, err := ParseVersion("3.1")
	fmt.Println(v, v.Major(), v.Minor(), err)
	_, err = ParseVersion("3")
	fmt.Println(err)
	// Output:
	// 3.1 3 1 <nil>
	// gonl: version "3" is not of the form MAJOR.MINOR, such as 3.1, with numbers from 0 to 255
}
