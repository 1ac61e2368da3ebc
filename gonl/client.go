// SPDX-License-Identifier: MIT

package gonl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"

	"github.com/rds-ext/rds_ext/gonl/spec"
)

// dumpAttempts is how often a list is read before it is returned as partial.
const dumpAttempts = 4

// Client talks to the rds_ext family. It is safe for concurrent use; calls
// wait for each other.
type Client struct {
	// turn holds one token; who takes it may use the fields below. It is a
	// channel and not a mutex so that waiting ends with the context.
	turn    chan struct{}
	session *session
	conn    *genetlink.Conn
	family  genetlink.Family

	closed atomic.Bool
	// subscribe opens the socket of an event stream.
	subscribe func() (link, error)
}

// Dial opens a client in the network namespace of the calling thread. It fails
// with ErrNotLoaded if the kernel does not have the family.
func Dial() (*Client, error) {
	l, err := newSysLink(0)
	if err != nil {
		return nil, err
	}
	pid, err := l.portID()
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	c, err := newClient(l, pid)
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	c.subscribe = func() (link, error) { return l.sibling() }
	return c, nil
}

// newClient takes over l, unless it fails. The family's number is asked for
// right away, so that a missing module is reported by Dial.
func newClient(l link, pid uint32) (*Client, error) {
	s := &session{link: l, ctx: context.Background()}
	c := &Client{
		turn:    make(chan struct{}, 1),
		session: s,
		conn:    genetlink.NewConn(netlink.NewConn(s, pid)),
	}
	if err := c.resolve(); err != nil {
		return nil, err
	}
	c.turn <- struct{}{}
	return c, nil
}

// Close closes the client. Calls under way fail with net.ErrClosed. Event
// streams have sockets of their own and stay open.
func (c *Client) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	return c.session.link.close()
}

// acquire takes the turn for a call that ends with ctx.
func (c *Client) acquire(ctx context.Context) error {
	if c.closed.Load() {
		return net.ErrClosed
	}
	select {
	case <-c.turn:
		c.session.ctx = ctx
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Client) release() {
	c.session.ctx = context.Background()
	c.turn <- struct{}{}
}

// resolve asks for the number of the family, which changes whenever the module
// is loaded. The caller has the turn.
func (c *Client) resolve() error {
	f, err := c.conn.GetFamily(spec.FamilyName)
	if err != nil {
		if errors.Is(err, syscall.ENOENT) {
			return fmt.Errorf("gonl: %w", ErrNotLoaded)
		}
		return fmt.Errorf("gonl: look up the family: %w", plain(err))
	}
	c.family = f
	return nil
}

// do runs an operation on one object. Without a reply to wait for, it waits
// for the acknowledgement.
func (c *Client) do(ctx context.Context, cmd uint8, attrs []byte, reply bool) ([]genetlink.Message, error) {
	flags := netlink.Request
	if !reply {
		flags |= netlink.Acknowledge
	}
	msgs, _, err := c.execute(ctx, cmd, attrs, flags)
	return msgs, err
}

// execute sends one request and collects the reply; interrupted tells that a
// dump was not consistent.
func (c *Client) execute(ctx context.Context, cmd uint8, attrs []byte, flags netlink.HeaderFlags) (msgs []genetlink.Message, interrupted bool, err error) {
	op, ok := spec.OpByNumber(cmd)
	if !ok {
		return nil, false, fmt.Errorf("gonl: no operation %d", cmd)
	}
	if err := c.acquire(ctx); err != nil {
		return nil, false, fmt.Errorf("gonl: %s: %w", op.Name, err)
	}
	defer c.release()
	req := genetlink.Message{
		Header: genetlink.Header{Command: cmd, Version: spec.FamilyVersion},
		Data:   attrs,
	}
	msgs, err = c.conn.Execute(req, c.family.ID, flags)
	if c.staleFamily(err) {
		if err := c.resolve(); err != nil {
			return nil, false, err
		}
		msgs, err = c.conn.Execute(req, c.family.ID, flags)
	}
	if err == nil {
		return msgs, c.session.interrupted, nil
	}
	var ack *ackError
	if errors.As(err, &ack) {
		return nil, false, newOpError(op, ack, attrs)
	}
	return nil, false, fmt.Errorf("gonl: %s: %w", op.Name, plain(err))
}

// staleFamily tells whether err may mean that the module was loaded again
// since the family was looked up. The module says what does not exist; the
// core, when it does not know the family's number, says nothing.
func (c *Client) staleFamily(err error) bool {
	var ack *ackError
	return errors.As(err, &ack) && ack.errno == syscall.ENOENT && ack.message == ""
}

// plain takes off the wrapping of the netlink package, whose words ("netlink
// receive") say nothing to a user.
func plain(err error) error {
	var oe *netlink.OpError
	if errors.As(err, &oe) {
		err = oe.Err
	}
	for _, ctxErr := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, ctxErr) {
			return ctxErr
		}
	}
	return err
}

// dump runs a dump and parses each of its messages. A dump that was
// interrupted is run again, up to dumpAttempts times in all.
func dump[T any](ctx context.Context, c *Client, cmd uint8, attrs []byte, parse func([]byte) (T, error)) ([]T, error) {
	for attempt := 1; ; attempt++ {
		msgs, interrupted, err := c.execute(ctx, cmd, attrs, netlink.Request|netlink.Dump)
		if err != nil {
			return nil, err
		}
		list := make([]T, 0, len(msgs))
		for _, m := range msgs {
			v, err := parse(m.Data)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		if !interrupted {
			return list, nil
		}
		if attempt == dumpAttempts {
			return list, fmt.Errorf("gonl: %w (%d attempts)", ErrPartial, attempt)
		}
	}
}

// single runs an operation that has exactly one message as its reply.
func single[T any](ctx context.Context, c *Client, cmd uint8, attrs []byte, parse func([]byte) (T, error)) (T, error) {
	var zero T
	msgs, err := c.do(ctx, cmd, attrs, true)
	if err != nil {
		return zero, err
	}
	if len(msgs) != 1 {
		return zero, malformed("reply", fmt.Errorf("%d messages instead of 1", len(msgs)))
	}
	return parse(msgs[0].Data)
}
