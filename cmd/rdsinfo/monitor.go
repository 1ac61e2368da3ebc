// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/gonl"
)

const monitorHelp = `Print connections of this network namespace as they are established (conn-up)
and lost or closed (conn-down), and as the version of a peer is learnt from its
first packet (version-learnt), until Ctrl-C.

"ready" on stderr tells that the subscription stands: everything that happens
from then on is printed. "events-lost" tells that this program was too slow and
the kernel dropped events; run "rdsinfo conn" to see where things stand.

With --json, each event is one line: "time", "event", "conn" (as in
"rdsinfo conn --json"; null for events-lost).`

// eventView is an event in JSON.
type eventView struct {
	Time  time.Time      `json:"time"`
	Event gonl.EventType `json:"event"`
	Conn  *connView      `json:"conn"`
}

func (a *app) monitorCmd() *cobra.Command {
	var filter gonl.Filter
	var count uint
	cmd := &cobra.Command{
		Use:   "monitor",
		Short: "Print connection events as they happen",
		Long:  monitorHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("count") && count == 0 {
				return cli.Usagef("--count must be at least 1")
			}
			return a.with(func(c control) error {
				return a.monitor(cmd.Context(), c, filter, count)
			})
		},
	}
	filterFlags(cmd, &filter)
	cmd.Flags().UintVar(&count, "count", 0, "end after so many events, lost ones not counted")
	return cmd
}

// monitor prints events until count of them, or for ever if it is 0.
func (a *app) monitor(ctx context.Context, c control, f gonl.Filter, count uint) (err error) {
	s, err := c.Events(ctx)
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
		if ev.Conn != nil {
			if !f.Match(*ev.Conn) {
				continue
			}
			seen++
		}
		if err := a.printEvent(ev); err != nil {
			return err
		}
	}
	return nil
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
			conn := viewConn(*ev.Conn)
			v.Conn = &conn
		}
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		return a.print(append(b, '\n'))
	}
	stamp := ev.Time.Format("2006-01-02T15:04:05.000000Z07:00")
	if ev.Conn == nil {
		return a.print(fmt.Appendf(nil, "%s %s\n", stamp, ev.Type))
	}
	c := ev.Conn
	return a.print(fmt.Appendf(nil,
		"%s %-14s id %d %s -> %s %s tos %d state %s version %s peer version %s peer features %s learnt from %s peer kind %s\n",
		stamp, ev.Type, c.ID, c.Local, c.Peer, c.Transport, c.TOS, c.State,
		optional(c.Version), optional(c.PeerVersion), optional(c.PeerFeatures),
		learntFrom(c.LearntFrom), peerKind(c.PeerKind)))
}
