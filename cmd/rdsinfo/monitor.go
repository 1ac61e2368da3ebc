// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/gonl"
)

const monitorHelp = `Print what happens in this network namespace, until Ctrl-C: connections as they
are established (conn-up) and lost or closed (conn-down), and as the version of a
peer is learnt from its first packet (version-learnt); use-once MRs that are
still in use at the age of the setting mr-max-age-ms (mr-aged), and MRs that were
revoked (mr-revoked). --events chooses.

--local and --peer select MRs by the address of their socket and by their peer.
The other filters are about connections alone, and leave MRs out.

"ready" on stderr tells that the subscription stands: everything that happens
from then on is printed. "events-lost" tells that this program was too slow and
the kernel dropped events; behind it comes what there is now, "conn-now" for each
connection and "mr-now" for each MR.

With --json, each event is one line: "time", "event", "conn" (as in
"rdsinfo conn --json"; null for the others), "mr" (as in "rdsinfo mr --json";
null for the others).`

// eventView is an event in JSON.
type eventView struct {
	Time  time.Time       `json:"time"`
	Event gonl.EventType  `json:"event"`
	Conn  *connView       `json:"conn"`
	MR    json.RawMessage `json:"mr"`
}

// eventGroups are the kinds of events that --events takes.
var eventGroups = []gonl.EventGroup{gonl.GroupConn, gonl.GroupMR}

func (a *app) monitorCmd() *cobra.Command {
	var filter gonl.Filter
	var count uint
	var kinds []string
	cmd := &cobra.Command{
		Use:   "monitor",
		Short: "Print events of connections and MRs as they happen",
		Long:  monitorHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("count") && count == 0 {
				return cli.Usagef("--count must be at least 1")
			}
			groups, err := wantedGroups(kinds, filter)
			if err != nil {
				return err
			}
			return a.with(func(c control) error {
				return a.monitor(cmd.Context(), c, groups, filter, count)
			})
		},
	}
	filterFlags(cmd, &filter)
	fl := cmd.Flags()
	fl.UintVar(&count, "count", 0, "end after so many events; lost ones, and what there is after them, not counted")
	fl.StringSliceVar(&kinds, "events", nil, "only events of this `KIND`: conn or mr; both with a comma between, or without this flag")
	completeFlags(cmd, map[string][]string{"events": {"conn", "mr"}})
	return cmd
}

// connsOnly tells whether f asks for something that MRs do not have.
func connsOnly(f gonl.Filter) bool {
	f.Local, f.Peer = netip.Addr{}, netip.Addr{}
	return f != gonl.Filter{}
}

// matchMR tells whether f, which is about connections, selects an MR.
func matchMR(f gonl.Filter, m *gonl.MR) bool {
	return !connsOnly(f) && (!f.Local.IsValid() || f.Local.Unmap() == m.BoundAddr) &&
		(!f.Peer.IsValid() || m.Peer != nil && f.Peer.Unmap() == *m.Peer)
}

// wantedGroups reads --events. Without it, it is what the filter can select.
func wantedGroups(kinds []string, f gonl.Filter) ([]gonl.EventGroup, error) {
	if len(kinds) == 0 {
		if connsOnly(f) {
			return []gonl.EventGroup{gonl.GroupConn}, nil
		}
		return eventGroups, nil
	}
	var out []gonl.EventGroup
	for _, kind := range kinds {
		i := slices.IndexFunc(eventGroups, func(g gonl.EventGroup) bool { return g.String() == kind })
		switch {
		case i < 0:
			return nil, cli.Usagef("--events is conn, mr or conn,mr, not %q", strings.Join(kinds, ","))
		case eventGroups[i] == gonl.GroupMR && connsOnly(f):
			return nil, cli.Usagef("--events mr goes with the filters --local and --peer only; the others are about connections")
		case !slices.Contains(out, eventGroups[i]):
			out = append(out, eventGroups[i])
		}
	}
	return out, nil
}

// monitor prints events until count of them, or for ever if it is 0.
func (a *app) monitor(ctx context.Context, c control, groups []gonl.EventGroup, f gonl.Filter, count uint) (err error) {
	s, err := c.Events(ctx, groups...)
	if err != nil {
		return ended(err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if _, err := fmt.Fprintln(a.stderr, "ready"); err != nil {
		return fmt.Errorf("write to stderr: %w", err)
	}
	for seen := uint(0); count == 0 || seen < count; {
		ev, err := s.Next()
		if err != nil {
			return ended(err)
		}
		switch {
		case ev.Conn != nil && !f.Match(*ev.Conn), ev.MR != nil && !matchMR(f, ev.MR):
			continue
		case ev.Type != gonl.EventLost && !isState(ev):
			seen++
		}
		if err := a.printEvent(ev); err != nil {
			return err
		}
	}
	return nil
}

// isState tells whether it is no event, but what there is after lost ones.
func isState(ev gonl.Event) bool {
	return ev.Type == gonl.EventConnNow || ev.Type == gonl.EventMRNow
}

// ended takes Ctrl-C for what it is here: the normal end.
func ended(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (a *app) printEvent(ev gonl.Event) error {
	if a.json {
		v := eventView{Time: ev.Time, Event: ev.Type}
		if ev.Conn != nil {
			conn := viewConn(&connState{Conn: *ev.Conn, tracked: true})
			v.Conn = &conn
		}
		if ev.MR != nil {
			v.MR = newMREncoder("").append(nil, ev.MR)
		}
		// It puts the MR on one line, too.
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		return a.print(append(b, '\n'))
	}
	line := fmt.Appendf(nil, "%s %-*s", ev.Time.Format("2006-01-02T15:04:05.000000Z07:00"), eventWidth, ev.Type)
	switch {
	case ev.Conn != nil:
		line = appendConnEvent(line, ev.Type, ev.Conn)
	case ev.MR != nil:
		line = appendMREvent(line, ev.MR)
	default:
		line = bytes.TrimRight(line, " ")
	}
	return a.print(append(line, '\n'))
}

// eventWidth is that of the longest name, which the others are padded to.
const eventWidth = len("version-learnt")

func appendConnEvent(b []byte, ev gonl.EventType, c *gonl.Conn) []byte {
	b = fmt.Appendf(b,
		" id %d %s -> %s %s tos %d state %s version %s peer version %s peer features %s learnt from %s peer kind %s",
		c.ID, c.Local, c.Peer, c.Transport, c.TOS, c.State,
		optional(c.Version), optional(c.PeerVersion), optional(c.PeerFeatures),
		learntFrom(c.LearntFrom), peerKind(c.PeerKind))
	if ev == gonl.EventConnDown && c.Down != nil {
		b = fmt.Appendf(b, " reason %s", c.Down)
	}
	return b
}

func appendMREvent(b []byte, m *gonl.MR) []byte {
	return fmt.Appendf(b,
		" id %d device %s pid %d command %s socket %d bound to %s length %d pages %d flags %s state %s age %s peer %s",
		m.ID, m.Device, m.PID, printable(m.Command), m.Socket, endpoint(m.BoundAddr, m.BoundPort), m.Length, m.Pages,
		m.Flags, m.State, age(m.Age), optional(m.Peer))
}
