// SPDX-License-Identifier: MIT

package wire

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/rds-ext/rds_ext/test/vm/ether"
)

// maxTCPMessage is the longest RDS message that is taken for one, in bytes. A
// greater length means that the follower is out of step.
const maxTCPMessage = 16 << 20

// streamKey names one direction of a TCP connection.
type streamKey struct{ src, dst netip.AddrPort }

// A stream puts the bytes of one direction in order.
type stream struct {
	conn   *Conn
	next   uint32 // sequence number of the next byte
	later  map[uint32][]byte
	buf    []byte
	broken bool // out of step: nothing more can be read
}

type tcpFollower struct {
	t       *Trace
	streams map[streamKey]*stream
}

func newTCPFollower(t *Trace) *tcpFollower {
	return &tcpFollower{t: t, streams: make(map[streamKey]*stream)}
}

func (tf *tcpFollower) segment(f ether.Frame, p *Packet) {
	s := p.TCP
	k := streamKey{netip.AddrPortFrom(p.Src, s.SrcPort), netip.AddrPortFrom(p.Dst, s.DstPort)}
	back := streamKey{k.dst, k.src}
	if s.SYN {
		tf.open(f.Time, k, back, s)
		return
	}
	st := tf.streams[k]
	if st == nil || len(s.Payload) == 0 {
		return // a connection that is older than the capture cannot be read
	}
	st.add(s.Seq, s.Payload)
	tf.drain(st, f, p)
}

func (tf *tcpFollower) open(at time.Time, k, back streamKey, s *Segment) {
	if st := tf.streams[k]; st != nil && st.next == s.Seq+1 {
		return // sent again
	}
	st := &stream{next: s.Seq + 1, later: make(map[uint32][]byte)}
	tf.streams[k] = st
	if peer := tf.streams[back]; peer != nil && s.Ack == peer.next {
		st.conn = peer.conn // the answer
		st.conn.Established = true
		return
	}
	st.conn = &Conn{
		Transport: TCP, Start: at,
		Active:  Endpoint{Addr: k.src.Addr(), Port: k.src.Port()},
		Passive: Endpoint{Addr: k.dst.Addr(), Port: k.dst.Port()},
	}
	tf.t.Conns = append(tf.t.Conns, st.conn)
}

// add takes a piece of the stream, which may be old, or early.
func (st *stream) add(seq uint32, b []byte) {
	if old := int32(st.next - seq); old > 0 {
		if int(old) >= len(b) {
			return
		}
		b, seq = b[old:], st.next
	}
	if seq != st.next {
		if len(b) > len(st.later[seq]) {
			st.later[seq] = append([]byte(nil), b...)
		}
		return
	}
	st.buf = append(st.buf, b...)
	st.next += uint32(len(b))
	for s, late := range st.later {
		if int32(s-st.next) <= 0 {
			delete(st.later, s)
			st.add(s, late)
			return
		}
	}
}

// drain takes complete messages off the front of the stream.
func (tf *tcpFollower) drain(st *stream, f ether.Frame, p *Packet) {
	for !st.broken && len(st.buf) >= HeaderLen {
		h, err := DecodeHeader(st.buf)
		if err == nil && h.Len > maxTCPMessage {
			err = fmt.Errorf("RDS message of %d bytes over TCP from %v: out of step", h.Len, p.Src)
		}
		if err != nil {
			st.broken = true
			tf.t.undecodable(err)
			return
		}
		n := HeaderLen + int(h.Len)
		if len(st.buf) < n {
			return
		}
		tf.t.addMessage(&Message{
			Time: f.Time, Link: f.Link, Src: p.Src, Dst: p.Dst, Conn: st.conn, Header: h,
			Payload: append([]byte(nil), st.buf[HeaderLen:n]...),
		})
		st.buf = st.buf[n:]
	}
}
