// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/rds-ext/rds_ext/gonl"
)

// connView is a connection in JSON. Programs depend on its names: add, but do
// not rename.
type connView struct {
	Local          netip.Addr    `json:"local"`
	Peer           netip.Addr    `json:"peer"`
	Transport      string        `json:"transport"`
	State          string        `json:"state"`
	Version        *gonl.Version `json:"version"`
	PeerVersion    *gonl.Version `json:"peer_version"`
	Features       *gonl.Feature `json:"features"`
	PeerFeatures   *gonl.Feature `json:"peer_features"`
	AgreedFeatures gonl.Feature  `json:"agreed_features"`
	LearntFrom     string        `json:"learnt_from"`
	PeerKind       string        `json:"peer_kind"`
	TOS            uint8         `json:"tos"`
	ID             uint32        `json:"id"`
	Ups            uint64        `json:"ups"`
	Downs          uint64        `json:"downs"`
	UptimeMS       *int64        `json:"uptime_ms"`
	Paths          uint32        `json:"paths"`
	Loopback       bool          `json:"loopback"`
	Passive        bool          `json:"passive"`
	DownMS         *int64        `json:"down_ms"`
	DownReason     *string       `json:"down_reason"`
	DownCode       *uint32       `json:"down_code"`
	Attempts       uint32        `json:"attempts"`
	AttemptReason  *string       `json:"attempt_reason"`
	AttemptCode    *uint32       `json:"attempt_code"`
	Device         *string       `json:"device"`
	QPNum          *uint32       `json:"qp_num"`
	SL             *uint8        `json:"sl"`
	FlowControl    *bool         `json:"flow_control"`
}

func viewConn(c gonl.Conn) connView {
	v := connView{
		Local: c.Local, Peer: c.Peer, Transport: c.Transport.String(), State: c.State.String(),
		Version: c.Version, PeerVersion: c.PeerVersion,
		Features: c.Features, PeerFeatures: c.PeerFeatures, AgreedFeatures: c.AgreedFeatures,
		LearntFrom: learntFrom(c.LearntFrom), PeerKind: peerKind(c.PeerKind),
		TOS: c.TOS, ID: c.ID, Ups: c.Ups, Downs: c.Downs,
		Paths: c.Paths, Loopback: c.Loopback, Passive: c.Passive,
		UptimeMS: millis(c.Uptime), DownMS: millis(c.SinceDown), Attempts: c.Attempts,
	}
	v.DownReason, v.DownCode = viewEnd(c.Down)
	v.AttemptReason, v.AttemptCode = viewEnd(c.LastAttempt)
	if l := c.Link; l != nil {
		v.Device, v.QPNum, v.SL, v.FlowControl = &l.Device, &l.QPNum, &l.SL, &l.FlowControl
	}
	return v
}

func millis(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	ms := d.Milliseconds()
	return &ms
}

func viewEnd(e *gonl.End) (reason *string, code *uint32) {
	if e == nil {
		return nil, nil
	}
	name := e.Reason.String()
	return &name, e.Code
}

// learntFrom puts into plain words what the specification names in one word.
func learntFrom(l gonl.LearntFrom) string {
	switch l {
	case gonl.LearntFromNothing:
		return "nothing"
	case gonl.LearntFromCMPrivateData:
		return "CM private data"
	case gonl.LearntFromFirstPacket:
		return "first packet"
	default:
		return l.String()
	}
}

// peerKind calls the module by its name.
func peerKind(k gonl.PeerKind) string {
	if k == gonl.PeerKindRDSExt {
		return "rds_ext"
	}
	return k.String()
}

// absent stands for what is not known.
const absent = "-"

// optional prints what p points to.
func optional[T fmt.Stringer](p *T) string {
	if p == nil {
		return absent
	}
	return (*p).String()
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// uptime prints the two largest units, which is what people compare.
func uptime(d *time.Duration) string {
	if d == nil {
		return absent
	}
	s := int64(*d / time.Second)
	switch {
	case s >= 24*3600:
		return fmt.Sprintf("%dd%02dh", s/(24*3600), s/3600%24)
	case s >= 3600:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	case s >= 60:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	default:
		return fmt.Sprintf("%ds", s)
	}
}

// connHeader has the columns of a list of connections.
var connHeader = []string{
	"ID", "LOCAL", "PEER", "TRANSPORT", "TOS", "STATE", "VERSION", "PEER VERSION",
	"FEATURES", "PEER FEATURES", "LEARNT FROM", "PEER KIND", "UPTIME",
}

func connRow(c gonl.Conn) []string {
	return []string{
		strconv.FormatUint(uint64(c.ID), 10), c.Local.String(), c.Peer.String(), c.Transport.String(),
		strconv.Itoa(int(c.TOS)), c.State.String(), optional(c.Version), optional(c.PeerVersion),
		optional(c.Features), optional(c.PeerFeatures), learntFrom(c.LearntFrom), peerKind(c.PeerKind),
		uptime(c.Uptime),
	}
}

// connDetails has everything about one connection, a line each.
func connDetails(c gonl.Conn) [][]string {
	var rows [][]string
	for i, v := range connRow(c) {
		rows = append(rows, []string{strings.ToLower(connHeader[i]), v})
	}
	return append(rows,
		[]string{"agreed features", c.AgreedFeatures.String()},
		[]string{"ups", strconv.FormatUint(c.Ups, 10)},
		[]string{"downs", strconv.FormatUint(c.Downs, 10)},
		[]string{"paths", strconv.FormatUint(uint64(c.Paths), 10)},
		[]string{"loopback", yesNo(c.Loopback)},
		[]string{"passive", yesNo(c.Passive)},
		[]string{"last down", ago(c.SinceDown)},
		[]string{"down reason", optional(c.Down)},
		[]string{"failed attempts", strconv.FormatUint(uint64(c.Attempts), 10)},
		[]string{"attempt reason", optional(c.LastAttempt)},
		[]string{"link", linkText(c.Link)},
	)
}

// ago is uptime for what lies in the past.
func ago(d *time.Duration) string {
	if d == nil {
		return absent
	}
	return uptime(d) + " ago"
}

// linkText is what carries a connection over IB, in one line.
func linkText(l *gonl.Link) string {
	if l == nil {
		return absent
	}
	text := fmt.Sprintf("%s QP %#06x SL %d", l.Device, l.QPNum, l.SL)
	if l.FlowControl {
		text += " flow control"
	}
	return text
}
