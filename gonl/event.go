// SPDX-License-Identifier: MIT

package gonl

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"syscall"
	"time"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/gonl/spec"
)

// EventType says what happened.
type EventType uint8

const (
	// EventConnUp: a connection was established.
	EventConnUp EventType = iota + 1
	// EventConnDown: an established connection was lost or closed.
	EventConnDown
	// EventVersionLearnt: the peer's version header came in.
	EventVersionLearnt
	// EventLost: the reader was too slow, and the kernel dropped events. Those
	// before and after are complete; list the connections and MRs to catch up, or
	// have the stream do so with [EventStream.Resync].
	EventLost
	// EventMRAged: a use-once MR has reached the age of Settings.MRMaxAge.
	EventMRAged
	// EventMRRevoked: an MR was revoked, by an operator or for its age.
	EventMRRevoked
	// EventConnNow and EventMRNow: what there is after EventLost, see
	// [EventStream.Resync].
	EventConnNow
	EventMRNow
)

var eventTypeNames = nameTable{
	{uint32(EventConnUp), "conn-up"},
	{uint32(EventConnDown), "conn-down"},
	{uint32(EventVersionLearnt), "version-learnt"},
	{uint32(EventMRAged), "mr-aged"},
	{uint32(EventMRRevoked), "mr-revoked"},
	{uint32(EventLost), "events-lost"},
	{uint32(EventConnNow), "conn-now"},
	{uint32(EventMRNow), "mr-now"},
}

// String returns the name in the specification, or "events-lost", "conn-now" or
// "mr-now", which are not of the kernel.
func (t EventType) String() string { return eventTypeNames.name(uint32(t)) }

// MarshalText encodes t as String does; JSON uses it too.
func (t EventType) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText accepts what MarshalText makes.
func (t *EventType) UnmarshalText(text []byte) error {
	n, err := eventTypeNames.parse("event type", string(text))
	if err != nil {
		return err
	}
	if n > 255 {
		return fmt.Errorf("gonl: event type %d is over 255", n)
	}
	*t = EventType(n)
	return nil
}

// EventGroup is a kind of object that events are about.
type EventGroup uint8

const (
	// GroupConn has the events of connections: EventConnUp, EventConnDown and
	// EventVersionLearnt.
	GroupConn EventGroup = iota + 1
	// GroupMR has the events of MRs: EventMRAged and EventMRRevoked.
	GroupMR
)

var eventGroupNames = nameTable{
	{uint32(GroupConn), spec.GroupConn},
	{uint32(GroupMR), spec.GroupMR},
}

// String returns the name in the specification.
func (g EventGroup) String() string { return eventGroupNames.name(uint32(g)) }

// Event is something that happened to a connection or to an MR.
type Event struct {
	// Type says what happened.
	Type EventType
	// Time at which this program received the event.
	Time time.Time
	// Conn is the connection right after the event; nil for the events of MRs
	// and EventLost.
	Conn *Conn
	// MR is the MR right after the event; nil for the events of connections and
	// EventLost. Its RKey is nil: events go to everybody.
	MR *MR
}

// eventBuffer is how many bytes of events the kernel may keep for a slow
// reader, some 4,000 of them. The kernel may grant less.
const eventBuffer = 1 << 20

// EventStream is a subscription to the events of the client's network
// namespace. Its methods are for one goroutine, except Close.
type EventStream struct {
	ctx    context.Context
	link   link
	family uint16
	now    func() time.Time
	queue  []netlink.Message // of one datagram; the next is received when it is empty
	groups []EventGroup

	resync *Client // nil without Resync
	lost   bool    // since the last look at what there is
	states []Event // what there was at that look, as far as Next has not returned it
}

// Events subscribes to the events of the groups given, of connections if there
// is none. Everything that happens after Events has returned is in the stream,
// or accounted for by EventLost. The stream has a socket of its own; it ends
// with ctx or Close, not with the client.
func (c *Client) Events(ctx context.Context, groups ...EventGroup) (*EventStream, error) {
	if len(groups) == 0 {
		groups = []EventGroup{GroupConn}
	}
	if err := c.acquire(ctx); err != nil {
		return nil, fmt.Errorf("gonl: events: %w", err)
	}
	defer c.release()
	l, err := c.subscribe()
	if err != nil {
		return nil, err
	}
	s, err := c.events(ctx, l, groups)
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	return s, nil
}

// events joins the groups. That of the controller comes first: once it is
// joined, an unloading of the module cannot go unnoticed, and the look-up of
// the family behind it tells if it has happened before.
func (c *Client) events(ctx context.Context, l link, groups []EventGroup) (*EventStream, error) {
	ctrl, err := c.conn.GetFamily(ctrlFamily)
	if err != nil {
		return nil, fmt.Errorf("gonl: look up the controller: %w", plain(err))
	}
	if err := joinGroup(l, ctrl, ctrlGroup); err != nil {
		return nil, err
	}
	if err := c.resolve(); err != nil {
		return nil, err
	}
	for _, g := range groups {
		if err := joinGroup(l, c.family, g.String()); err != nil {
			return nil, err
		}
	}
	return &EventStream{ctx: ctx, link: l, family: c.family.ID, now: time.Now, groups: groups}, nil
}

// Names of the generic netlink controller and its group.
const (
	ctrlFamily = "nlctrl"
	ctrlGroup  = "notify"
)

func joinGroup(l link, f genetlink.Family, name string) error {
	for _, g := range f.Groups {
		if g.Name != name {
			continue
		}
		if err := l.join(g.ID); err != nil {
			return fmt.Errorf("gonl: join the multicast group %s of %s: %w", name, f.Name, err)
		}
		return nil
	}
	return malformed("family "+f.Name, fmt.Errorf("no multicast group %s", name))
}

// Close ends the stream; a Next under way fails with net.ErrClosed.
func (s *EventStream) Close() error { return s.link.close() }

// Resync has each EventLost followed by what there is: an EventConnNow for every
// connection, an EventMRNow for every MR, of the groups that the stream is of. So
// whoever keeps a picture can begin it anew: what is not among these is gone. Events
// behind them may be older than they are. c is asked for them, in calls of Next.
func (s *EventStream) Resync(c *Client) { s.resync = c }

// look lists what there is now. A list that keeps changing is good enough: what
// changes it comes as an event.
func (s *EventStream) look() error {
	for _, g := range s.groups {
		switch g {
		case GroupConn:
			list, err := s.resync.Conns(s.ctx, Filter{})
			if err != nil && !errors.Is(err, ErrPartial) {
				return err
			}
			for i := range list {
				s.states = append(s.states, Event{Type: EventConnNow, Time: s.now(), Conn: &list[i]})
			}
		case GroupMR:
			list, err := s.resync.MRs(s.ctx, MRFilter{})
			if err != nil && !errors.Is(err, ErrPartial) {
				return err
			}
			for i := range list {
				s.states = append(s.states, Event{Type: EventMRNow, Time: s.now(), MR: &list[i]})
			}
		}
	}
	s.lost = false
	return nil
}

// Next waits for the next event. It fails with the context's error when that
// has ended, with ErrNotLoaded when the module was unloaded, and with
// net.ErrClosed after Close. After an error the stream is at its end.
func (s *EventStream) Next() (Event, error) {
	if s.lost && s.resync != nil {
		if err := s.look(); err != nil {
			return Event{}, err
		}
	}
	for {
		if len(s.states) > 0 {
			ev := s.states[0]
			s.states = s.states[1:]
			return ev, nil
		}
		for len(s.queue) > 0 {
			m := s.queue[0]
			s.queue = s.queue[1:]
			ev, err := s.event(m)
			if err != nil {
				return Event{}, err
			}
			if ev != nil {
				return *ev, nil
			}
		}
		b, err := s.link.recv(s.ctx)
		if errors.Is(err, syscall.ENOBUFS) {
			s.lost = true
			return Event{Type: EventLost, Time: s.now()}, nil
		}
		if err != nil {
			return Event{}, fmt.Errorf("gonl: events: %w", plain(err))
		}
		if s.queue, err = splitDatagram(b); err != nil {
			return Event{}, err
		}
	}
}

// All yields the events until the stream ends, and then once the error that
// Next gave. It does not close the stream.
func (s *EventStream) All() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			ev, err := s.Next()
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// event reads a message, and returns nil for one that is none of ours.
func (s *EventStream) event(m netlink.Message) (*Event, error) {
	switch uint16(m.Header.Type) {
	case s.family:
		return parseEvent(m.Data, s.now())
	case unix.GENL_ID_CTRL:
		gone, err := parseFamilyGone(m.Data)
		if err != nil {
			return nil, err
		}
		if gone == s.family {
			return nil, fmt.Errorf("gonl: the module was unloaded: %w", ErrNotLoaded)
		}
	}
	return nil, nil
}

// parseEvent reads an event of the family; nil where it is of a newer kernel.
func parseEvent(b []byte, now time.Time) (*Event, error) {
	var m genetlink.Message
	if err := m.UnmarshalBinary(b); err != nil {
		return nil, malformed("event", err)
	}
	ev := &Event{Time: now}
	switch m.Header.Command {
	case spec.CmdConnUp:
		ev.Type = EventConnUp
	case spec.CmdConnDown:
		ev.Type = EventConnDown
	case spec.CmdVersionLearnt:
		ev.Type = EventVersionLearnt
	case spec.CmdMRAged:
		ev.Type = EventMRAged
	case spec.CmdMRRevoked:
		ev.Type = EventMRRevoked
	default:
		return nil, nil
	}
	switch ev.Type {
	case EventMRAged, EventMRRevoked:
		mr, err := parseMR(m.Data)
		if err != nil {
			return nil, err
		}
		ev.MR = &mr
	default:
		conn, err := parseConn(m.Data)
		if err != nil {
			return nil, err
		}
		ev.Conn = &conn
	}
	return ev, nil
}

// parseFamilyGone reads a message of the controller: the number of the family
// that was taken away, or 0 where it says something else.
func parseFamilyGone(b []byte) (uint16, error) {
	var m genetlink.Message
	if err := m.UnmarshalBinary(b); err != nil {
		return 0, malformed("controller event", err)
	}
	if m.Header.Command != unix.CTRL_CMD_DELFAMILY {
		return 0, nil
	}
	ad, err := netlink.NewAttributeDecoder(m.Data)
	if err != nil {
		return 0, malformed("controller event", err)
	}
	var id uint16
	for ad.Next() {
		if ad.Type() == unix.CTRL_ATTR_FAMILY_ID {
			id = ad.Uint16()
		}
	}
	if err := ad.Err(); err != nil {
		return 0, malformed("controller event", err)
	}
	return id, nil
}
