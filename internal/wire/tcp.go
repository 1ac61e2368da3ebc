// SPDX-License-Identifier: MIT

package wire

import (
	"fmt"
	"net/netip"
	"time"
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
	t       *Follower
	streams map[streamKey]*stream
}

func newTCPFollower(t *Follower) *tcpFollower {
	return &tcpFollower{t: t, streams: make(map[streamKey]*stream)}
}

func (tf *tcpFollower) segment(f Frame, p *Packet) {
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
	if st.broken {
		return
	}
	st.add(s.Seq, s.Payload)
	if s.Truncated || st.pending() > maxPending {
		if !s.Truncated {
			tf.t.undecodable(fmt.Errorf("from %v: %w", k.src, errPending))
		}
		tf.drain(st, f, p)
		st.giveUp()
		return
	}
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
	tf.t.conn(st.conn)
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

// pending is how much is kept that cannot be read yet.
func (st *stream) pending() int {
	n := len(st.buf)
	for _, b := range st.later {
		n += len(b)
	}
	return n
}

// giveUp reads no more of the stream: there is no way to find where the next
// message begins.
func (st *stream) giveUp() { st.broken, st.buf, st.later = true, nil, nil }

// drain takes complete messages off the front of the stream.
func (tf *tcpFollower) drain(st *stream, f Frame, p *Packet) {
	for !st.broken && len(st.buf) >= HeaderLen {
		h, err := DecodeHeader(st.buf)
		if err == nil && h.Len > maxTCPMessage {
			err = fmt.Errorf("RDS message of %d bytes over TCP from %v: out of step", h.Len, p.Src)
		}
		if err != nil {
			st.giveUp()
			tf.t.undecodable(err)
			return
		}
		n := HeaderLen + int(h.Len)
		if len(st.buf) < n {
			return
		}
		tf.t.message(&Message{
			Time: f.Time, Link: f.Link, Src: p.Src, Dst: p.Dst, Conn: st.conn, Header: h, Bytes: int(h.Len),
			Payload: append([]byte(nil), st.buf[HeaderLen:n]...),
		})
		st.buf = st.buf[n:]
	}
}
