// SPDX-License-Identifier: MIT

package wire

import (
	"fmt"
	"iter"
	"net/netip"
	"time"
)

// Transport is what an RDS connection runs over.
type Transport string

// The transports.
const (
	IB  Transport = "ib"
	TCP Transport = "tcp"
)

// A Trace is what a capture says of RDS.
type Trace struct {
	// Conns are the connections in the order of their set-up.
	Conns []*Conn
	// CM are all datagrams of the connection manager, repetitions included.
	CM []CMEvent
	// Messages are all RDS messages, of all connections, in the order in which
	// they were complete.
	Messages []*Message
	// RDMA are the RDMA reads and writes that were requested.
	RDMA []*RDMAOp
	Counts
	// FirstError is about the first frame that was counted as undecoded.
	FirstError error
}

// A Conn is one incarnation of a connection: a pair of queue pairs from a REQ
// and a REP, or a TCP connection from a SYN.
type Conn struct {
	Transport Transport
	// Active is the side that asked for it, Passive the other.
	Active, Passive Endpoint
	// Start is when it was accepted: the time of the REP or of the SYN. It is zero
	// for a connection that is older than the capture.
	Start time.Time
	// Established is whether the active side has confirmed it: RTU, or a SYN that
	// was answered.
	Established bool
	PathMTU     int // bytes; IB, 0 if not known
	// ServiceID is what it was set up for; IB, 0 if not known.
	ServiceID uint64
	// Messages are its RDS messages in both directions.
	Messages []*Message

	open map[netip.Addr]*Message // by sender, the last fragment of an incomplete message
}

// An Endpoint is one side of a connection.
type Endpoint struct {
	Addr netip.Addr
	QPN  uint32 // IB; 0 if not known
	Port uint16 // TCP
}

// From returns the messages that the side with that address has sent.
func (c *Conn) From(a netip.Addr) []*Message {
	var ms []*Message
	for _, m := range c.Messages {
		if m.Src == a {
			ms = append(ms, m)
		}
	}
	return ms
}

// First returns the first message that the side with that address has sent, or
// nil.
func (c *Conn) First(a netip.Addr) *Message {
	for _, m := range c.Messages {
		if m.Src == a {
			return m
		}
	}
	return nil
}

// Services of the RDMA communication manager, and the ports of it that RDS uses.
const (
	cmaServiceTCP = 0x0106 << 16
	portRDSIPv4   = 18634
	portRDSIPv6   = 16385
)

// foreign tells whether it was seen to be set up for anything but RDS.
func (c *Conn) foreign() bool {
	return c.ServiceID != 0 && c.ServiceID != cmaServiceTCP|portRDSIPv4 && c.ServiceID != cmaServiceTCP|portRDSIPv6
}

// place finds out which fragment of its message m is. Other messages, such as
// bare acknowledgements, can come between two fragments.
func (c *Conn) place(m *Message) {
	if c.open == nil {
		c.open = make(map[netip.Addr]*Message)
	}
	if o := c.open[m.Src]; o != nil && o.Sequence == m.Sequence && o.Len == m.Len {
		m.Fragment, m.before = o.Fragment+1, o.before+o.Bytes
	}
	switch complete := m.before+m.Bytes >= int(m.Len); {
	case !complete:
		c.open[m.Src] = m
	case m.Fragment > 0:
		delete(c.open, m.Src)
	}
}

func (c *Conn) String() string {
	return fmt.Sprintf("%s %v (%d) -> %v (%d)", c.Transport,
		c.Active.Addr, c.Active.QPN+uint32(c.Active.Port), c.Passive.Addr, c.Passive.QPN+uint32(c.Passive.Port))
}

// CMEvent is a datagram of the connection manager.
type CMEvent struct {
	Time     time.Time
	Src, Dst netip.Addr
	*CM
}

// A Message is an RDS message, or over IB one fragment of one: each has a
// header of its own.
type Message struct {
	// Time is that of the frame with its last byte, N the place of that frame among
	// those of the view, counted from 1, as for RDMA operations.
	Time     time.Time
	N        int
	Link     string
	Src, Dst netip.Addr
	Conn     *Conn
	*Header
	// Payload is what follows the header. Over IB a long message has several
	// fragments, each with up to 4 KiB.
	Payload []byte
	// Bytes is the length of the payload on the wire, which is more than Payload
	// has where the capture has only the beginning of packets.
	Bytes int
	// Fragment counts the fragments of a message over IB from 0.
	Fragment int
	DestQP   uint32 // IB
	PSN      uint32 // IB: of the first packet
	// Invalidate is the key that the SEND told the receiver to invalidate; nil
	// for a SEND without that. Over IB each fragment is a SEND of its own.
	Invalidate *uint32

	before int // bytes in the fragments before this one
}

// An RDMAOp is a request to read or write the peer's memory.
type RDMAOp struct {
	Time     time.Time
	N        int // place of its first frame, as in a Message
	Link     string
	Src, Dst netip.Addr
	Conn     *Conn
	Read     bool // else write
	RETH
	PSN uint32
	// Answered is the place of the frame that ended the response to a read. It is
	// 0, which no response can have, for a write, for a read whose response was
	// not seen, and where the path MTU is not known.
	Answered int
}

// Analyse follows the connections of a whole capture. Packets that a queue pair
// or TCP sends again count once.
func Analyse(frames iter.Seq2[Frame, error]) (*Trace, error) {
	t, fo := new(Trace), NewFollower()
	fo.OnConn = func(c *Conn) { t.Conns = append(t.Conns, c) }
	fo.OnCM = func(e CMEvent) { t.CM = append(t.CM, e) }
	fo.OnOperation = func(op *RDMAOp) { t.RDMA = append(t.RDMA, op) }
	fo.OnMessage = func(m *Message) {
		t.Messages = append(t.Messages, m)
		m.Conn.Messages = append(m.Conn.Messages, m)
	}
	var failed error
	for f, err := range frames {
		if err != nil {
			failed = err
			break
		}
		fo.Frame(f)
	}
	t.Counts, t.FirstError = fo.Counts, fo.FirstError
	return t, failed
}
