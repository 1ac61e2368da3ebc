// SPDX-License-Identifier: MIT

package rds

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// Queue is one of the queues in which RDS keeps messages.
type Queue int

// The queues. Messages wait to be sent on their connection; then on the same
// connection, to be sent again should it be lost, until the peer has
// acknowledged them. Received ones wait at their socket for the application.
const (
	QueueSend Queue = iota
	QueueRetransmit
	QueueReceive

	queues
)

// Queues lists all queues, in the order in which a message passes them.
func Queues() []Queue {
	var all []Queue
	for q := range queues {
		all = append(all, q)
	}
	return all
}

// String returns "send", "retransmit" or "receive".
func (q Queue) String() string {
	switch q {
	case QueueSend:
		return "send"
	case QueueRetransmit:
		return "retransmit"
	case QueueReceive:
		return "receive"
	}
	return fmt.Sprintf("queue %d", int(q))
}

// MessageInfo is a message in a queue.
type MessageInfo struct {
	// Local and Peer are this side's address and port and those of the other.
	// The addresses of messages that are to be sent are not valid on a kernel
	// without IPv6 from Linux 4.19 on, which tells zeros; the ports are.
	Local, Peer netip.AddrPort
	// Sequence is the number on its connection; 0 for what has none yet.
	Sequence uint64
	// Length of the payload in bytes.
	Length uint32
	// TOS is the type of service, if HasTOS; kernels before 5.1 do not tell.
	TOS    uint8
	HasTOS bool
}

const (
	message4TOS = 8 + 4 + 4 + 4 + 2 + 2 + 1
	message6TOS = 8 + 4 + 16 + 16 + 2 + 2 + 1
)

// layouts returns how the queue is read. The list of IPv6 comes first for a
// reason: since Linux 4.19 the other one has zeros for the addresses of the
// messages to send.
func (q Queue) layouts() (v6, v4 layout[MessageInfo], err error) {
	opts := map[Queue][2]int{
		QueueSend:       {info6SendMessages, infoSendMessages},
		QueueRetransmit: {info6RetransMessages, infoRetransMessages},
		QueueReceive:    {info6RecvMessages, infoRecvMessages},
	}
	opt, ok := opts[q]
	if !ok {
		return v6, v4, fmt.Errorf("rds: there is no %v", q)
	}
	return layout[MessageInfo]{opt[0], message6TOS, parseMessage6},
		layout[MessageInfo]{opt[1], message4TOS, parseMessage4}, nil
}

func parseMessage4(b []byte) MessageInfo {
	m := parseMessage(b, addr4(b[12:16]), addr4(b[16:20]), b[20:])
	m.TOS, m.HasTOS = byteAt(b, message4TOS)
	return m
}

func parseMessage6(b []byte) MessageInfo {
	m := parseMessage(b, addr6(b[12:28]), addr6(b[28:44]), b[44:])
	m.TOS, m.HasTOS = byteAt(b, message6TOS)
	return m
}

// parseMessage reads what both families have alike. Between the ports and the
// type of service is a byte of flags, which no kernel sets.
func parseMessage(b []byte, local, peer netip.Addr, ports []byte) MessageInfo {
	return MessageInfo{
		Local:    netip.AddrPortFrom(local, binary.BigEndian.Uint16(ports)),
		Peer:     netip.AddrPortFrom(peer, binary.BigEndian.Uint16(ports[2:])),
		Sequence: binary.NativeEndian.Uint64(b),
		Length:   binary.NativeEndian.Uint32(b[8:]),
	}
}
