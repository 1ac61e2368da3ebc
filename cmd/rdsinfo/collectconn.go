// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rds-ext/rds_ext/gonl"
)

// connGroup is what connections are counted by.
type connGroup struct{ transport, state, version, peerVersion, peerKind string }

func (g connGroup) labels() []string {
	return []string{
		"transport", g.transport, "state", g.state, "version", g.version, "peer_version", g.peerVersion, "peer_kind", g.peerKind,
	}
}

// known is empty, as labels want it, for what is not known.
func known(text string) string {
	if text == absent {
		return ""
	}
	return text
}

// conns has the connections.
func (c *collector) conns(out metrics) error {
	list, err := c.a.connStates(c.ctx, gonl.Filter{}, true)
	if err != nil && !errors.Is(err, gonl.ErrPartial) {
		return err
	}
	groups := map[connGroup]int{}
	features := map[gonl.Feature]int{}
	seen := map[string]bool{}
	for i := range list {
		s := &list[i]
		g := connGroup{transport: s.Transport.String(), state: s.State.String()}
		if s.tracked {
			g.version, g.peerVersion, g.peerKind = known(optional(s.Version)), known(optional(s.PeerVersion)), peerKind(s.PeerKind)
			for bit := range 32 {
				if f := gonl.Feature(1) << bit; s.AgreedFeatures&f != 0 {
					features[f]++
				}
			}
		}
		groups[g]++
		labels := []string{
			"local", s.Local.String(), "peer", s.Peer.String(), "transport", g.transport,
			"tos", known(optionalNumber(s.tos())), "passive", strconv.FormatBool(s.Passive),
		}
		// A list that keeps changing can have a connection twice.
		if key := strings.Join(labels, " "); !seen[key] {
			seen[key] = true
			oneConn(out, s, labels)
		}
	}
	for _, g := range slices.SortedFunc(maps.Keys(groups), compareGroups) {
		out.gauge("rds_connections", "RDS connections.", float64(groups[g]), g.labels()...)
	}
	for _, f := range slices.Sorted(maps.Keys(features)) {
		out.gauge("rds_ext_feature_connections", "Connections on which a feature is agreed.", float64(features[f]), "feature", f.String())
	}
	return err
}

func compareGroups(a, b connGroup) int { return slices.Compare(a.labels(), b.labels()) }

func oneConn(out metrics, s *connState, labels []string) {
	out.gauge("rds_connection_up", "Whether the connection is established.", gaugeBool(s.State == gonl.ConnStateUp), labels...)
	if s.tracked {
		out.counter("rds_ext_connection_ups_total", "How often the connection was established since rds_ext.ko tracks it.", s.Ups, labels...)
		out.counter("rds_ext_connection_downs_total", "How often the connection was lost or closed since rds_ext.ko tracks it.", s.Downs, labels...)
		out.gauge("rds_ext_connection_failed_attempts", "Attempts to set the connection up that have failed since it was up last.", float64(s.Attempts), labels...)
	}
	if s.Down != nil {
		out.gauge("rds_ext_connection_down_reason", "Why the connection was lost or closed last, as a label; the value is the number of seconds since.",
			s.SinceDown.Seconds(), slices.Concat(labels, []string{"reason", s.Down.Reason.String()})...)
	}
	if s.rds != nil {
		// The numbers of the next messages, of which the first is 1.
		out.counter("rds_connection_sent_messages_total", "Messages that were given a sequence number to be sent, since the connection exists.", before(s.rds.NextTx), labels...)
		out.counter("rds_connection_received_messages_total", "Messages with a sequence number that were received, since the connection exists.", before(s.rds.NextRx), labels...)
	}
	for _, q := range []struct {
		name string
		d    *depth
	}{{"send", s.send}, {"retransmit", s.retransmit}} {
		if q.d != nil {
			queue := slices.Concat(labels, []string{"queue", q.name})
			out.gauge("rds_connection_queue_messages", "Messages of the connection in a queue.", float64(q.d.Messages), queue...)
			out.gauge("rds_connection_queue_bytes", "Bytes of the connection's messages in a queue.", float64(q.d.Bytes), queue...)
		}
	}
}

// before is n-1, 0 for 0.
func before(n uint64) uint64 { return n - min(n, 1) }
