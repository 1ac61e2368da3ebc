// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/rds-ext/rds_ext/gonl"
	"github.com/rds-ext/rds_ext/internal/wire"
)

// The views of what a capture holds are objects of JSON. Programs depend on their
// names: add, but do not rename. What is not known is null.

// eventHead is what all events but the summary have.
type eventHead struct {
	Event string    `json:"event"`
	Time  time.Time `json:"time"`
	Frame int       `json:"frame"`

	since float64 // seconds since the first frame
}

func (d *decoder) head(event string, at time.Time, frame int) eventHead {
	return eventHead{event, at, frame, at.Sub(d.first).Seconds()}
}

func (h eventHead) appendText(b []byte) []byte {
	return fmt.Appendf(b, "%.6f #%d ", h.since, h.Frame)
}

// sideView is one side of a connection.
type sideView struct {
	Addr  netip.Addr `json:"addr"`
	QPNum *uint32    `json:"qp_num"`
	Port  *uint16    `json:"port"`
}

func viewSide(e wire.Endpoint) sideView {
	v := sideView{Addr: e.Addr}
	if e.QPN != 0 {
		v.QPNum = &e.QPN
	}
	if e.Port != 0 {
		v.Port = &e.Port
	}
	return v
}

// captureConnView is a connection when it is first seen. "begun" is false for one
// that is older than the capture.
type captureConnView struct {
	eventHead
	Conn      int            `json:"conn"`
	Transport wire.Transport `json:"transport"`
	Begun     bool           `json:"begun"`
	Active    sideView       `json:"active"`
	Passive   sideView       `json:"passive"`
	PathMTU   *int           `json:"path_mtu"`
	ServiceID *uint64        `json:"service_id"`

	text string
}

func (d *decoder) viewConn(c *wire.Conn) captureConnView {
	v := captureConnView{
		Conn: d.conns[c], Transport: c.Transport, Begun: !c.Start.IsZero(),
		Active: viewSide(c.Active), Passive: viewSide(c.Passive),
	}
	at := c.Start
	if !v.Begun {
		at = d.now
	}
	v.eventHead = d.head("conn", at, d.follower.Frames)
	v.text = fmt.Sprintf("conn %d over %s %s -> %s", v.Conn, c.Transport, endpointText(c.Active), endpointText(c.Passive))
	if c.PathMTU != 0 {
		v.PathMTU, v.ServiceID = &c.PathMTU, &c.ServiceID
		v.text += fmt.Sprintf(" path MTU %d", c.PathMTU)
	}
	if !v.Begun {
		v.text += " (older than the capture)"
	}
	return v
}

func (v captureConnView) appendText(b []byte) []byte {
	return append(v.eventHead.appendText(b), v.text...)
}

// cmView is a datagram of the connection manager.
type cmView struct {
	eventHead
	Src       netip.Addr `json:"src"`
	Dst       netip.Addr `json:"dst"`
	Type      string     `json:"type"`
	LocalID   uint32     `json:"local_id"`
	RemoteID  *uint32    `json:"remote_id"`
	QPNum     *uint32    `json:"qp_num"`
	ServiceID *uint64    `json:"service_id"`
	Reason    *uint16    `json:"reason"`
}

func (d *decoder) viewCM(e wire.CMEvent) cmView {
	v := cmView{
		eventHead: d.head("cm", e.Time, d.follower.Frames), Src: e.Src, Dst: e.Dst, Type: e.Type.String(), LocalID: e.LocalID,
	}
	switch e.Type {
	case wire.CMReq:
		v.QPNum, v.ServiceID = &e.QPN, &e.ServiceID
		return v
	case wire.CMRep:
		v.QPNum = &e.QPN
	case wire.CMRej:
		v.Reason = &e.Reason
	}
	v.RemoteID = &e.RemoteID
	return v
}

func (v cmView) appendText(b []byte) []byte {
	b = v.eventHead.appendText(b)
	b = fmt.Appendf(b, "%v -> %v CM %s id %#x", v.Src, v.Dst, v.Type, v.LocalID)
	if v.RemoteID != nil {
		b = fmt.Appendf(b, " peer's id %#x", *v.RemoteID)
	}
	if v.QPNum != nil {
		b = fmt.Appendf(b, " QP %#06x", *v.QPNum)
	}
	if v.Reason != nil {
		b = fmt.Appendf(b, " reason %d", *v.Reason)
	}
	return b
}

// extView is an extension header. Which of the last fields it has depends on the
// type; "data" has all of it.
type extView struct {
	Type          uint8         `json:"type"`
	Name          string        `json:"name"`
	Data          string        `json:"data"`
	Version       *gonl.Version `json:"version,omitempty"`
	Features      *gonl.Feature `json:"features,omitempty"`
	ReplyWanted   *bool         `json:"reply_wanted,omitempty"`
	RKey          *uint32       `json:"rkey,omitempty"`
	Offset        *uint32       `json:"offset,omitempty"`
	MayInvalidate *bool         `json:"may_invalidate,omitempty"`
}

func viewExt(e *wire.Ext) extView {
	v := extView{Type: uint8(e.Type), Name: e.Type.String(), Data: fmt.Sprintf("%x", e.Data)}
	switch e.Type {
	case wire.ExtVersion:
		protocol, features := e.Version()
		version, feature := gonl.Version(protocol), gonl.Feature(features&^wire.ReplyWanted)
		wanted := features&wire.ReplyWanted != 0
		v.Version, v.Features, v.ReplyWanted = &version, &feature, &wanted
	case wire.ExtRDMA:
		key := e.RKey()
		v.RKey = &key
	case wire.ExtRDMADest:
		key, offset := e.RKey(), e.Offset()
		v.RKey, v.Offset = &key, &offset
	case wire.ExtRDMADestFlags:
		may := e.DestFlags()&wire.MayInvalidate != 0
		v.MayInvalidate = &may
	}
	return v
}

func (v extView) String() string {
	var parts []string
	switch {
	case v.Version != nil:
		parts = append(parts, fmt.Sprintf("%v features %v", v.Version, v.Features))
		if *v.ReplyWanted {
			parts = append(parts, "reply wanted")
		}
	case v.RKey != nil:
		parts = append(parts, fmt.Sprintf("key %#08x", *v.RKey))
		if v.Offset != nil {
			parts = append(parts, fmt.Sprintf("offset %d", *v.Offset))
		}
	case v.MayInvalidate != nil && *v.MayInvalidate:
		parts = append(parts, "may invalidate")
	default:
		parts = append(parts, v.Data)
	}
	return fmt.Sprintf("[%s %s]", v.Name, strings.Join(parts, " "))
}

// captureMessageView is a message, or over IB a fragment of one.
type captureMessageView struct {
	eventHead
	Conn       int        `json:"conn"`
	Src        netip.Addr `json:"src"`
	SrcPort    uint16     `json:"src_port"`
	Dst        netip.Addr `json:"dst"`
	DstPort    uint16     `json:"dst_port"`
	Sequence   uint64     `json:"sequence"`
	Ack        uint64     `json:"ack"`
	Length     uint32     `json:"length"`
	Fragment   int        `json:"fragment"`
	Bytes      int        `json:"bytes"`
	Flags      []string   `json:"flags"`
	Credit     uint8      `json:"credit"`
	ChecksumOK bool       `json:"checksum_ok"`
	Ext        []extView  `json:"ext"`
	ExtError   *string    `json:"ext_error"`
	Invalidate *uint32    `json:"invalidate"`
	DestQP     *uint32    `json:"dest_qp"`
	PSN        *uint32    `json:"psn"`
}

func (d *decoder) viewMessage(m *wire.Message) captureMessageView {
	v := captureMessageView{
		eventHead: d.head("message", m.Time, m.N), Conn: d.conns[m.Conn], Src: m.Src, SrcPort: m.SPort, Dst: m.Dst, DstPort: m.DPort,
		Sequence: m.Sequence, Ack: m.Ack, Length: m.Len, Fragment: m.Fragment, Bytes: m.Bytes,
		Flags: m.FlagNames(), Credit: m.Credit, ChecksumOK: m.ChecksumOK, Ext: []extView{}, Invalidate: m.Invalidate,
	}
	for i := range m.Ext {
		v.Ext = append(v.Ext, viewExt(&m.Ext[i]))
	}
	if m.ExtErr != nil {
		text := m.ExtErr.Error()
		v.ExtError = &text
	}
	if m.Conn.Transport == wire.IB {
		v.DestQP, v.PSN = &m.DestQP, &m.PSN
	}
	return v
}

func (v captureMessageView) appendText(b []byte) []byte {
	b = v.eventHead.appendText(b)
	b = fmt.Appendf(b, "%v -> %v conn %d message %d ack %d length %d", netip.AddrPortFrom(v.Src, v.SrcPort),
		netip.AddrPortFrom(v.Dst, v.DstPort), v.Conn, v.Sequence, v.Ack, v.Length)
	if v.Fragment > 0 || v.Bytes < int(v.Length) {
		b = fmt.Appendf(b, " fragment %d of %d bytes", v.Fragment, v.Bytes)
	}
	if len(v.Flags) > 0 {
		b = fmt.Appendf(b, " %s", strings.Join(v.Flags, ","))
	}
	if v.Credit > 0 {
		b = fmt.Appendf(b, " credit %d", v.Credit)
	}
	for _, e := range v.Ext {
		b = fmt.Appendf(b, " %v", e)
	}
	if v.ExtError != nil {
		b = fmt.Appendf(b, " (%s)", *v.ExtError)
	}
	if v.Invalidate != nil {
		b = fmt.Appendf(b, " invalidates %#08x", *v.Invalidate)
	}
	if !v.ChecksumOK {
		b = append(b, " WRONG CHECKSUM"...)
	}
	return b
}

// operationView is an RDMA read or write.
type operationView struct {
	eventHead
	Conn   int        `json:"conn"`
	Src    netip.Addr `json:"src"`
	Dst    netip.Addr `json:"dst"`
	Op     string     `json:"op"`
	RKey   uint32     `json:"rkey"`
	VA     uint64     `json:"va"`
	Length uint32     `json:"length"`
	PSN    uint32     `json:"psn"`
}

func (d *decoder) viewOperation(op *wire.RDMAOp) operationView {
	v := operationView{
		eventHead: d.head("rdma", op.Time, op.N), Conn: d.conns[op.Conn], Src: op.Src, Dst: op.Dst, Op: "write",
		RKey: op.RKey, VA: op.VA, Length: op.Length, PSN: op.PSN,
	}
	if op.Read {
		v.Op = "read"
	}
	return v
}

func (v operationView) appendText(b []byte) []byte {
	return fmt.Appendf(v.eventHead.appendText(b), "%v -> %v conn %d RDMA %s key %#08x offset %d length %d",
		v.Src, v.Dst, v.Conn, v.Op, v.RKey, v.VA, v.Length)
}
