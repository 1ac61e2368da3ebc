// SPDX-License-Identifier: MIT

package wire

import (
	"fmt"
	"net/netip"
)

// flowKey names the requests that one side sends to a queue pair of the other.
type flowKey struct {
	src, dst netip.Addr
	qpn      uint32
}

// A flow follows the requests in one direction of a connection.
type flow struct {
	conn *Conn
	next uint32 // expected sequence number
	sure bool   // whether next is known
	send *Message
	data []byte // of the SEND under way
	size int    // of it on the wire
}

// cmKey names a connection that is being set up, by the active side.
type cmKey struct {
	active netip.Addr
	id     uint32
}

// readKey names a read by the last packet of its response.
type readKey struct {
	conn      *Conn
	requester netip.Addr
	psn       uint32
}

type ibFollower struct {
	t       *Follower
	flows   map[flowKey]*flow
	reads   map[readKey]*RDMAOp // those that are not answered
	reqs    map[cmKey]CMEvent
	conns   map[cmKey]*Conn
	unknown map[[2]netip.Addr]*Conn // connections older than the capture
}

func newIBFollower(t *Follower) *ibFollower {
	return &ibFollower{
		t: t, flows: make(map[flowKey]*flow), reads: make(map[readKey]*RDMAOp), reqs: make(map[cmKey]CMEvent),
		conns: make(map[cmKey]*Conn), unknown: make(map[[2]netip.Addr]*Conn),
	}
}

func (ib *ibFollower) packet(f Frame, p *Packet) {
	switch {
	case p.RoCE.CM != nil:
		ib.manager(CMEvent{Time: f.Time, Src: p.Src, Dst: p.Dst, CM: p.RoCE.CM})
	case p.RoCE.Opcode.RC() && !p.RoCE.Opcode.Response():
		ib.request(f, p)
	case p.RoCE.Opcode == ReadLast || p.RoCE.Opcode == ReadOnly:
		ib.answered(p)
	}
}

func (ib *ibFollower) manager(e CMEvent) {
	ib.t.manager(e)
	switch e.Type {
	case CMReq:
		// Repeated until it is answered; the first says when.
		k := cmKey{e.Src, e.LocalID}
		if _, ok := ib.reqs[k]; !ok {
			ib.reqs[k] = e
		}
	case CMRep:
		k := cmKey{e.Dst, e.RemoteID}
		req, ok := ib.reqs[k]
		if !ok || ib.conns[k] != nil {
			return // older than the capture, or a repetition
		}
		ib.accepted(k, req, e)
	case CMRtu:
		if c := ib.conns[cmKey{e.Src, e.LocalID}]; c != nil {
			c.Established = true
		}
	}
}

// accepted begins a connection with both its flows.
func (ib *ibFollower) accepted(k cmKey, req, rep CMEvent) {
	c := &Conn{
		Transport: IB, Start: rep.Time, PathMTU: req.PathMTU, ServiceID: req.ServiceID,
		Active:  Endpoint{Addr: req.Src, QPN: req.QPN},
		Passive: Endpoint{Addr: rep.Src, QPN: rep.QPN},
	}
	ib.conns[k] = c
	ib.t.conn(c)
	// Each side says where the numbers of what it will receive begin.
	ib.flows[flowKey{req.Src, rep.Src, rep.QPN}] = &flow{conn: c, next: rep.StartPSN, sure: true}
	ib.flows[flowKey{rep.Src, req.Src, req.QPN}] = &flow{conn: c, next: req.StartPSN, sure: true}
}

// request takes a packet of a SEND, WRITE or READ request.
func (ib *ibFollower) request(f Frame, p *Packet) {
	r := p.RoCE
	k := flowKey{p.Src, p.Dst, r.DestQP}
	fl := ib.flows[k]
	if fl == nil {
		fl = &flow{conn: ib.older(p.Src, p.Dst)}
		ib.flows[k] = fl
	}
	if fl.conn.foreign() {
		ib.t.Foreign++
		return
	}
	if !fl.expects(r) {
		return
	}
	switch {
	case r.RETH != nil:
		op := &RDMAOp{
			Time: f.Time, N: ib.t.Frames, Link: f.Link, Src: p.Src, Dst: p.Dst, Conn: fl.conn,
			Read: r.Opcode == ReadRequest, RETH: *r.RETH, PSN: r.PSN,
		}
		ib.t.operation(op)
		if op.Read && fl.sure {
			ib.reads[readKey{fl.conn, p.Src, (fl.next - 1) & psnMask}] = op
		}
	case r.Opcode.Send():
		ib.piece(fl, f, p)
	}
}

// answered takes the last packet of the response to a read. Its number is that
// of a request, so that a response that is sent again finds nothing.
func (ib *ibFollower) answered(p *Packet) {
	fl := ib.flows[flowKey{p.Src, p.Dst, p.RoCE.DestQP}]
	if fl == nil {
		return // it belongs to a request that the capture does not have
	}
	k := readKey{fl.conn, p.Dst, p.RoCE.PSN}
	if op := ib.reads[k]; op != nil {
		op.Answered = ib.t.Frames
		delete(ib.reads, k)
	}
}

// older is the connection for traffic whose set-up the capture has not seen.
// There is one for each pair of addresses.
func (ib *ibFollower) older(a, b netip.Addr) *Conn {
	k := [2]netip.Addr{a, b}
	if b.Less(a) {
		k = [2]netip.Addr{b, a}
	}
	c := ib.unknown[k]
	if c == nil {
		c = &Conn{Transport: IB, Active: Endpoint{Addr: k[0]}, Passive: Endpoint{Addr: k[1]}, Established: true}
		ib.unknown[k] = c
		ib.t.conn(c)
	}
	return c
}

// psnMask makes a sequence number of 24 bits.
const psnMask = 1<<24 - 1

// expects reports whether the packet is the next one of the flow: neither one
// that is sent again nor one behind a gap, which the receiver will ask for
// again. It moves on if so.
func (fl *flow) expects(r *RoCE) bool {
	if !fl.sure {
		// In the middle of something; begin with the next request.
		if r.Opcode.Send() && !r.Opcode.starts() {
			return false
		}
		fl.sure = true
	} else if r.PSN != fl.next {
		return false
	}
	fl.next = (r.PSN + fl.takes(r)) & psnMask
	return true
}

// takes is how many sequence numbers a request takes: a READ as many as its
// response has packets.
func (fl *flow) takes(r *RoCE) uint32 {
	if r.Opcode != ReadRequest || r.RETH.Length == 0 {
		return 1
	}
	mtu := uint32(fl.conn.PathMTU)
	if mtu == 0 {
		fl.sure = false // not known: go by the next packet
		return 1
	}
	return (r.RETH.Length + mtu - 1) / mtu
}

// piece adds a packet to the SEND under way.
func (ib *ibFollower) piece(fl *flow, f Frame, p *Packet) {
	r := p.RoCE
	if r.Opcode.starts() {
		fl.send, fl.data, fl.size = &Message{Src: p.Src, Dst: p.Dst, Conn: fl.conn, DestQP: r.DestQP, PSN: r.PSN}, nil, 0
	}
	if fl.send == nil {
		return // its beginning is older than the capture
	}
	// Behind a truncated packet, what follows would stand in the wrong place.
	if fl.size == len(fl.data) {
		fl.data = append(fl.data, r.Payload...)
	}
	if fl.size += r.Bytes; fl.size > maxPending {
		fl.send, fl.data = nil, nil
		ib.t.undecodable(fmt.Errorf("from %v to queue pair %d: %w", p.Src, r.DestQP, errPending))
		return
	}
	if !r.Opcode.ends() {
		return
	}
	m, data := fl.send, fl.data
	fl.send, fl.data = nil, nil
	m.Time, m.Link, m.Invalidate = f.Time, f.Link, r.Invalidate
	var err error
	if m.Header, err = DecodeHeader(data); err != nil {
		ib.t.undecodable(fmt.Errorf("SEND from %v to queue pair %d: %w", m.Src, m.DestQP, err))
		return
	}
	m.Payload, m.Bytes = data[HeaderLen:], fl.size-HeaderLen
	ib.t.message(m)
}
