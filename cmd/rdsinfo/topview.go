// SPDX-License-Identifier: MIT

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/rds-ext/rds_ext/gonl"
)

// topSample is what two of a topView are made of.
type topSample struct {
	at       time.Time
	conns    []connState
	counters map[string]uint64 // of RDS
	loaded   bool              // rds_ext.ko, of which the others are
	mrs      gonl.MRStats
	pools    []gonl.Pool
}

// sample reads everything. A list that keeps changing is good enough here: the
// next view has another one.
func (a *app) sample(ctx context.Context) (s topSample, err error) {
	s.at, s.counters = time.Now(), map[string]uint64{}
	if s.conns, err = a.connStates(ctx, gonl.Filter{}, true); err != nil && !errors.Is(err, gonl.ErrPartial) {
		return s, err
	}
	err = a.withInfo(func(i info) error {
		list, err := i.Counters()
		for _, c := range list {
			s.counters[c.Name] = c.Value
		}
		return err
	})
	if err != nil {
		return s, err
	}
	err = a.with(func(c control) error {
		s.loaded = true
		if s.mrs, err = c.MRStats(ctx); err != nil {
			return err
		}
		s.pools, err = c.Pools(ctx)
		return err
	})
	if errors.Is(err, gonl.ErrNotLoaded) {
		s.loaded = false
		return s, nil
	}
	if errors.Is(err, gonl.ErrPartial) {
		return s, nil
	}
	return s, err
}

// topView is what "top" shows, in JSON. Programs depend on its names: add, but do
// not rename. Rates are for a second, and null where they are not known.
type topView struct {
	Time    time.Time  `json:"time"`
	Seconds float64    `json:"seconds"`
	Loaded  bool       `json:"rds_ext_loaded"`
	Host    topHost    `json:"host"`
	Pools   []topPool  `json:"pools"`
	Conns   []topConn  `json:"conns"`
	Events  []topEvent `json:"events"` // since the last view, 100 at most
}

// topHost is the whole host.
type topHost struct {
	Sent       *float64 `json:"sent_per_s"`
	Received   *float64 `json:"received_per_s"`
	Operations *float64 `json:"rdma_per_s"`
	Bytes      *float64 `json:"rdma_bytes_per_s"`
	Resets     *float64 `json:"resets_per_s"`
	Mapped     *float64 `json:"mrs_mapped_per_s"`
	LiveMRs    *uint64  `json:"mrs_live"`
}

// topPool is a pool.
type topPool struct {
	Device        string   `json:"device"`
	InUse         uint32   `json:"in_use"`
	MRs           uint32   `json:"mrs"`
	Limit         uint32   `json:"limit"`
	PinnedPages   uint64   `json:"pinned_pages"`
	Registrations *float64 `json:"registrations_per_s"`
	Local         *float64 `json:"local_invalidations_per_s"`
	Remote        *float64 `json:"remote_invalidations_per_s"`
}

// topConn is a connection.
type topConn struct {
	ID        *uint32    `json:"id"`
	Local     netip.Addr `json:"local"`
	Peer      netip.Addr `json:"peer"`
	Transport string     `json:"transport"`
	TOS       *uint8     `json:"tos"`
	State     string     `json:"state"`
	Sent      *float64   `json:"sent_per_s"`
	Received  *float64   `json:"received_per_s"`
	Queue     *depth     `json:"send_queue"`
	Unacked   *depth     `json:"retransmit_queue"`
	Downs     *uint64    `json:"downs"`
}

// topEvent is an event, in words.
type topEvent struct {
	Time  time.Time      `json:"time"`
	Event gonl.EventType `json:"event"`
	Text  string         `json:"text"`
}

func (e topEvent) line() string {
	return fmt.Sprintf("%s %-*s %s\n", e.Time.Format("15:04:05.000"), eventWidth, e.Event, e.Text)
}

// newTopView compares two samples.
func newTopView(before, now topSample, events []topEvent) topView {
	seconds := now.at.Sub(before.at).Seconds()
	rate := func(from, to uint64) *float64 {
		if to < from || seconds <= 0 { // it began anew
			return nil
		}
		r := float64(to-from) / seconds
		return &r
	}
	counter := func(name string) *float64 {
		from, ok := before.counters[name]
		to, still := now.counters[name]
		if !ok || !still {
			return nil
		}
		return rate(from, to)
	}
	v := topView{Time: now.at, Seconds: seconds, Loaded: now.loaded, Pools: []topPool{}, Conns: []topConn{}, Events: events}
	v.Host = topHost{
		Sent: counter("send_queued"), Received: counter("recv_queued"), Operations: counter("send_rdma"),
		Bytes: counter("send_rdma_bytes"), Resets: counter("conn_reset"),
	}
	if now.loaded {
		v.Host.LiveMRs = &now.mrs.Live
		if before.loaded {
			v.Host.Mapped = rate(before.mrs.Mapped, now.mrs.Mapped)
		}
	}
	was := map[string]gonl.Pool{}
	for _, p := range before.pools {
		was[p.Device] = p
	}
	for _, p := range now.pools {
		top := topPool{Device: p.Device, InUse: p.InUse, MRs: p.MRs, Limit: p.Limit, PinnedPages: p.PinnedPages}
		if old, ok := was[p.Device]; ok {
			top.Registrations = rate(old.Registrations, p.Registrations)
			top.Local, top.Remote = rate(old.LocalInvalidations, p.LocalInvalidations), rate(old.RemoteInvalidations, p.RemoteInvalidations)
		}
		v.Pools = append(v.Pools, top)
	}
	old := map[topKey]*connState{}
	for i := range before.conns {
		old[keyOf(&before.conns[i])] = &before.conns[i]
	}
	for i := range now.conns {
		c := &now.conns[i]
		v.Conns = append(v.Conns, newTopConn(c, old[keyOf(c)], rate))
	}
	slices.SortStableFunc(v.Conns, func(a, b topConn) int { return cmp.Compare(b.traffic(), a.traffic()) })
	return v
}

// topKey tells connections apart.
type topKey struct {
	connKey
	passive bool
}

func keyOf(c *connState) topKey {
	return topKey{connKey{pathKey{addrKey{c.Local, c.Peer}, c.Transport}, c.TOS}, c.Passive}
}

func newTopConn(c, old *connState, rate func(from, to uint64) *float64) topConn {
	top := topConn{
		Local: c.Local, Peer: c.Peer, Transport: c.Transport.String(), TOS: c.tos(), State: c.State.String(),
		Queue: c.send, Unacked: c.retransmit,
	}
	if c.tracked {
		top.ID, top.Downs = &c.ID, &c.Downs
	}
	if c.rds != nil && old != nil && old.rds != nil {
		top.Sent, top.Received = rate(old.rds.NextTx, c.rds.NextTx), rate(old.rds.NextRx, c.rds.NextRx)
	}
	return top
}

func (c topConn) traffic() (sum float64) {
	for _, r := range []*float64{c.Sent, c.Received} {
		if r != nil {
			sum += *r
		}
	}
	return sum
}

// rateText prints whole numbers, and fractions of small ones.
func rateText(r *float64) string {
	switch {
	case r == nil:
		return absent
	case *r == 0 || *r >= 100:
		return strconv.FormatFloat(*r, 'f', 0, 64)
	default:
		return strconv.FormatFloat(*r, 'f', 1, 64)
	}
}

var topPoolColumns = []column[topPool]{
	{"DEVICE", listLevel, func(p topPool) string { return p.Device }},
	{"IN USE", listLevel, func(p topPool) string { return strconv.FormatUint(uint64(p.InUse), 10) }},
	{"MRS", listLevel, func(p topPool) string { return strconv.FormatUint(uint64(p.MRs), 10) }},
	{"LIMIT", listLevel, func(p topPool) string { return strconv.FormatUint(uint64(p.Limit), 10) }},
	{"PINNED PAGES", listLevel, func(p topPool) string { return strconv.FormatUint(p.PinnedPages, 10) }},
	{"REGISTERED/S", listLevel, func(p topPool) string { return rateText(p.Registrations) }},
	{"INVALIDATED/S", listLevel, func(p topPool) string { return rateText(p.Local) }},
	{"BY PEERS/S", listLevel, func(p topPool) string { return rateText(p.Remote) }},
}

var topConnColumns = []column[topConn]{
	{"ID", listLevel, func(c topConn) string { return optionalNumber(c.ID) }},
	{"LOCAL", listLevel, func(c topConn) string { return c.Local.String() }},
	{"PEER", listLevel, func(c topConn) string { return c.Peer.String() }},
	{"TRANSPORT", listLevel, func(c topConn) string { return c.Transport }},
	{"TOS", listLevel, func(c topConn) string { return optionalNumber(c.TOS) }},
	{"STATE", listLevel, func(c topConn) string { return c.State }},
	{"TX/S", listLevel, func(c topConn) string { return rateText(c.Sent) }},
	{"RX/S", listLevel, func(c topConn) string { return rateText(c.Received) }},
	{"SEND QUEUE", listLevel, func(c topConn) string { return depthText(c.Queue) }},
	{"RETRANSMIT QUEUE", listLevel, func(c topConn) string { return depthText(c.Unacked) }},
	{"DOWNS", listLevel, func(c topConn) string { return optionalNumber(c.Downs) }},
}

// eventLog has the last events that nobody has taken.
type eventLog struct {
	max int

	mu   sync.Mutex
	list []topEvent
}

func (l *eventLog) add(ev gonl.Event) {
	if isState(ev) {
		return // the next view has it
	}
	e := topEvent{Time: ev.Time, Event: ev.Type}
	switch {
	case ev.Conn != nil:
		e.Text = fmt.Sprintf("connection %d %s -> %s", ev.Conn.ID, ev.Conn.Local, ev.Conn.Peer)
		if ev.Type == gonl.EventConnDown && ev.Conn.Down != nil {
			e.Text += fmt.Sprintf(": %v", ev.Conn.Down)
		}
	case ev.MR != nil:
		e.Text = fmt.Sprintf("MR %d of process %d %s, %s old", ev.MR.ID, ev.MR.PID, printable(ev.MR.Command), age(ev.MR.Age))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.list = append(l.list, e); len(l.list) > l.max {
		l.list = slices.Delete(l.list, 0, len(l.list)-l.max)
	}
}

// take hands out what there is.
func (l *eventLog) take() []topEvent {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := append([]topEvent{}, l.list...)
	l.list = nil
	return list
}
