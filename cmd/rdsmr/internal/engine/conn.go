// SPDX-License-Identifier: MIT

// Package engine runs the sessions of rdsmr: requests, answers, verification,
// recovery. It knows sockets by an interface only, so that tests can put a
// simulated network with faults in their place.
//
// A session has a control socket on each side and, for each task, one socket on
// each side. One side's tasks request, the other's answer; with both ways on,
// there is a second set of tasks with the roles exchanged.
//
// A request carries the memory that the requester has just registered, as a rule
// for one use. The answer is the message of an RDMA operation on this memory, so its
// arrival says that the operation is complete, and makes the kernel release the
// memory. An operation is tried as often as it takes; every try has a number of
// its own, so an answer to a try that was given up is recognised.
package engine

import (
	"context"
	"net/netip"
	"time"

	"github.com/rds-ext/rds_ext/gonl/rds"
)

// Conn is a bound RDS socket; *rds.Socket is one.
type Conn interface {
	Send(ctx context.Context, m rds.Message) (rds.Sent, error)
	Receive(ctx context.Context, buf []byte) (rds.Received, error)
	GetMR(s rds.Segment, f rds.Flags) (rds.Cookie, error)
	FreeMR(c rds.Cookie, f rds.Flags) error
	CancelSentTo(dest netip.AddrPort) error
	LocalAddr() netip.AddrPort
	Transport() (rds.Transport, error)
	SendBuffer() (int, error)
	Connections() ([]rds.Connection, error)
	Counters() (map[string]uint64, error)
	Close() error
}

// Host opens sockets.
type Host interface {
	Listen(addr netip.AddrPort, cfg rds.Config) (Conn, error)
}

// System is the Host that is this machine.
type System struct{}

// Listen opens an RDS socket of this machine.
func (System) Listen(addr netip.AddrPort, cfg rds.Config) (Conn, error) {
	s, err := rds.Listen(addr, cfg)
	if err != nil {
		return nil, err // a nil *rds.Socket must not become a non-nil Conn
	}
	return s, nil
}

// Timing has the limits in time of a session. Nothing waits without one.
type Timing struct {
	Connect time.Duration // for the peer's answer to the first message
	Peer    time.Duration // without any success, or any sign of the peer
	Stall   time.Duration // without any answer, before tries are given up
	Down    time.Duration // connection down, before tries are given up
	Drain   time.Duration // for what is in flight at the end
	Idle    time.Duration // serve: without any message of the requester
	Linger  time.Duration // serve: repeat the last answer of an ended session
}

// DefaultTiming returns limits for a network that may be slow and may fail for
// some seconds.
func DefaultTiming() Timing {
	return Timing{
		Connect: 10 * time.Second,
		Peer:    30 * time.Second,
		Stall:   5 * time.Second,
		Down:    time.Second,
		Drain:   10 * time.Second,
		Idle:    60 * time.Second,
		Linger:  30 * time.Second,
	}
}

// sendPatience is how long one Send may wait before the task looks at what it
// has received meanwhile.
const sendPatience = 50 * time.Millisecond

// tick is how often a task looks at the clock.
const tick = 50 * time.Millisecond
