// SPDX-License-Identifier: MIT

package wire

import (
	"fmt"
	"net/netip"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// The ports by which RDS traffic is recognised.
const (
	PortRoCE   = 4791  // UDP: RoCE version 2
	PortRDSTCP = 16385 // TCP: RDS over TCP
)

// A Packet is a decoded frame. What the frame does not have is nil.
type Packet struct {
	EtherType uint16
	Src, Dst  netip.Addr // invalid if it is not IP
	RoCE      *RoCE
	TCP       *Segment
}

// A Segment is a TCP segment.
type Segment struct {
	SrcPort, DstPort   uint16
	Seq, Ack           uint32
	SYN, FIN, RST, PSH bool
	Payload            []byte
	Truncated          bool // the capture has only the beginning of the payload
}

// Decode decodes an Ethernet frame. Unknown protocols are no error, truncated
// headers are. The result refers to the bytes of the frame.
func Decode(frame []byte) (*Packet, error) { return decode(Frame{Data: frame}) }

func decode(f Frame) (*Packet, error) {
	first, err := firstLayer(f)
	if err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	var (
		eth  layers.Ethernet
		vlan layers.Dot1Q
		sll  layers.LinuxSLL
		sll2 layers.LinuxSLL2
		ip4  layers.IPv4
		ip6  layers.IPv6
		udp  layers.UDP
		tcp  layers.TCP
	)
	parser := gopacket.NewDecodingLayerParser(first, &eth, &vlan, &ip4, &ip6, &udp, &tcp)
	parser.AddDecodingLayer(&sll)
	parser.AddDecodingLayer(&sll2)
	parser.IgnoreUnsupported = true
	var found []gopacket.LayerType
	if err := parser.DecodeLayers(f.Data, &found); err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	p := new(Packet)
	left := 0 // bytes behind the IP header, as that says
	for _, t := range found {
		switch t {
		case layers.LayerTypeEthernet:
			p.EtherType = uint16(eth.EthernetType)
		case layers.LayerTypeIPv4:
			p.Src, p.Dst = addr(ip4.SrcIP), addr(ip4.DstIP)
			left = int(ip4.Length) - 4*int(ip4.IHL)
		case layers.LayerTypeIPv6:
			p.Src, p.Dst = addr(ip6.SrcIP), addr(ip6.DstIP)
			left = int(ip6.Length)
		case layers.LayerTypeUDP:
			if udp.DstPort != PortRoCE {
				continue
			}
			var err error
			if p.RoCE, err = decodeRoCE(udp.Payload, int(udp.Length)-udpHeaderLen); err != nil {
				return nil, fmt.Errorf("wire: %w", err)
			}
		case layers.LayerTypeTCP:
			p.TCP = &Segment{
				SrcPort: uint16(tcp.SrcPort), DstPort: uint16(tcp.DstPort), Seq: tcp.Seq, Ack: tcp.Ack,
				SYN: tcp.SYN, FIN: tcp.FIN, RST: tcp.RST, PSH: tcp.PSH, Payload: tcp.Payload,
				Truncated: left > 4*int(tcp.DataOffset)+len(tcp.Payload),
			}
		}
	}
	return p, nil
}

const udpHeaderLen = 8

func addr(ip []byte) netip.Addr {
	a, _ := netip.AddrFromSlice(ip)
	return a
}

// Match makes a predicate for the rules of a switch. Frames that cannot be
// decoded do not match.
func Match(want func(*Packet) bool) func([]byte) bool {
	return func(frame []byte) bool {
		p, err := Decode(frame)
		return err == nil && want(p)
	}
}

// IsRoCE is true for all RoCE packets, those of the connection manager included.
func IsRoCE(p *Packet) bool { return p.RoCE != nil }

// IsRC is true for packets of reliable connections: RDS, but not the connection
// manager.
func IsRC(p *Packet) bool { return p.RoCE != nil && p.RoCE.Opcode.RC() }

// IsCM is true for datagrams of the connection manager.
func IsCM(p *Packet) bool { return p.RoCE != nil && p.RoCE.CM != nil }

// IsRDSTCP is true for TCP segments from or to the RDS port.
func IsRDSTCP(p *Packet) bool {
	return p.TCP != nil && (p.TCP.SrcPort == PortRDSTCP || p.TCP.DstPort == PortRDSTCP)
}
