// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// maxControl is the size of the largest control message.
const maxControl = 16 << 10

func checkTransport(c Conn, p *wire.Params) error {
	t, err := c.Transport()
	if err != nil {
		return err
	}
	if p.RDMA() && t != rds.TransportIB {
		return fmt.Errorf("address %v is served by the RDS transport %q, which has no RDMA: use --mode msg, or an address of an InfiniBand or RoCE device", c.LocalAddr().Addr(), t)
	}
	return nil
}

func ports(cs []Conn) (p []uint16) {
	for _, c := range cs {
		p = append(p, c.LocalAddr().Port())
	}
	return p
}

// resend is after how long a control message without an answer is sent again.
// RDS does not lose messages, but it drops those to a port where nobody listens
// yet.
const resend = 500 * time.Millisecond

// hello opens the sockets and the session.
func (c *client) hello(ctx context.Context) (*wire.Accepted, error) {
	if err := c.open(); err != nil {
		return nil, err
	}
	c.params.Ports, c.params.AnswerPorts = ports(c.requestConns), ports(c.answerConns)
	a, err := c.ask(ctx)
	if err != nil {
		return nil, errors.Join(err, c.closeConns())
	}
	return a, nil
}

func (c *client) ask(ctx context.Context) (*wire.Accepted, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timing.Connect)
	defer cancel()
	for {
		if err := c.sendControl(ctx, wire.Hello, c.params); err != nil && ctx.Err() == nil {
			return nil, err
		}
		select {
		case ev := <-c.rd.events:
			if ev.err != nil {
				return nil, ev.err
			}
			a, err := c.answer(ev)
			c.rd.release(ev)
			if a != nil || err != nil {
				return a, err
			}
		case <-time.After(resend):
		case <-ctx.Done():
			return nil, c.noAnswer(ctx)
		}
	}
}

// answer parses an answer to Hello; both results are nil if it is none.
func (c *client) answer(ev event) (*wire.Accepted, error) {
	if !ev.IsMessage() {
		return nil, nil
	}
	switch ev.hdr.Type {
	case wire.Welcome:
		var a wire.Accepted
		if err := wire.ParseJSON(ev.hdr, ev.body, &a); err != nil {
			return nil, err
		}
		if err := a.Check(&c.params); err != nil {
			return nil, err
		}
		c.lastHeard = ev.at
		return &a, nil
	case wire.Reject, wire.Bye:
		return nil, fmt.Errorf("peer %v refused: %s", c.peerCtl, reason(ev))
	}
	return nil, nil
}

func reason(ev event) string {
	var r wire.Reason
	if err := wire.ParseJSON(ev.hdr, ev.body, &r); err != nil {
		return err.Error()
	}
	return r.Text
}

// noAnswer explains silence as well as this end can.
func (c *client) noAnswer(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return errStopped
	}
	up, err := Connected(c.control, c.local, c.peer, 0)
	switch {
	case err != nil:
		return fmt.Errorf("no answer from %v within %v", c.peerCtl, c.timing.Connect)
	case up:
		return fmt.Errorf("no answer from %v within %v: the RDS connection is up, but nobody answers at this port: is `rdsmr serve` of the same version running there, with --port %d?",
			c.peerCtl, c.timing.Connect, c.peerCtl.Port())
	}
	return fmt.Errorf("no answer from %v within %v: no RDS connection came up: is the host reachable from %v, and rds_rdma loaded there?",
		c.peerCtl, c.timing.Connect, c.local)
}

func (c *client) sendControl(ctx context.Context, t wire.Type, body any) error {
	return c.sendHeader(ctx, wire.Header{Type: t}, body)
}

func (c *client) sendHeader(ctx context.Context, h wire.Header, body any) error {
	h.Session = c.session
	var err error
	if body == nil {
		c.msg = h.Append(c.msg[:0])
	} else if c.msg, err = wire.AppendJSON(c.msg[:0], h, body); err != nil {
		return err
	}
	_, err = c.control.Send(ctx, rds.Message{To: c.peerCtl, Payload: c.msg})
	return err
}
