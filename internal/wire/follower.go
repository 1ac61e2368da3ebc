// SPDX-License-Identifier: MIT

package wire

import "errors"

// A Follower follows the connections of a capture, a frame at a time. What it has
// to keep grows with the number of connections, not with that of frames. The
// functions are called as things are complete; those that are nil are not.
type Follower struct {
	OnConn      func(*Conn)
	OnCM        func(CMEvent)
	OnMessage   func(*Message)
	OnOperation func(*RDMAOp)

	// Counts so far.
	Counts
	// FirstError is about the first frame that was counted as undecoded.
	FirstError error

	ib  *ibFollower
	tcp *tcpFollower
}

// Counts are what a capture holds.
type Counts struct {
	// Frames of any kind.
	Frames int
	// RoCE and TCP are frames of RoCE, and of TCP from or to the port of RDS.
	RoCE, TCP int
	// Foreign are packets of RoCE connections that are not RDS, by the service that
	// they were set up for.
	Foreign int
	// Truncated are frames of RoCE and RDS over TCP of which the capture has only
	// the beginning. As far as that goes, they are read.
	Truncated int
	// Undecoded are frames that are RoCE or IP by their headers and still could not
	// be decoded, such as corrupted ones, and what looked like RDS and was not.
	Undecoded int
}

// NewFollower makes a follower at the beginning of a capture.
func NewFollower() *Follower {
	f := new(Follower)
	f.ib, f.tcp = newIBFollower(f), newTCPFollower(f)
	return f
}

// Frame takes the next frame. It may be referred to later on.
func (fo *Follower) Frame(f Frame) {
	fo.Frames++
	p, err := decode(f)
	if err != nil {
		fo.undecodable(err)
		return
	}
	switch {
	case p.RoCE != nil:
		fo.RoCE++
		if p.RoCE.Truncated {
			fo.Truncated++
		}
		fo.ib.packet(f, p)
	case IsRDSTCP(p):
		fo.TCP++
		if p.TCP.Truncated {
			fo.Truncated++
		}
		fo.tcp.segment(f, p)
	}
}

func (fo *Follower) undecodable(err error) {
	fo.Undecoded++
	if fo.FirstError == nil {
		fo.FirstError = err
	}
}

func (fo *Follower) conn(c *Conn) {
	if fo.OnConn != nil {
		fo.OnConn(c)
	}
}

func (fo *Follower) message(m *Message) {
	m.N = fo.Frames
	m.Conn.place(m)
	if fo.OnMessage != nil {
		fo.OnMessage(m)
	}
}

func (fo *Follower) operation(op *RDMAOp) {
	if fo.OnOperation != nil {
		fo.OnOperation(op)
	}
}

func (fo *Follower) manager(e CMEvent) {
	if fo.OnCM != nil {
		fo.OnCM(e)
	}
}

// maxPending is how many bytes of an unfinished SEND, or of a TCP stream behind
// a gap, are kept; far more than RDS has on its way.
const maxPending = 4 << 20

var errPending = errors.New("more than 4 MiB of a SEND or behind a gap of a TCP stream: not RDS, or the capture has lost too much")
