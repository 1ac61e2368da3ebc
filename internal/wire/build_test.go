// SPDX-License-Identifier: MIT

package wire

import (
	"encoding/binary"
	"iter"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

var (
	addrA = netip.MustParseAddr("10.0.0.1")
	addrB = netip.MustParseAddr("10.0.0.2")

	addrA6 = netip.MustParseAddr("fd00::1")
	addrB6 = netip.MustParseAddr("fd00::2")
)

// A recording is a capture made by hand.
type recording struct {
	t      *testing.T
	frames []Frame
}

func (r *recording) all() iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		for _, f := range r.frames {
			if !yield(f, nil) {
				return
			}
		}
	}
}

func (r *recording) analyse() *Trace {
	r.t.Helper()
	t, err := Analyse(r.all())
	if err != nil {
		r.t.Fatal(err)
	}
	return t
}

func (r *recording) add(src netip.Addr, data []byte) {
	link := "a"
	if src == addrB || src == addrB6 {
		link = "b"
	}
	at := time.Unix(1000, 0).Add(time.Duration(len(r.frames)) * time.Millisecond)
	r.frames = append(r.frames, Frame{Time: at, Link: link, Data: data})
}

// roce adds a RoCE packet: the headers behind the base header, and the payload.
func (r *recording) roce(src, dst netip.Addr, op Opcode, qp, psn uint32, headers, payload []byte) {
	r.t.Helper()
	r.add(src, roceFrame(r.t, src, dst, op, qp, psn, headers, payload))
}

func roceFrame(t *testing.T, src, dst netip.Addr, op Opcode, qp, psn uint32, headers, payload []byte) []byte {
	t.Helper()
	pad := -len(payload) & 3
	b := make([]byte, 12, 12+len(headers)+len(payload)+pad+icrcLen)
	b[0], b[1] = byte(op), byte(pad)<<4
	binary.BigEndian.PutUint16(b[2:], 0xffff)
	binary.BigEndian.PutUint32(b[4:], qp)
	binary.BigEndian.PutUint32(b[8:], psn|1<<31)
	b = slices.Concat(b, headers, payload, make([]byte, pad), []byte{0xde, 0xad, 0xbe, 0xef})
	udp := &layers.UDP{SrcPort: 50000, DstPort: PortRoCE}
	return serialize(t, src, dst, layers.IPProtocolUDP, udp, b)
}

// serialize makes a frame with IPv4 or IPv6, as the addresses are.
func serialize(t *testing.T, src, dst netip.Addr, proto layers.IPProtocol, l4 gopacket.SerializableLayer, payload []byte) []byte {
	t.Helper()
	buf := gopacket.NewSerializeBuffer()
	eth := &layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: layers.EthernetTypeIPv4}
	var ip gopacket.SerializableLayer = &layers.IPv4{Version: 4, TTL: 64, Protocol: proto, SrcIP: src.AsSlice(), DstIP: dst.AsSlice()}
	if src.Is6() {
		eth.EthernetType = layers.EthernetTypeIPv6
		ip = &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: proto, SrcIP: src.AsSlice(), DstIP: dst.AsSlice()}
	}
	opts := gopacket.SerializeOptions{FixLengths: true}
	if err := gopacket.SerializeLayers(buf, opts, eth, ip, l4, gopacket.Payload(payload)); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// cm adds a datagram of the connection manager. set fills in the message behind
// the common header.
func (r *recording) cm(src, dst netip.Addr, typ CMType, set func(m []byte)) {
	r.t.Helper()
	mad := make([]byte, madLen)
	mad[0], mad[1], mad[2], mad[3] = 1, madClassCM, 2, 3
	binary.BigEndian.PutUint16(mad[16:], uint16(typ))
	set(mad[madHeaderLen:])
	deth := binary.BigEndian.AppendUint32(nil, 0x80010000)
	deth = binary.BigEndian.AppendUint32(deth, 1)
	r.roce(src, dst, UDSendOnly, 1, 0, deth, mad)
}

func put24(b []byte, v uint32) { b[0], b[1], b[2] = byte(v>>16), byte(v>>8), byte(v) }

// A handshake sets up a connection from a to b, which are addrA and addrB if not
// set. psnA is the number of the first packet that a sends.
type handshake struct {
	a, b                           netip.Addr
	idA, idB, qpA, qpB, psnA, psnB uint32
}

func (r *recording) connect(h handshake) {
	r.t.Helper()
	be := binary.BigEndian
	if !h.a.IsValid() {
		h.a, h.b = addrA, addrB
	}
	r.cm(h.a, h.b, CMReq, func(m []byte) {
		be.PutUint32(m, h.idA)
		be.PutUint64(m[8:], 0x0000000001060000|18634)
		put24(m[32:], h.qpA)
		put24(m[44:], h.psnB)
		m[50] = 3 << 4 // 1024
		copy(m[140+rdmaCMHeaderLen:], "private")
	})
	r.cm(h.b, h.a, CMRep, func(m []byte) {
		be.PutUint32(m, h.idB)
		be.PutUint32(m[4:], h.idA)
		put24(m[12:], h.qpB)
		put24(m[20:], h.psnA)
	})
	r.cm(h.a, h.b, CMRtu, func(m []byte) {
		be.PutUint32(m, h.idA)
		be.PutUint32(m[4:], h.idB)
	})
}

// rdsHeader builds a header with a right checksum.
func rdsHeader(seq uint64, length int, flags byte, ext ...byte) []byte {
	be := binary.BigEndian
	h := make([]byte, HeaderLen)
	be.PutUint64(h, seq)
	be.PutUint64(h[8:], seq+100)
	be.PutUint32(h[16:], uint32(length))
	be.PutUint16(h[20:], 4000)
	be.PutUint16(h[22:], 4001)
	h[24], h[25] = flags, 7
	copy(h[32:], ext)
	be.PutUint16(h[30:], ^onesSum(h))
	return h
}
