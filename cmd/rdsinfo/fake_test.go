// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/rds-ext/rds_ext/gonl"
)

func ptr[T any](v T) *T { return &v }

// fakeControl is a module in memory.
type fakeControl struct {
	conns    []gonl.Conn
	exthdrs  []gonl.ExtHdr
	mrs      []gonl.MR
	pools    []gonl.Pool
	stats    gonl.MRStats
	settings gonl.Settings
	events   []gonl.Event
	eventErr error // what follows the events
	err      error // of every call
	setErr   error
	changes  []gonl.SettingsChange
	revoked  []uint32
	dropped  []uint32
	gone     uint32 // a connection or MR that ends before it is hit
	resets   int

	mu     sync.Mutex // "top" reads events beside everything else
	closed int
}

func (f *fakeControl) Conns(_ context.Context, filter gonl.Filter) ([]gonl.Conn, error) {
	var out []gonl.Conn
	for _, c := range f.conns {
		if filter.Match(c) {
			out = append(out, c)
		}
	}
	return out, f.err
}

func (f *fakeControl) Conn(_ context.Context, id uint32) (gonl.Conn, error) {
	for _, c := range f.conns {
		if c.ID == id {
			return c, f.err
		}
	}
	return gonl.Conn{}, &gonl.OpError{Op: "conn-get", Errno: syscall.ENOENT, Message: "no such connection", Attr: "id", Offset: 20}
}

func (f *fakeControl) ResetConn(_ context.Context, id uint32) error {
	if f.setErr != nil {
		return f.setErr
	}
	if id == f.gone {
		return &gonl.OpError{Op: "conn-reset", Errno: syscall.ENOENT, Message: "no such connection", Attr: "id", Offset: 20}
	}
	f.dropped = append(f.dropped, id)
	return f.err
}

func (f *fakeControl) ExtHdrs(context.Context) ([]gonl.ExtHdr, error) { return f.exthdrs, f.err }

func (f *fakeControl) MRs(_ context.Context, filter gonl.MRFilter) ([]gonl.MR, error) {
	var out []gonl.MR
	for _, m := range f.mrs {
		if filter.Match(m) {
			out = append(out, m)
		}
	}
	return out, f.err
}

func (f *fakeControl) MR(_ context.Context, id uint32) (gonl.MR, error) {
	for _, m := range f.mrs {
		if m.ID == id {
			return m, f.err
		}
	}
	return gonl.MR{}, &gonl.OpError{Op: "mr-get", Errno: syscall.ENOENT, Message: "no such MR", Attr: "id", Offset: 20}
}

func (f *fakeControl) RevokeMR(_ context.Context, id uint32) error {
	if f.setErr != nil {
		return f.setErr
	}
	if id == f.gone {
		return &gonl.OpError{Op: "mr-revoke", Errno: syscall.ENOENT, Message: "no such MR", Attr: "id", Offset: 20}
	}
	f.revoked = append(f.revoked, id)
	return f.err
}

func (f *fakeControl) MRStats(context.Context) (gonl.MRStats, error) { return f.stats, f.err }

func (f *fakeControl) Pools(context.Context) ([]gonl.Pool, error) { return f.pools, f.err }

func (f *fakeControl) ResetPeaks(context.Context) error {
	if f.setErr != nil {
		return f.setErr
	}
	f.resets++
	return f.err
}

func (f *fakeControl) Settings(context.Context) (gonl.Settings, error) { return f.settings, f.err }

func (f *fakeControl) SetSettings(_ context.Context, c gonl.SettingsChange) error {
	if f.setErr != nil {
		return f.setErr
	}
	f.changes = append(f.changes, c)
	f.settings = c.Apply(f.settings)
	return nil
}

func (f *fakeControl) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed++
	return nil
}

func (f *fakeControl) Events(ctx context.Context, groups ...gonl.EventGroup) (eventStream, error) {
	if f.err != nil {
		return nil, f.err
	}
	return &fakeStream{ctx, f, groups}, nil
}

type fakeStream struct {
	ctx    context.Context
	f      *fakeControl
	groups []gonl.EventGroup
}

// wants tells whether an event is of a group that was subscribed to.
func (s *fakeStream) wants(ev gonl.Event) bool {
	return (ev.Conn == nil || slices.Contains(s.groups, gonl.GroupConn)) &&
		(ev.MR == nil || slices.Contains(s.groups, gonl.GroupMR))
}

func (s *fakeStream) Next() (gonl.Event, error) {
	for len(s.f.events) > 0 {
		ev := s.f.events[0]
		s.f.events = s.f.events[1:]
		if s.wants(ev) {
			return ev, nil
		}
	}
	if s.f.eventErr != nil {
		return gonl.Event{}, s.f.eventErr
	}
	<-s.ctx.Done()
	return gonl.Event{}, s.ctx.Err()
}

func (s *fakeStream) Close() error { return s.f.Close() }

// newFake has one connection of each kind.
func newFake() *fakeControl {
	v31 := ptr(gonl.Version(0x301))
	patched := gonl.Conn{
		ID: 1, Transport: gonl.TransportIB, Local: netip.MustParseAddr("192.0.2.1"), Peer: netip.MustParseAddr("192.0.2.2"),
		State: gonl.ConnStateUp, Paths: 1, Version: v31, PeerVersion: v31,
		Features: ptr(gonl.FeatureExtTypes), PeerFeatures: ptr(gonl.Feature(9)), AgreedFeatures: gonl.FeatureExtTypes,
		LearntFrom: gonl.LearntFromFirstPacket, PeerKind: gonl.PeerKindRDSExt,
		Ups: 2, Downs: 1, Uptime: ptr(61500 * time.Millisecond),
		SinceDown: ptr(62 * time.Second), Down: &gonl.End{Reason: gonl.EndReasonSendError, Code: ptr(uint32(12))},
		Link: &gonl.Link{Device: "rxe0", QPNum: 0x12, SL: 3, FlowControl: true},
	}
	stock := gonl.Conn{
		ID: 2, Transport: gonl.TransportIB, Local: netip.MustParseAddr("192.0.2.1"), Peer: netip.MustParseAddr("192.0.2.33"),
		TOS: 4, State: gonl.ConnStateUp, Paths: 1, Version: v31, PeerVersion: v31, Features: ptr(gonl.Feature(0)),
		LearntFrom: gonl.LearntFromCMPrivateData, PeerKind: gonl.PeerKindStock, Ups: 1, Uptime: ptr(49 * time.Hour),
	}
	tcp := gonl.Conn{
		ID: 7, Transport: gonl.TransportTCP, Local: netip.MustParseAddr("2001:db8::1"), Peer: netip.MustParseAddr("2001:db8::2"),
		State: gonl.ConnStateConnecting, Paths: 8, Downs: 1, SinceDown: ptr(1500 * time.Millisecond),
		Down:     &gonl.End{Reason: gonl.EndReasonUnknown},
		Attempts: 2, LastAttempt: &gonl.End{Reason: gonl.EndReasonUnknown},
	}
	loop := gonl.Conn{
		ID: 8, Transport: gonl.TransportLoop, Local: netip.MustParseAddr("192.0.2.1"), Peer: netip.MustParseAddr("192.0.2.1"),
		State: gonl.ConnStateUp, Paths: 1, Loopback: true, Passive: true, Ups: 1, Uptime: ptr(2 * time.Hour),
	}
	peer := netip.MustParseAddr("192.0.2.2")
	advertised := gonl.MR{
		ID: 5, Device: "rxe0", PID: 4711, Command: "oracle", UID: 1000, Socket: 34567,
		BoundAddr: netip.MustParseAddr("192.0.2.1"), BoundPort: 4000, RKey: ptr(uint32(0xa12ff00)), Length: 8191, Pages: 3,
		Flags: gonl.MRFlagUseOnce | gonl.MRFlagInSendmsg | 1<<20, State: gonl.MRStateAdvertised, Age: 61500 * time.Millisecond,
		ConnID: ptr(uint32(1)), Peer: &peer,
	}
	mapped := gonl.MR{
		ID: 6, Device: "mlx5_0", PID: 4712, Command: "bad\n\"<name>\"\x1b[2J", Socket: 34568,
		BoundAddr: netip.MustParseAddr("2001:db8::1"), BoundPort: 4001, Length: 1 << 20, Pages: 256,
		State: gonl.MRStateMapped, Age: 1500 * time.Millisecond,
	}
	revoked := gonl.MR{
		ID: 4000000000, Device: "rxe0", PID: 1, Length: 1, Pages: 1, Flags: gonl.MRFlagForDest | gonl.MRFlagInvalidating,
		State: gonl.MRStateRevoked, Peer: &peer,
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC)
	return &fakeControl{
		conns: []gonl.Conn{patched, stock, tcp, loop},
		exthdrs: []gonl.ExtHdr{
			{Type: 1, Name: "version", Length: ptr(uint32(4)), TX: 11, RX: 12, TXNoRoom: 13, TXDuplicate: 14, TXRejected: 15, RXUnknown: 16, RXTruncated: 17, RXDuplicate: 18},
			{Type: 200, RXUnknown: 3},
		},
		mrs: []gonl.MR{advertised, mapped, revoked},
		pools: []gonl.Pool{
			{
				Device: "rxe0", Limit: 32768, MRs: 32, MRsPeak: 40, InUse: 8, InUsePeak: 16, Invalidating: 1, Free: 22, Quarantined: 1,
				PinnedPages: 24, PinnedPagesPeak: 48, Allocated: 41, Deallocated: 9, Registrations: 100000, LocalInvalidations: 50000,
				InvalidationChains: 1000, RemoteInvalidations: 49990, Recoveries: 2, StaleReplaced: 3, Exhausted: 4,
			},
			{Device: "mlx5_0", Limit: 1 << 20},
		},
		stats: gonl.MRStats{
			Mapped: 1 << 40, Live: 2, Advertised: 3, Released: 4, RemotelyInvalidated: 5, Freed: 6, Orphaned: 7, Unsent: 8, Expired: 9,
			Revoked: 10, DeviceRemoved: 11, Failed: 12, Aged: 13, LimitedSocket: 14, LimitedUser: 15, LimitedPool: 16,
			ReleaseRefused: 17, InvalidateForeign: 18,
		},
		settings: gonl.Settings{
			VersionHeader: true, FeatureMask: 1, SupportedFeatures: 3, ProtocolVersion: 0x301, ModuleVersion: "0.1.0",
			MREngine: true, MRPoolMax: 32768, MRSockBytes: 1 << 33, MRMaxAge: time.Minute,
		},
		events: []gonl.Event{
			{Type: gonl.EventConnUp, Time: at, Conn: &patched},
			{Type: gonl.EventLost, Time: at.Add(time.Second)},
			{Type: gonl.EventConnNow, Time: at.Add(1500 * time.Millisecond), Conn: &patched},
			{Type: gonl.EventMRNow, Time: at.Add(1500 * time.Millisecond), MR: &mapped},
			{Type: gonl.EventVersionLearnt, Time: at.Add(2 * time.Second), Conn: &patched},
			{Type: gonl.EventConnDown, Time: at.Add(3 * time.Second), Conn: &tcp},
			{Type: gonl.EventMRAged, Time: at.Add(4 * time.Second), MR: &advertised},
			{Type: gonl.EventMRRevoked, Time: at.Add(5 * time.Second), MR: &mapped},
			{Type: gonl.EventMRRevoked, Time: at.Add(6 * time.Second), MR: &revoked},
		},
	}
}
