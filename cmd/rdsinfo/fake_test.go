// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"net/netip"
	"syscall"
	"time"

	"github.com/rds-ext/rds_ext/gonl"
)

func ptr[T any](v T) *T { return &v }

// fakeControl is a module in memory.
type fakeControl struct {
	conns    []gonl.Conn
	exthdrs  []gonl.ExtHdr
	settings gonl.Settings
	events   []gonl.Event
	eventErr error // what follows the events
	err      error // of every call
	setErr   error
	changes  []gonl.SettingsChange
	closed   int
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

func (f *fakeControl) ExtHdrs(context.Context) ([]gonl.ExtHdr, error) { return f.exthdrs, f.err }

func (f *fakeControl) Settings(context.Context) (gonl.Settings, error) { return f.settings, f.err }

func (f *fakeControl) SetSettings(_ context.Context, c gonl.SettingsChange) error {
	if f.setErr != nil {
		return f.setErr
	}
	f.changes = append(f.changes, c)
	if c.VersionHeader != nil {
		f.settings.VersionHeader = *c.VersionHeader
	}
	if c.FeatureMask != nil {
		f.settings.FeatureMask = *c.FeatureMask
	}
	return nil
}

func (f *fakeControl) Close() error { f.closed++; return nil }

func (f *fakeControl) Events(ctx context.Context) (eventStream, error) {
	if f.err != nil {
		return nil, f.err
	}
	return &fakeStream{ctx, f}, nil
}

type fakeStream struct {
	ctx context.Context
	f   *fakeControl
}

func (s *fakeStream) Next() (gonl.Event, error) {
	if len(s.f.events) > 0 {
		ev := s.f.events[0]
		s.f.events = s.f.events[1:]
		return ev, nil
	}
	if s.f.eventErr != nil {
		return gonl.Event{}, s.f.eventErr
	}
	<-s.ctx.Done()
	return gonl.Event{}, s.ctx.Err()
}

func (s *fakeStream) Close() error { s.f.closed++; return nil }

// newFake has one connection of each kind.
func newFake() *fakeControl {
	v31 := ptr(gonl.Version(0x301))
	patched := gonl.Conn{
		ID: 1, Transport: gonl.TransportIB, Local: netip.MustParseAddr("192.0.2.1"), Peer: netip.MustParseAddr("192.0.2.2"),
		State: gonl.ConnStateUp, Paths: 1, Version: v31, PeerVersion: v31,
		Features: ptr(gonl.FeatureExtTypes), PeerFeatures: ptr(gonl.Feature(9)), AgreedFeatures: gonl.FeatureExtTypes,
		LearntFrom: gonl.LearntFromFirstPacket, PeerKind: gonl.PeerKindRDSExt,
		Ups: 2, Downs: 1, Uptime: ptr(61500 * time.Millisecond),
	}
	stock := gonl.Conn{
		ID: 2, Transport: gonl.TransportIB, Local: netip.MustParseAddr("192.0.2.1"), Peer: netip.MustParseAddr("192.0.2.33"),
		TOS: 4, State: gonl.ConnStateUp, Paths: 1, Version: v31, PeerVersion: v31, Features: ptr(gonl.Feature(0)),
		LearntFrom: gonl.LearntFromCMPrivateData, PeerKind: gonl.PeerKindStock, Ups: 1, Uptime: ptr(49 * time.Hour),
	}
	tcp := gonl.Conn{
		ID: 7, Transport: gonl.TransportTCP, Local: netip.MustParseAddr("2001:db8::1"), Peer: netip.MustParseAddr("2001:db8::2"),
		State: gonl.ConnStateConnecting, Paths: 8,
	}
	loop := gonl.Conn{
		ID: 8, Transport: gonl.TransportLoop, Local: netip.MustParseAddr("192.0.2.1"), Peer: netip.MustParseAddr("192.0.2.1"),
		State: gonl.ConnStateUp, Paths: 1, Loopback: true, Passive: true, Ups: 1, Uptime: ptr(2 * time.Hour),
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC)
	return &fakeControl{
		conns: []gonl.Conn{patched, stock, tcp, loop},
		exthdrs: []gonl.ExtHdr{
			{Type: 1, Name: "version", Length: ptr(uint32(4)), TX: 11, RX: 12, TXNoRoom: 13, TXDuplicate: 14, TXRejected: 15, RXUnknown: 16, RXTruncated: 17, RXDuplicate: 18},
			{Type: 200, RXUnknown: 3},
		},
		settings: gonl.Settings{VersionHeader: true, FeatureMask: 1, SupportedFeatures: 1, ProtocolVersion: 0x301, ModuleVersion: "0.1.0"},
		events: []gonl.Event{
			{Type: gonl.EventConnUp, Time: at, Conn: &patched},
			{Type: gonl.EventLost, Time: at.Add(time.Second)},
			{Type: gonl.EventVersionLearnt, Time: at.Add(2 * time.Second), Conn: &patched},
			{Type: gonl.EventConnDown, Time: at.Add(3 * time.Second), Conn: &tcp},
		},
	}
}
