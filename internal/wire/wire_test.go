// SPDX-License-Identifier: MIT

package wire

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/layers"
)

func TestHeader(t *testing.T) {
	b := rdsHeader(5, 12, FlagAckRequired, 1, 0, 1, 3, 1, 2, 0xaa, 0xbb, 0xcc, 0xdd)
	h, err := DecodeHeader(b)
	if err != nil {
		t.Fatal(err)
	}
	if h.Sequence != 5 || h.Ack != 105 || h.Len != 12 || h.SPort != 4000 || h.DPort != 4001 || h.Flags != FlagAckRequired || h.Credit != 7 {
		t.Errorf("fields %+v", h)
	}
	if !h.ChecksumOK {
		t.Error("a right checksum is called wrong")
	}
	if h.ExtErr != nil || !slices.Equal(h.Types(), []ExtType{ExtVersion, ExtRDMA}) {
		t.Fatalf("extension headers %v, %v", h.Types(), h.ExtErr)
	}
	if p, f := h.Find(ExtVersion).Version(); p != 0x0301 || f != 1 {
		t.Errorf("version %#x, features %#x", p, f)
	}
	if k := h.Find(ExtRDMA).RKey(); k != 0xaabbccdd {
		t.Errorf("key %#x", k)
	}
	if f, err := DecodeHeader(rdsHeader(1, 0, 0, 9, 0x81)); err != nil || f.Find(ExtRDMADestFlags).DestFlags() != 0x81 {
		t.Errorf("flags of a key: %+v, %v", f, err)
	}
	if h.Find(ExtGenNum) != nil {
		t.Error("found an extension header that is not there")
	}
	for i := range HeaderLen {
		bad := bytes.Clone(b)
		bad[i] ^= 0x10
		if h, err := DecodeHeader(bad); err != nil || h.ChecksumOK {
			t.Errorf("byte %d changed: checksum OK, error %v", i, err)
		}
	}
	b[30], b[31] = 0, 0
	if h, err := DecodeHeader(b); err != nil || !h.ChecksumOK {
		t.Errorf("no checksum: %v", err)
	}
	if _, err := DecodeHeader(b[:HeaderLen-1]); err == nil {
		t.Error("a short header is no error")
	}
}

func TestExtensionHeaders(t *testing.T) {
	tests := []struct {
		name string
		ext  []byte
		want []ExtType
		err  string
	}{
		{"none", nil, nil, ""},
		{"every type that fits", []byte{3, 0, 0, 0, 1, 0, 0, 0, 2, 5, 0, 8, 8, 1}, []ExtType{ExtRDMADest, ExtPaths, ExtSPortIdx}, ""},
		{"bytes and paths", []byte{4, 0, 0, 0, 0, 0, 0, 0, 9, 6, 1, 2, 3, 4}, []ExtType{ExtRDMABytes, ExtGenNum}, ""},
		{"full to the last byte", []byte{1, 0, 0, 3, 1, 2, 1, 2, 3, 4, 6, 1, 2, 3, 4, 0}, []ExtType{ExtVersion, ExtRDMA, ExtGenNum}, ""},
		{"cut off", []byte{3, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 1, 1, 1, 1, 1}, []ExtType{ExtRDMADest}, "type 4 at byte 9 has 6 of 8"},
		{"type only", []byte{3, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 1, 1, 1, 8, 1}, []ExtType{ExtRDMADest, ExtRDMA, ExtSPortIdx}, ""},
		{"last byte a type", append(bytes.Repeat([]byte{5, 0, 1}, 5), 1), slices.Repeat([]ExtType{ExtPaths}, 5), "type 1 at byte 15 has 0 of 4"},
		{"flags of a key", []byte{3, 0, 0, 0, 1, 0, 0, 0, 2, 9, 1, 1, 0, 3, 3, 1}, []ExtType{ExtRDMADest, ExtRDMADestFlags, ExtVersion}, ""},
		{"flags cut off", []byte{3, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 9}, []ExtType{ExtRDMADest, ExtVersion}, ""},
		{"unknown of ours", []byte{2, 0, 0, 0, 1, 10}, []ExtType{ExtRDMA}, "unknown type 10 at byte 5"},
		{"unknown", []byte{2, 0, 0, 0, 1, 7}, []ExtType{ExtRDMA}, "unknown type 7 at byte 5"},
	}
	for _, tt := range tests {
		h, err := DecodeHeader(rdsHeader(1, 0, 0, tt.ext...))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(h.Types(), tt.want) {
			t.Errorf("%s: types %v, want %v", tt.name, h.Types(), tt.want)
		}
		if got := h.ExtErr; (got == nil) != (tt.err == "") || got != nil && !strings.Contains(got.Error(), tt.err) {
			t.Errorf("%s: error %v, want %q", tt.name, got, tt.err)
		}
	}
}

func TestDecodeRoCE(t *testing.T) {
	reth := binary.BigEndian.AppendUint64(nil, 0x1122334455667788)
	reth = binary.BigEndian.AppendUint32(reth, 0xcafe)
	reth = binary.BigEndian.AppendUint32(reth, 4096)
	p, err := Decode(roceFrame(t, addrA, addrB, WriteOnly, 0x123456, 0xabcdef, reth, []byte("hello")))
	if err != nil {
		t.Fatal(err)
	}
	r := p.RoCE
	if p.Src != addrA || p.Dst != addrB || r == nil || !IsRC(p) || IsCM(p) {
		t.Fatalf("decoded to %+v", p)
	}
	if r.Opcode != WriteOnly || r.DestQP != 0x123456 || r.PSN != 0xabcdef || !r.AckReq || r.PKey != 0xffff || r.ICRC != 0xdeadbeef {
		t.Errorf("base header %+v", r)
	}
	if *r.RETH != (RETH{VA: 0x1122334455667788, RKey: 0xcafe, Length: 4096}) {
		t.Errorf("RDMA header %+v", r.RETH)
	}
	if string(r.Payload) != "hello" {
		t.Errorf("payload %q; padding must not count", r.Payload)
	}

	p, err = Decode(roceFrame(t, addrA, addrB, Acknowledge, 5, 6, []byte{0x60, 0, 1, 2}, nil))
	if err != nil {
		t.Fatal(err)
	}
	if a := p.RoCE.AETH; a == nil || !a.NAK() || a.RNR() || a.MSN != 0x102 {
		t.Errorf("acknowledgement %+v", p.RoCE.AETH)
	}

	p, err = Decode(roceFrame(t, addrA, addrB, SendOnlyInv, 5, 6, []byte{0, 0, 0x12, 0x34}, []byte("x")))
	if err != nil {
		t.Fatal(err)
	}
	if p.RoCE.Invalidate == nil || *p.RoCE.Invalidate != 0x1234 {
		t.Errorf("invalidated key %v", p.RoCE.Invalidate)
	}
}

func TestDecodeRefusesTruncated(t *testing.T) {
	for _, tt := range []struct {
		src, dst netip.Addr
		ipLen    int // where the IP header has its length field
		counted  int // where what that counts begins
		udp      int // where the UDP header begins
	}{
		{addrA, addrB, 14 + 2, 14, 14 + 20},
		{addrA6, addrB6, 14 + 4, 14 + 40, 14 + 40}, // the header itself does not count
	} {
		whole := roceFrame(t, tt.src, tt.dst, WriteOnly, 1, 1, make([]byte, 16), nil)
		if p, err := Decode(whole); err != nil || p.RoCE == nil {
			t.Fatalf("%v: %+v, %v", tt.src, p, err)
		}
		for n := tt.udp + 8; n < len(whole); n++ {
			f := bytes.Clone(whole[:n])
			binary.BigEndian.PutUint16(f[tt.ipLen:], uint16(n-tt.counted))
			binary.BigEndian.PutUint16(f[tt.udp+4:], uint16(n-tt.udp))
			if _, err := Decode(f); err == nil {
				t.Errorf("%v: %d of %d bytes: no error", tt.src, n, len(whole))
			}
		}
	}
}

// TestIPv6: RoCE over IPv6 is followed as over IPv4, and apart from it, even
// where the queue pairs have the same numbers.
func TestIPv6(t *testing.T) {
	r := &recording{t: t}
	r.connect(handshake{idA: 1, idB: 2, qpA: 17, qpB: 18, psnA: 100, psnB: 200})
	r.connect(handshake{a: addrA6, b: addrB6, idA: 1, idB: 2, qpA: 17, qpB: 18, psnA: 5, psnB: 6})
	r.roce(addrA6, addrB6, SendOnly, 18, 5, nil, rdsHeader(1, 0, 0, 1, 0, 1, 3, 1))
	r.roce(addrB6, addrA6, SendOnly, 17, 6, nil, rdsHeader(2, 0, 0))
	r.roce(addrA, addrB, SendOnly, 18, 100, nil, rdsHeader(3, 0, 0))
	if cm := r.frames[3].Data; !Match(IsCM)(cm) || Match(IsRC)(cm) {
		t.Error("predicates are wrong on a REQ over IPv6")
	}
	if send := r.frames[6].Data; !Match(IsRC)(send) || !Match(IsRoCE)(send) || Match(IsCM)(send) {
		t.Error("predicates are wrong on a SEND over IPv6")
	}
	tr := r.analyse()
	if tr.Undecoded != 0 || len(tr.Conns) != 2 {
		t.Fatalf("%d connections, %d frames undecoded: %v", len(tr.Conns), tr.Undecoded, tr.FirstError)
	}
	v4, v6 := tr.Conns[0], tr.Conns[1]
	if v6.Active != (Endpoint{Addr: addrA6, QPN: 17}) || v6.Passive != (Endpoint{Addr: addrB6, QPN: 18}) || !v6.Established {
		t.Errorf("connection over IPv6: %+v", v6)
	}
	if m := v6.First(addrA6); m == nil || m.Sequence != 1 || m.Find(ExtVersion) == nil {
		t.Errorf("first message from a: %+v", m)
	}
	if m := v6.First(addrB6); m == nil || m.Sequence != 2 || m.Link != "b" {
		t.Errorf("first message from b: %+v", m)
	}
	if len(v6.Messages) != 2 || len(v4.Messages) != 1 || v4.Messages[0].Sequence != 3 {
		t.Errorf("messages over IPv4 %v, over IPv6 %v", v4.Messages, v6.Messages)
	}
}

func FuzzAnalyse(f *testing.F) {
	f.Add([]byte{0})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &recording{t: t}
		for len(b) > 0 {
			n := min(len(b), 1+int(b[0]))
			r.add(addrA, b[:n])
			op := Opcode(b[0])
			r.roce(addrA, addrB, op, 1, 0, nil, b[:n])
			r.roce(addrA, addrB, UDSendOnly, 1, 0, make([]byte, 8), append(bytes.Clone(b[:n]), make([]byte, 256)...))
			b = b[n:]
		}
		r.analyse()
	})
}

func TestMatch(t *testing.T) {
	rc := roceFrame(t, addrA, addrB, SendOnly, 5, 6, nil, nil)
	if !Match(IsRC)(rc) || Match(IsCM)(rc) || Match(IsRC)(rc[:20]) {
		t.Error("predicates are wrong on a SEND")
	}
	rec := &recording{t: t}
	rec.cm(addrA, addrB, CMReq, func([]byte) {})
	if cm := rec.frames[0].Data; Match(IsRC)(cm) || !Match(IsCM)(cm) || !Match(IsRoCE)(cm) {
		t.Error("predicates are wrong on a REQ")
	}
}

func TestFirstMessageOfEachConnection(t *testing.T) {
	r := &recording{t: t}
	first := handshake{idA: 1, idB: 2, qpA: 17, qpB: 18, psnA: 100, psnB: 0xffffff}
	r.connect(first)
	r.roce(addrA, addrB, SendOnly, 18, 100, nil, rdsHeader(1, 0, 0, 1, 0, 1, 3, 1))
	r.roce(addrB, addrA, SendOnly, 17, 0xffffff, nil, rdsHeader(2, 0, 0))
	r.roce(addrA, addrB, SendOnly, 18, 101, nil, rdsHeader(3, 0, 0))
	r.roce(addrA, addrB, SendOnly, 18, 101, nil, rdsHeader(3, 0, 0)) // sent again
	r.roce(addrA, addrB, SendOnly, 18, 103, nil, rdsHeader(5, 0, 0)) // behind a gap
	r.roce(addrB, addrA, SendOnly, 17, 0, nil, rdsHeader(4, 0, 0))   // number wraps around
	second := handshake{idA: 3, idB: 4, qpA: 19, qpB: 20, psnA: 7, psnB: 8}
	r.connect(second)
	r.roce(addrB, addrA, SendOnly, 19, 8, nil, rdsHeader(9, 0, 0))

	tr := r.analyse()
	if tr.Undecoded != 0 {
		t.Fatalf("%d undecoded: %v", tr.Undecoded, tr.FirstError)
	}
	if len(tr.Conns) != 2 || len(tr.CM) != 6 {
		t.Fatalf("%d connections from %d datagrams, want 2 from 6", len(tr.Conns), len(tr.CM))
	}
	c := tr.Conns[0]
	if !c.Established || c.PathMTU != 1024 || c.Active != (Endpoint{Addr: addrA, QPN: 17}) || c.Passive != (Endpoint{Addr: addrB, QPN: 18}) {
		t.Errorf("first connection %+v", c)
	}
	sequences := func(ms []*Message) (s []uint64) {
		for _, m := range ms {
			s = append(s, m.Sequence)
		}
		return s
	}
	if got := sequences(c.From(addrA)); !slices.Equal(got, []uint64{1, 3}) {
		t.Errorf("messages from a: %v, want 1 and 3", got)
	}
	if got := sequences(c.From(addrB)); !slices.Equal(got, []uint64{2, 4}) {
		t.Errorf("messages from b: %v, want 2 and 4", got)
	}
	if m := c.First(addrA); m.Find(ExtVersion) == nil || m.Link != "a" || m.PSN != 100 {
		t.Errorf("first message from a: %+v", m)
	}
	if m := tr.Conns[1].First(addrB); m == nil || m.Sequence != 9 {
		t.Errorf("first message from b on the second connection: %+v", m)
	}
	if m := tr.Conns[1].First(addrA); m != nil {
		t.Errorf("a has sent nothing on the second connection, but %+v was found", m)
	}
}

func TestCMFields(t *testing.T) {
	r := &recording{t: t}
	r.connect(handshake{idA: 1, idB: 2, qpA: 17, qpB: 18})
	r.cm(addrB, addrA, CMRej, func(m []byte) { binary.BigEndian.PutUint16(m[10:], 28) })
	tr := r.analyse()
	if req := tr.CM[0]; req.Type != CMReq || req.ServiceID&0xffff != 18634 || !bytes.HasPrefix(req.UserPrivate(), []byte("private")) {
		t.Errorf("REQ %+v", req.CM)
	}
	if rej := tr.CM[3]; rej.Type != CMRej || rej.Reason != 28 || rej.Src != addrB {
		t.Errorf("REJ %+v", rej.CM)
	}
}

func TestReassemblyAndFragments(t *testing.T) {
	r := &recording{t: t}
	r.connect(handshake{idA: 1, idB: 2, qpA: 17, qpB: 18, psnA: 1, psnB: 1})
	const length = 4096 + 100
	data := bytes.Repeat([]byte("0123456789abcdef"), length/16+1)[:length]
	one := append(rdsHeader(1, length, 0), data[:4096]...)
	two := append(rdsHeader(1, length, 0), data[4096:]...)
	r.roce(addrA, addrB, SendFirst, 18, 1, nil, one[:2048])
	r.roce(addrA, addrB, SendMiddle, 18, 2, nil, one[2048:4096])
	r.roce(addrA, addrB, SendLast, 18, 3, nil, one[4096:])
	r.roce(addrA, addrB, SendOnly, 18, 4, nil, rdsHeader(0, 0, 0)) // acknowledges
	r.roce(addrA, addrB, SendOnly, 18, 5, nil, two)
	r.roce(addrA, addrB, SendOnly, 18, 6, nil, rdsHeader(2, 0, 0))
	tr := r.analyse()
	if len(tr.Messages) != 4 {
		t.Fatalf("%d messages, want 4", len(tr.Messages))
	}
	var got []byte
	for i, m := range []*Message{tr.Messages[0], tr.Messages[2]} {
		if m.Fragment != i {
			t.Errorf("fragment %d is numbered %d", i, m.Fragment)
		}
		got = append(got, m.Payload...)
	}
	if !bytes.Equal(got, data) {
		t.Error("the payload differs")
	}
	for _, i := range []int{1, 3} {
		if m := tr.Messages[i]; m.Fragment != 0 {
			t.Errorf("the message %+v is numbered as a fragment", m)
		}
	}
}

func TestRDMA(t *testing.T) {
	r := &recording{t: t}
	r.connect(handshake{idA: 1, idB: 2, qpA: 17, qpB: 18, psnA: 1, psnB: 50})
	reth := func(key, length uint32) []byte {
		b := binary.BigEndian.AppendUint64(nil, 64)
		return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, key), length)
	}
	r.roce(addrA, addrB, WriteFirst, 18, 1, reth(0x10, 1500), make([]byte, 1024))
	r.roce(addrA, addrB, WriteLast, 18, 2, nil, make([]byte, 476))
	r.roce(addrA, addrB, ReadRequest, 18, 3, reth(0x20, 2049), nil) // three packets of 1024
	r.roce(addrB, addrA, ReadFirst, 17, 3, make([]byte, 4), make([]byte, 1024))
	r.roce(addrA, addrB, SendOnly, 18, 6, nil, rdsHeader(1, 0, 0))
	r.roce(addrA, addrB, ReadRequest, 18, 3, reth(0x20, 2049), nil) // sent again
	tr := r.analyse()
	if len(tr.RDMA) != 2 {
		t.Fatalf("%d operations, want 2", len(tr.RDMA))
	}
	if w := tr.RDMA[0]; w.Read || w.RKey != 0x10 || w.Length != 1500 || w.Conn != tr.Conns[0] {
		t.Errorf("write %+v", w)
	}
	if rd := tr.RDMA[1]; !rd.Read || rd.RKey != 0x20 {
		t.Errorf("read %+v", rd)
	}
	if len(tr.Messages) != 1 {
		t.Errorf("%d messages, want the one behind the read", len(tr.Messages))
	}
}

func TestConnectionOlderThanTheCapture(t *testing.T) {
	r := &recording{t: t}
	r.roce(addrA, addrB, SendLast, 18, 7, nil, []byte("the rest of something"))
	r.roce(addrA, addrB, SendOnly, 18, 8, nil, rdsHeader(1, 0, 0))
	r.roce(addrB, addrA, SendOnly, 17, 90, nil, rdsHeader(2, 0, 0))
	tr := r.analyse()
	if len(tr.Messages) != 2 || len(tr.Conns) != 1 || !tr.Conns[0].Start.IsZero() {
		t.Errorf("%d messages on %v, want 2 on one connection without start", len(tr.Messages), tr.Conns)
	}
}

func TestShortSendIsCounted(t *testing.T) {
	r := &recording{t: t}
	r.connect(handshake{idA: 1, idB: 2, qpA: 17, qpB: 18, psnA: 1})
	r.roce(addrA, addrB, SendOnly, 18, 1, nil, make([]byte, HeaderLen-1))
	if tr := r.analyse(); tr.Undecoded != 1 || tr.FirstError == nil || len(tr.Messages) != 0 {
		t.Errorf("%d undecoded, %v", tr.Undecoded, tr.FirstError)
	}
}

func TestTCP(t *testing.T) {
	r := &recording{t: t}
	const port = 33000
	seg := func(fromA bool, seq, ack uint32, syn bool, payload []byte) {
		src, dst := addrA, addrB
		tcp := &layers.TCP{SrcPort: port, DstPort: PortRDSTCP, Seq: seq, Ack: ack, SYN: syn, ACK: ack != 0, DataOffset: 5}
		if !fromA {
			src, dst = dst, src
			tcp.SrcPort, tcp.DstPort = PortRDSTCP, port
		}
		r.add(src, serialize(t, src, dst, layers.IPProtocolTCP, tcp, payload))
	}
	start := uint32(0xffffffe0) // the numbers wrap around in the first header
	seg(true, start, 0, true, nil)
	seg(false, 500, start+1, true, nil)
	text := []byte("payload of the first message")
	data := slices.Concat(rdsHeader(1, len(text), 0, 5, 0, 8), text, rdsHeader(2, 0, 0))
	at := start + 1
	seg(true, at+30, 501, false, data[30:60]) // early
	seg(true, at, 501, false, data[:30])
	seg(true, at, 501, false, data[:30]) // again
	seg(false, 501, at+60, false, rdsHeader(9, 0, 0))
	seg(true, at+50, 501, false, data[50:]) // overlaps
	tr := r.analyse()
	if tr.Undecoded != 0 {
		t.Fatalf("%d undecoded: %v", tr.Undecoded, tr.FirstError)
	}
	if len(tr.Conns) != 1 || !tr.Conns[0].Established || tr.Conns[0].Transport != TCP {
		t.Fatalf("connections %v", tr.Conns)
	}
	ms := tr.Conns[0].From(addrA)
	if len(ms) != 2 || ms[0].Sequence != 1 || ms[1].Sequence != 2 || !bytes.Equal(ms[0].Payload, text) {
		t.Fatalf("messages from a: %+v", ms)
	}
	if ms[0].Find(ExtPaths) == nil || !ms[0].ChecksumOK {
		t.Errorf("first message %+v", ms[0].Header)
	}
	if b := tr.Conns[0].First(addrB); b == nil || b.Sequence != 9 {
		t.Errorf("message from b: %+v", b)
	}
}
