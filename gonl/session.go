// SPDX-License-Identifier: MIT

package gonl

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/mdlayher/netlink"
)

// session is what netlink.Conn runs on. It adds to the library what requests
// of this package need: the context of the call, the interruption flag of
// dumps (which may come on the final message only, and the library drops that
// one), and recovery after a call that was given up half-way.
//
// It is not safe for concurrent use; Client serialises its calls.
type session struct {
	link link
	ctx  context.Context
	// seq of the request at hand; open until its last message was received.
	seq  uint32
	open bool
	// interrupted tells that a message of the reply had NLM_F_DUMP_INTR.
	interrupted bool
}

// Close is part of the interface of a netlink socket.
func (s *session) Close() error { return s.link.close() }

// Send starts a request. The rest of the reply to an earlier request is read
// first: the kernel runs one dump a socket, and would call the socket busy.
func (s *session) Send(m netlink.Message) error {
	for s.open {
		b, err := s.link.recv(s.ctx)
		if err != nil {
			return err
		}
		msgs, err := splitDatagram(b)
		if err != nil {
			return err
		}
		for _, old := range msgs {
			s.note(old)
		}
	}
	b, err := m.MarshalBinary()
	if err != nil {
		return err
	}
	if err := s.link.send(s.ctx, b); err != nil {
		return err
	}
	s.seq, s.open, s.interrupted = m.Header.Sequence, true, false
	return nil
}

// SendMessages is part of the interface of a netlink socket.
func (s *session) SendMessages([]netlink.Message) error {
	return fmt.Errorf("gonl: one request at a time")
}

// Receive is part of the interface of a netlink socket.
func (s *session) Receive() ([]netlink.Message, error) {
	var out []netlink.Message
	for m, err := range s.ReceiveIter() {
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// ReceiveIter yields the messages of the next datagram that belongs to the
// request at hand, each in memory of its own, since the library may keep them.
func (s *session) ReceiveIter() iter.Seq2[netlink.Message, error] {
	return func(yield func(netlink.Message, error) bool) {
		for m, err := range s.messages() {
			m.Data = bytes.Clone(m.Data)
			if !yield(m, err) {
				return
			}
		}
	}
}

// messages is ReceiveIter without copies: what it yields is good until the next
// datagram is received.
func (s *session) messages() iter.Seq2[netlink.Message, error] {
	return func(yield func(netlink.Message, error) bool) {
		for found := false; !found; {
			b, err := s.link.recv(s.ctx)
			if err != nil {
				yield(netlink.Message{}, err)
				return
			}
			msgs, err := splitDatagram(b)
			if err != nil {
				yield(netlink.Message{}, err)
				return
			}
			// All of them are noted before any is handed out: whoever stops
			// half-way must not make the next request wait for an end that
			// has come already.
			mine := msgs[:0]
			for _, m := range msgs {
				if s.note(m) {
					mine = append(mine, m)
				}
			}
			for _, m := range mine {
				found = true
				if err := parseAck(m); err != nil {
					yield(netlink.Message{}, err)
					return
				}
				if !yield(m, nil) {
					return
				}
			}
		}
	}
}

// note keeps the books on a message and reports whether it belongs to the
// request at hand.
func (s *session) note(m netlink.Message) bool {
	if m.Header.Sequence != s.seq {
		return false
	}
	if m.Header.Flags&netlink.DumpInterrupted != 0 {
		s.interrupted = true
	}
	if m.Header.Type == netlink.Done || m.Header.Type == netlink.Error || m.Header.Flags&netlink.Multi == 0 {
		s.open = false
	}
	return true
}

// splitDatagram takes the messages of a datagram apart. They share its memory.
func splitDatagram(b []byte) ([]netlink.Message, error) {
	// Those of a list have some 200 bytes.
	out := make([]netlink.Message, 0, 1+len(b)/128)
	for len(b) > 0 {
		if len(b) < nlHeaderLen {
			return nil, malformed("datagram", fmt.Errorf("%d bytes behind the last message", len(b)))
		}
		n := int(binary.NativeEndian.Uint32(b))
		if n < nlHeaderLen || n > len(b) {
			return nil, malformed("datagram", fmt.Errorf("message of %d bytes with %d left", n, len(b)))
		}
		out = append(out, netlink.Message{
			Header: netlink.Header{
				Length:   uint32(n),
				Type:     netlink.HeaderType(binary.NativeEndian.Uint16(b[4:])),
				Flags:    netlink.HeaderFlags(binary.NativeEndian.Uint16(b[6:])),
				Sequence: binary.NativeEndian.Uint32(b[8:]),
				PID:      binary.NativeEndian.Uint32(b[12:]),
			},
			Data: b[nlHeaderLen:n:n],
		})
		// The last message need not be padded.
		b = b[min((n+3)&^3, len(b)):]
	}
	return out, nil
}
