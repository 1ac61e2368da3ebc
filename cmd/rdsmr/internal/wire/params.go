// SPDX-License-Identifier: MIT

package wire

import (
	"errors"
	"fmt"
	"slices"
)

// Mode is what a session does.
type Mode string

// The modes. Write and read are seen from the peer, who does the RDMA: in mode
// write it writes into the requester's memory.
const (
	ModeWrite Mode = "write"
	ModeRead  Mode = "read"
	ModeBoth  Mode = "both" // writes and reads in turn
	ModeMsg   Mode = "msg"  // plain messages, no RDMA
)

// Modes lists the modes.
var Modes = []Mode{ModeWrite, ModeRead, ModeBoth, ModeMsg}

// Limits of a session.
const (
	MaxSize  = 1 << 20 // bytes an operation, RDS's own limit
	MaxTasks = 64
	MaxDepth = 1024
)

// Params describe a session. The requester chooses, the responder may refuse.
type Params struct {
	Mode   Mode   `json:"mode"`
	Size   int    `json:"size"`   // bytes an operation; in mode msg, bytes of payload a message
	Depth  int    `json:"depth"`  // operations in flight a task
	Tasks  int    `json:"tasks"`  // sockets on each side, each direction
	Seed   uint64 `json:"seed"`   // of the payloads
	Duplex bool   `json:"duplex"` // the responder sends requests as well
	Count  int64  `json:"count"`  // operations of each side, 0 for no limit
	TOS    uint8  `json:"tos"`    // type of service of the tasks' sockets; each has a connection of its own

	// Ports of the requester's sockets, one a task; of those that answer the
	// responder's requests, if Duplex.
	Ports       []uint16 `json:"ports"`
	AnswerPorts []uint16 `json:"answer_ports,omitempty"`
}

// RDMA reports whether the session does RDMA.
func (p *Params) RDMA() bool { return p.Mode != ModeMsg }

// Check returns a text for the user if a parameter is out of range.
func (p *Params) Check() error {
	if !slices.Contains(Modes, p.Mode) {
		return fmt.Errorf("mode %q is unknown: use write, read, both or msg", p.Mode)
	}
	limit, what := MaxSize, "the 1 MiB limit of one RDS RDMA operation"
	if !p.RDMA() {
		limit, what = MaxSize-HeaderSize, fmt.Sprintf("the limit of one RDS message, 1 MiB less %d bytes of header", HeaderSize)
	}
	switch {
	case p.Size < 1:
		return fmt.Errorf("size %d is too small: give at least 1 byte", p.Size)
	case p.Size > limit:
		return fmt.Errorf("size %d is over %s (%d bytes)", p.Size, what, limit)
	case p.Depth < 1 || p.Depth > MaxDepth:
		return fmt.Errorf("depth %d is out of range: give 1 to %d", p.Depth, MaxDepth)
	case p.Count < 0:
		return fmt.Errorf("count %d is negative", p.Count)
	case p.Tasks < 1 || p.Tasks > MaxTasks:
		return fmt.Errorf("%d tasks are out of range: give 1 to %d", p.Tasks, MaxTasks)
	}
	return nil
}

// CheckPorts checks the parts that the peer filled in.
func (p *Params) CheckPorts() error {
	if len(p.Ports) != p.Tasks || (p.Duplex && len(p.AnswerPorts) != p.Tasks) {
		return errors.New("number of ports and of tasks differ")
	}
	return nil
}

// Memory returns how many bytes of buffers the responder needs.
func (p *Params) Memory() int {
	n := p.Size * p.Depth * p.Tasks
	if p.Duplex {
		n *= 2
	}
	return n
}

// Accepted is the answer to Params.
type Accepted struct {
	Ports        []uint16 `json:"ports"`                   // of the sockets that answer requests
	RequestPorts []uint16 `json:"request_ports,omitempty"` // of those that send requests, if duplex
}

// Check checks the answer against the question.
func (a *Accepted) Check(p *Params) error {
	if len(a.Ports) != p.Tasks || (p.Duplex && len(a.RequestPorts) != p.Tasks) {
		return errors.New("the peer's number of ports differs from the number of tasks")
	}
	return nil
}
