// SPDX-License-Identifier: MIT

package gonl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
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

// do runs an operation that has no reply, and waits until the kernel has
// carried it out.
func (c *Client) do(ctx context.Context, cmd uint8, attrs []byte) error {
	_, err := c.execute(ctx, cmd, attrs, netlink.Request|netlink.Acknowledge, func([]byte) error {
		return malformed("acknowledgement", errors.New("an object comes with it"))
	})
	return err
}

// execute sends one request and hands each object of the reply to visit, as
// its attributes, while the reply still comes in; visit must not keep them.
// interrupted tells that a dump was not consistent.
func (c *Client) execute(ctx context.Context, cmd uint8, attrs []byte, flags netlink.HeaderFlags, visit func(attrs []byte) error) (interrupted bool, err error) {
	op, ok := spec.OpByNumber(cmd)
	if !ok {
		return false, fmt.Errorf("gonl: no operation %d", cmd)
	}
	if err := c.acquire(ctx); err != nil {
		return false, fmt.Errorf("gonl: %s: %w", op.Name, err)
	}
	defer c.release()
	req := genetlink.Message{
		Header: genetlink.Header{Command: cmd, Version: spec.FamilyVersion},
		Data:   attrs,
	}
	visited := false
	object := func(b []byte) error {
		visited = true
		return visit(b)
	}
	err = c.exchange(req, flags, object)
	if !visited && c.staleFamily(err) {
		if err := c.resolve(); err != nil {
			return false, err
		}
		err = c.exchange(req, flags, object)
	}
	var ack *ackError
	switch {
	case err == nil:
		return c.session.interrupted, nil
	case errors.As(err, &ack):
		return false, newOpError(op, ack, attrs)
	case errors.Is(err, ErrMalformed):
		return false, err
	default:
		return false, fmt.Errorf("gonl: %s: %w", op.Name, plain(err))
	}
}

// exchange sends a request and reads the reply to its end. The caller has the
// turn.
func (c *Client) exchange(req genetlink.Message, flags netlink.HeaderFlags, visit func(attrs []byte) error) error {
	if _, err := c.conn.Send(req, c.family.ID, flags); err != nil {
		return err
	}
	for c.session.open {
		for m, err := range c.session.messages() {
			switch {
			case err != nil:
				return err
			case m.Header.Type == netlink.Done || m.Header.Type == netlink.Error:
				// The end; that of a failure has come as err.
				continue
			case len(m.Data) < genlHeaderLen:
				return malformed("reply", fmt.Errorf("message of %d bytes", len(m.Data)))
			}
			if err := visit(m.Data[genlHeaderLen:]); err != nil {
				return err
			}
		}
	}
	return nil
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
	list := []T{}
	for attempt := 1; ; attempt++ {
		list = list[:0]
		interrupted, err := c.execute(ctx, cmd, attrs, netlink.Request|netlink.Dump, func(b []byte) error {
			v, err := parse(b)
			if err != nil {
				return err
			}
			if len(list) == cap(list) {
				// Twice as many: append would move a long list many times.
				list = slices.Grow(list, len(list)+16)
			}
			list = append(list, v)
			return nil
		})
		switch {
		case err != nil:
			return nil, err
		case !interrupted:
			return list, nil
		case attempt == dumpAttempts:
			return list, fmt.Errorf("gonl: %w (%d attempts)", ErrPartial, attempt)
		}
	}
}

// single runs an operation that has exactly one message as its reply.
func single[T any](ctx context.Context, c *Client, cmd uint8, attrs []byte, parse func([]byte) (T, error)) (T, error) {
	var v T
	n := 0
	_, err := c.execute(ctx, cmd, attrs, netlink.Request, func(b []byte) (err error) {
		n++
		v, err = parse(b)
		return err
	})
	if err == nil && n != 1 {
		err = malformed("reply", fmt.Errorf("%d messages instead of 1", n))
	}
	if err != nil {
		var zero T
		return zero, err
	}
	return v, nil
}
