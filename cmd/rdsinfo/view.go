// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"github.com/rds-ext/rds_ext/gonl"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// connView is a connection in JSON. What is not known is null. Programs depend on
// its names: add, but do not rename.
type connView struct {
	Local           netip.Addr    `json:"local"`
	Peer            netip.Addr    `json:"peer"`
	Transport       string        `json:"transport"`
	State           string        `json:"state"`
	Version         *gonl.Version `json:"version"`
	PeerVersion     *gonl.Version `json:"peer_version"`
	Features        *gonl.Feature `json:"features"`
	PeerFeatures    *gonl.Feature `json:"peer_features"`
	AgreedFeatures  *gonl.Feature `json:"agreed_features"`
	LearntFrom      string        `json:"learnt_from"`
	PeerKind        string        `json:"peer_kind"`
	TOS             *uint8        `json:"tos"`
	ID              *uint32       `json:"id"`
	Ups             *uint64       `json:"ups"`
	Downs           *uint64       `json:"downs"`
	UptimeMS        *int64        `json:"uptime_ms"`
	Paths           *uint32       `json:"paths"`
	Loopback        *bool         `json:"loopback"`
	Passive         *bool         `json:"passive"`
	DownMS          *int64        `json:"down_ms"`
	DownReason      *string       `json:"down_reason"`
	DownCode        *uint32       `json:"down_code"`
	Attempts        *uint32       `json:"attempts"`
	AttemptReason   *string       `json:"attempt_reason"`
	AttemptCode     *uint32       `json:"attempt_code"`
	Device          *string       `json:"device"`
	QPNum           *uint32       `json:"qp_num"`
	SL              *uint8        `json:"sl"`
	FlowControl     *bool         `json:"flow_control"`
	NextTX          *uint64       `json:"next_tx"`
	NextRX          *uint64       `json:"next_rx"`
	Sending         *bool         `json:"sending"`
	SendQueue       *depth        `json:"send_queue"`
	RetransmitQueue *depth        `json:"retransmit_queue"`
	Source          string        `json:"source"`
}

// Where what is known of a connection is from.
const (
	sourceRDSExt  = "rds_ext"
	sourceRDSInfo = "rds_info" // the RDS_INFO socket options
)

func viewConn(c *connState) connView {
	v := connView{
		Local: c.Local, Peer: c.Peer, Transport: c.Transport.String(), State: c.State.String(),
		Version: c.Version, PeerVersion: c.PeerVersion, Features: c.Features, PeerFeatures: c.PeerFeatures,
		LearntFrom: learntFrom(c.LearntFrom), PeerKind: peerKind(c.PeerKind), TOS: c.tos(),
		UptimeMS: millis(c.Uptime), DownMS: millis(c.SinceDown),
		SendQueue: c.send, RetransmitQueue: c.retransmit, Source: sourceRDSInfo,
	}
	if c.tracked {
		v.Source = sourceRDSExt
		v.ID, v.Ups, v.Downs, v.Attempts, v.Paths = &c.ID, &c.Ups, &c.Downs, &c.Attempts, &c.Paths
		v.AgreedFeatures, v.Loopback, v.Passive = &c.AgreedFeatures, &c.Loopback, &c.Passive
	}
	v.DownReason, v.DownCode = viewEnd(c.Down)
	v.AttemptReason, v.AttemptCode = viewEnd(c.LastAttempt)
	if l := c.Link; l != nil {
		v.Device, v.QPNum, v.SL, v.FlowControl = &l.Device, &l.QPNum, &l.SL, &l.FlowControl
	}
	if r := c.rds; r != nil {
		v.NextTX, v.NextRX, v.Sending = &r.NextTx, &r.NextRx, &r.Sending
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

// tos is nil where it is not known.
func (c *connState) tos() *uint8 {
	if c.noTOS {
		return nil
	}
	return &c.TOS
}

// connColumn makes a column of what only rds_ext.ko knows.
func connColumn(name string, level int, text func(*connState) string) column[*connState] {
	return column[*connState]{name, level, func(c *connState) string {
		if !c.tracked {
			return absent
		}
		return text(c)
	}}
}

// rdsColumn makes a column of what only RDS itself tells.
func rdsColumn(name string, text func(*rds.Connection) string) column[*connState] {
	return column[*connState]{name, wideLevel, func(c *connState) string {
		if c.rds == nil {
			return absent
		}
		return text(c.rds)
	}}
}

var connColumns = []column[*connState]{
	connColumn("ID", listLevel, func(c *connState) string { return strconv.FormatUint(uint64(c.ID), 10) }),
	{"LOCAL", listLevel, func(c *connState) string { return c.Local.String() }},
	{"PEER", listLevel, func(c *connState) string { return c.Peer.String() }},
	{"TRANSPORT", listLevel, func(c *connState) string { return c.Transport.String() }},
	{"TOS", listLevel, func(c *connState) string { return optionalNumber(c.tos()) }},
	{"STATE", listLevel, func(c *connState) string { return c.State.String() }},
	connColumn("VERSION", listLevel, func(c *connState) string { return optional(c.Version) }),
	connColumn("PEER VERSION", listLevel, func(c *connState) string { return optional(c.PeerVersion) }),
	connColumn("FEATURES", listLevel, func(c *connState) string { return optional(c.Features) }),
	connColumn("PEER FEATURES", listLevel, func(c *connState) string { return optional(c.PeerFeatures) }),
	connColumn("LEARNT FROM", listLevel, func(c *connState) string { return learntFrom(c.LearntFrom) }),
	connColumn("PEER KIND", listLevel, func(c *connState) string { return peerKind(c.PeerKind) }),
	connColumn("UPTIME", listLevel, func(c *connState) string { return uptime(c.Uptime) }),
	connColumn("AGREED FEATURES", wideLevel, func(c *connState) string { return c.AgreedFeatures.String() }),
	connColumn("UPS", wideLevel, func(c *connState) string { return strconv.FormatUint(c.Ups, 10) }),
	connColumn("DOWNS", wideLevel, func(c *connState) string { return strconv.FormatUint(c.Downs, 10) }),
	connColumn("PATHS", fullLevel, func(c *connState) string { return strconv.FormatUint(uint64(c.Paths), 10) }),
	connColumn("LOOPBACK", fullLevel, func(c *connState) string { return yesNo(c.Loopback) }),
	connColumn("PASSIVE", fullLevel, func(c *connState) string { return yesNo(c.Passive) }),
	connColumn("LAST DOWN", wideLevel, func(c *connState) string { return ago(c.SinceDown) }),
	connColumn("DOWN REASON", wideLevel, func(c *connState) string { return optional(c.Down) }),
	connColumn("FAILED ATTEMPTS", wideLevel, func(c *connState) string { return strconv.FormatUint(uint64(c.Attempts), 10) }),
	connColumn("ATTEMPT REASON", fullLevel, func(c *connState) string { return optional(c.LastAttempt) }),
	connColumn("LINK", wideLevel, func(c *connState) string { return linkText(c.Link) }),
	rdsColumn("NEXT TX", func(c *rds.Connection) string { return strconv.FormatUint(c.NextTx, 10) }),
	rdsColumn("NEXT RX", func(c *rds.Connection) string { return strconv.FormatUint(c.NextRx, 10) }),
	rdsColumn("SENDING", func(c *rds.Connection) string { return yesNo(c.Sending) }),
	{"SEND QUEUE", wideLevel, func(c *connState) string { return depthText(c.send) }},
	{"RETRANSMIT QUEUE", wideLevel, func(c *connState) string { return depthText(c.retransmit) }},
}

// pointers spares columns the copying of what is large.
func pointers[T any](list []T) []*T {
	out := make([]*T, 0, len(list))
	for i := range list {
		out = append(out, &list[i])
	}
	return out
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
