// SPDX-License-Identifier: MIT

package wire

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A keyScript is a conversation about R_Keys, on a connection from a (who owns
// them) to b, with a path MTU of 1024.
type keyScript struct {
	*recording
	psnA, psnB uint32
	seq        uint64
}

const (
	scriptQPA = 17
	scriptQPB = 18
)

func newKeyScript(t *testing.T) *keyScript {
	s := &keyScript{recording: &recording{t: t}}
	s.connect()
	return s
}

func (s *keyScript) connect() {
	s.psnA, s.psnB = 100, 0xfffffe
	id := uint32(len(s.frames))
	s.recording.connect(handshake{idA: id + 1, idB: id + 2, qpA: scriptQPA, qpB: scriptQPB, psnA: s.psnA, psnB: s.psnB})
}

func be32(v uint32) []byte { return binary.BigEndian.AppendUint32(nil, v) }

// offer sends a key from a to b, with flags unless they are nil.
func (s *keyScript) offer(rkey uint32, flags []byte) {
	s.seq++
	ext := slices.Concat([]byte{3}, be32(rkey), be32(0))
	if flags != nil {
		ext = slices.Concat(ext, []byte{9}, flags)
	}
	s.roce(addrA, addrB, SendOnly, scriptQPB, s.psnA, nil, rdsHeader(s.seq, 0, 0, ext...))
	s.psnA++
}

func (s *keyScript) next(n uint32) uint32 {
	psn := s.psnB
	s.psnB = (s.psnB + n) & psnMask
	return psn
}

func (s *keyScript) write(rkey uint32) {
	reth := slices.Concat(make([]byte, 8), be32(rkey), be32(1500))
	s.roce(addrB, addrA, WriteFirst, scriptQPA, s.next(1), reth, make([]byte, 1024))
	s.roce(addrB, addrA, WriteLast, scriptQPA, s.next(1), nil, make([]byte, 476))
}

// read asks for 1,500 bytes and returns the number of the first packet of the
// response.
func (s *keyScript) read(rkey uint32) uint32 {
	psn := s.next(2)
	s.roce(addrB, addrA, ReadRequest, scriptQPA, psn, slices.Concat(make([]byte, 8), be32(rkey), be32(1500)), nil)
	return psn
}

func (s *keyScript) respond(psn uint32) {
	s.roce(addrA, addrB, ReadFirst, scriptQPB, psn, make([]byte, 4), make([]byte, 1024))
	s.roce(addrA, addrB, ReadLast, scriptQPB, (psn+1)&psnMask, make([]byte, 4), make([]byte, 476))
}

// done sends the message behind an operation from b to a: it names a key in an
// extension header, unless that is 0, and invalidates one, unless that is 0.
func (s *keyScript) done(named, invalidated uint32) {
	s.seq++
	s.fragment(s.seq, 0, 0, named, invalidated)
}

// fragment sends n bytes of a message of length bytes.
func (s *keyScript) fragment(seq uint64, length, n int, named, invalidated uint32) {
	var ext, ieth []byte
	if named != 0 {
		ext = slices.Concat([]byte{2}, be32(named))
	}
	first, last := SendFirst, SendLast
	if invalidated != 0 {
		last, ieth = SendLastInv, be32(invalidated)
	}
	b := append(rdsHeader(seq, length, 0, ext...), make([]byte, n)...)
	cut := len(b) / 2
	s.roce(addrB, addrA, first, scriptQPA, s.next(1), nil, b[:cut])
	s.roce(addrB, addrA, last, scriptQPA, s.next(1), ieth, b[cut:])
}

func TestKeys(t *testing.T) {
	s := newKeyScript(t)
	s.offer(0x10, []byte{MayInvalidate})
	s.offer(0x20, nil)
	psn := s.read(0x20)
	s.write(0x10)
	s.done(0x10, 0x10)
	s.respond(psn)
	s.respond(psn) // sent again
	s.done(0x20, 0)
	s.offer(0x10, []byte{0x80}) // the same number anew
	s.write(0x30)               // offered in another way
	tr := s.analyse()
	if tr.Undecoded != 0 {
		t.Fatalf("%d undecoded: %v", tr.Undecoded, tr.FirstError)
	}
	var got []string
	for _, k := range tr.Keys() {
		if k.Owner != addrA || k.Conn != tr.Conns[0] {
			t.Errorf("key %+v", k)
		}
		if err := k.CheckInvalidation(); err != nil {
			t.Error(err)
		}
		got = append(got, fmt.Sprintf("%#x offered %v leave %v used %d released %d invalidated %d",
			k.RKey, k.Offer != nil, k.MayInvalidate, len(k.RDMA), len(k.Releases), len(k.Invalidations)))
	}
	want := []string{
		"0x10 offered true leave true used 1 released 1 invalidated 1",
		"0x20 offered true leave false used 1 released 1 invalidated 0",
		"0x10 offered true leave false used 0 released 0 invalidated 0",
		"0x30 offered false leave false used 1 released 0 invalidated 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	keys := tr.Keys()
	inv := keys[0].Invalidations[0]
	if *inv.Invalidate != 0x10 || inv.Src != addrB || inv.N <= keys[0].RDMA[0].N || inv.N <= keys[0].Offer.N {
		t.Errorf("invalidation %+v", inv)
	}
	if w := keys[0].RDMA[0]; w.Read || w.Answered != 0 || w.Length != 1500 || w.Src != addrB {
		t.Errorf("write %+v", w)
	}
	// The frame that ended the first response, not its repetition.
	if r := keys[1].RDMA[0]; !r.Read || r.Answered != inv.N+2 {
		t.Errorf("read %+v, want the response to end at %d", r, inv.N+2)
	}
}

func TestCheckInvalidation(t *testing.T) {
	leave := []byte{MayInvalidate}
	for _, tt := range []struct {
		name   string
		script func(s *keyScript)
		want   string
	}{
		{"write", func(s *keyScript) { s.offer(1, leave); s.write(1); s.done(1, 1) }, ""},
		{"read", func(s *keyScript) { s.offer(1, leave); psn := s.read(1); s.respond(psn); s.done(1, 1) }, ""},
		{"not used", func(s *keyScript) { s.offer(1, leave); s.write(1); s.done(1, 0) }, ""},
		{"last of two fragments", func(s *keyScript) {
			s.offer(1, leave)
			s.write(1)
			s.fragment(9, 4196, 4096, 1, 0)
			s.fragment(9, 4196, 100, 1, 1)
		}, ""},
		{"never offered", func(s *keyScript) { s.write(1); s.done(1, 1) }, "without having been offered"},
		{"another key", func(s *keyScript) { s.offer(1, leave); s.write(1); s.done(1, 2) }, "key 0x00000002 of 10.0.0.1: invalidated"},
		{"no leave", func(s *keyScript) { s.offer(1, nil); s.write(1); s.done(1, 1) }, "without leave"},
		{"other flags", func(s *keyScript) { s.offer(1, []byte{0xfe}); s.write(1); s.done(1, 1) }, "without leave"},
		{"twice", func(s *keyScript) { s.offer(1, leave); s.write(1); s.done(1, 1); s.done(1, 1) }, "invalidated 2 times"},
		{"without RDMA", func(s *keyScript) { s.offer(1, leave); s.done(1, 1) }, "without an RDMA operation"},
		{"before RDMA", func(s *keyScript) { s.offer(1, leave); s.done(1, 1); s.write(1) }, "without an RDMA operation"},
		{"RDMA behind it", func(s *keyScript) { s.offer(1, leave); s.write(1); s.done(1, 1); s.write(1) }, "used at frame"},
		{"not named", func(s *keyScript) { s.offer(1, leave); s.write(1); s.done(0, 1) }, "does not name it"},
		{"other named", func(s *keyScript) { s.offer(1, leave); s.write(1); s.done(2, 1) }, "does not name it"},
		{"first of two fragments", func(s *keyScript) {
			s.offer(1, leave)
			s.write(1)
			s.fragment(9, 4196, 4096, 1, 1)
			s.fragment(9, 4196, 100, 1, 0)
		}, "fragment 0 of message 9, which is not the last"},
		{"not fenced", func(s *keyScript) {
			s.offer(1, leave)
			psn := s.read(1)
			s.done(1, 1)
			s.respond(psn)
		}, "before the read at frame"},
		{"read not answered", func(s *keyScript) { s.offer(1, leave); s.read(1); s.done(1, 1) }, "before the read at frame"},
		{"leave of an earlier connection", func(s *keyScript) {
			s.offer(1, leave)
			s.connect()
			s.write(1)
			s.done(1, 1)
		}, "without having been offered"},
	} {
		s := newKeyScript(t)
		tt.script(s)
		tr := s.analyse()
		var errs []string
		for _, k := range tr.Keys() {
			if err := k.CheckInvalidation(); err != nil {
				errs = append(errs, err.Error())
			}
		}
		if tt.want == "" && len(errs) != 0 || tt.want != "" && (len(errs) != 1 || !strings.Contains(errs[0], tt.want)) {
			t.Errorf("%s: %q, want %q", tt.name, errs, tt.want)
		}
	}
}

// TestInvalidateOnly: the operation with all in one packet.
func TestInvalidateOnly(t *testing.T) {
	s := newKeyScript(t)
	s.roce(addrB, addrA, SendOnlyInv, scriptQPA, s.next(1), be32(0xabcdef01), rdsHeader(1, 0, 0))
	s.roce(addrB, addrA, SendOnly, scriptQPA, s.next(1), nil, rdsHeader(2, 0, 0))
	tr := s.analyse()
	if len(tr.Messages) != 2 || tr.Messages[0].Invalidate == nil || *tr.Messages[0].Invalidate != 0xabcdef01 || tr.Messages[1].Invalidate != nil {
		t.Errorf("messages %+v", tr.Messages)
	}
}
