// SPDX-License-Identifier: MIT

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
)

// Error is the failure of an operation inside the guest.
type Error struct {
	Op   Op
	Text string
	// Errno is the guest's errno, or 0. errors.Is finds it.
	Errno syscall.Errno
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Op, e.Text) }

// Unwrap gives errors.Is the errno.
func (e *Error) Unwrap() error {
	if e.Errno == 0 {
		return nil
	}
	return e.Errno
}

// ErrClosed is returned by calls on a port that has ended, together with the
// reason.
var ErrClosed = errors.New("agent: the port to the guest is closed")

// A Client is the host's end of a port.
type Client struct {
	Hello Hello // what the guest said first

	fw   *FrameWriter
	conn io.ReadWriteCloser

	mu      sync.Mutex
	next    uint32
	streams map[uint32]*stream
	err     error // why the port ended
	done    chan struct{}
}

type stream struct {
	output func(Kind, []byte)
	reply  chan Reply // has room for the one reply
}

// Dial waits for the guest's [Hello] on conn and checks it against the token.
// It closes conn on failure. The caller limits the time by closing conn.
func Dial(conn io.ReadWriteCloser, token string) (*Client, error) {
	c := &Client{
		fw: NewFrameWriter(conn), conn: conn,
		streams: make(map[uint32]*stream), done: make(chan struct{}),
	}
	if err := c.greet(token); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	go c.read()
	return c, nil
}

func (c *Client) greet(token string) error {
	f, err := ReadFrame(c.conn)
	if err != nil {
		return fmt.Errorf("agent: waiting for the guest's first word: %w", err)
	}
	if f.Kind != KindHello {
		return fmt.Errorf("agent: the guest's first frame is of kind %d, not a hello", f.Kind)
	}
	if err := json.Unmarshal(f.Payload, &c.Hello); err != nil {
		return fmt.Errorf("agent: hello: %w", err)
	}
	if c.Hello.Version != Version {
		return fmt.Errorf("agent: the guest speaks version %d, the host %d: rebuild the guest", c.Hello.Version, Version)
	}
	if c.Hello.Token != token {
		return fmt.Errorf("agent: the guest's token is %q, expected %q", c.Hello.Token, token)
	}
	return nil
}

// Done is closed when the port has ended. [Client.Err] then says why.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err returns why the port has ended, or nil while it is open.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close closes the port. The guest switches itself off when it notices.
func (c *Client) Close() error {
	c.fail(ErrClosed)
	return c.conn.Close()
}

func (c *Client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
		close(c.done)
	}
}

func (c *Client) read() {
	for {
		f, err := ReadFrame(c.conn)
		if err != nil {
			c.fail(fmt.Errorf("%w (%w)", ErrClosed, err))
			return
		}
		c.mu.Lock()
		s := c.streams[f.Stream]
		if f.Kind == KindReply {
			delete(c.streams, f.Stream)
		}
		c.mu.Unlock()
		if s == nil {
			continue // the caller has given up on it
		}
		switch f.Kind {
		case KindReply:
			var r Reply
			if err := json.Unmarshal(f.Payload, &r); err != nil {
				r = Reply{Error: fmt.Sprintf("reply that is not JSON: %v", err)}
			}
			s.reply <- r
		case KindStdout, KindStderr:
			if s.output != nil {
				s.output(f.Kind, f.Payload)
			}
		default:
			c.fail(fmt.Errorf("agent: unexpected frame of kind %d from the guest", f.Kind))
			return
		}
	}
}

// open starts a call. output, if not nil, gets what the guest prints, in order,
// on the goroutine that reads the port: it must not block for long.
func (c *Client) open(op Op, args any, output func(Kind, []byte)) (uint32, *stream, error) {
	call := Call{Op: op}
	if args != nil {
		b, err := json.Marshal(args)
		if err != nil {
			return 0, nil, fmt.Errorf("agent: %s: %w", op, err)
		}
		call.Args = b
	}
	b, err := json.Marshal(call)
	if err != nil {
		return 0, nil, fmt.Errorf("agent: %s: %w", op, err)
	}
	if len(b) > MaxPayload {
		return 0, nil, fmt.Errorf("agent: %s: arguments of %d bytes, the limit is %d", op, len(b), MaxPayload)
	}
	s := &stream{output: output, reply: make(chan Reply, 1)}
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return 0, nil, c.err
	}
	c.next++
	id := c.next
	c.streams[id] = s
	c.mu.Unlock()
	if err := c.fw.Write(id, KindCall, b); err != nil {
		c.fail(fmt.Errorf("%w (%w)", ErrClosed, err))
		return 0, nil, c.Err()
	}
	return id, s, nil
}

// wait waits for the end of a call and decodes its result into result, unless
// that is nil. If ctx ends first, the call is given up; the guest may still be
// at it.
func (c *Client) wait(ctx context.Context, op Op, id uint32, s *stream, result any) error {
	var r Reply
	select {
	case r = <-s.reply:
	case <-c.done:
		// The reply may have come just before the end, as that of OpPowerOff does.
		select {
		case r = <-s.reply:
		default:
			return fmt.Errorf("%s: %w", op, c.Err())
		}
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.streams, id)
		c.mu.Unlock()
		return fmt.Errorf("%s: no answer from the guest: %w", op, context.Cause(ctx))
	}
	if r.Error != "" {
		return &Error{Op: op, Text: r.Error, Errno: syscall.Errno(r.Errno)}
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(r.Result, result); err != nil {
		return fmt.Errorf("agent: result of %s: %w", op, err)
	}
	return nil
}

// Call does one operation without input or output.
func (c *Client) Call(ctx context.Context, op Op, args, result any) error {
	id, s, err := c.open(op, args, nil)
	if err != nil {
		return err
	}
	return c.wait(ctx, op, id, s, result)
}

// ReadFile returns the content of a file of the guest.
func (c *Client) ReadFile(ctx context.Context, path string) ([]byte, error) {
	var b []byte
	var mu sync.Mutex
	id, s, err := c.open(OpReadFile, File{Path: path}, func(_ Kind, p []byte) {
		mu.Lock()
		defer mu.Unlock()
		b = append(b, p...)
	})
	if err != nil {
		return nil, err
	}
	if err := c.wait(ctx, OpReadFile, id, s, nil); err != nil {
		return nil, err
	}
	mu.Lock()
	defer mu.Unlock()
	return b, nil
}

// WriteFile writes a file of the guest.
func (c *Client) WriteFile(ctx context.Context, f File, data []byte) error {
	id, s, err := c.open(OpWriteFile, f, nil)
	if err != nil {
		return err
	}
	if len(data) > 0 {
		if err := c.fw.Write(id, KindInput, data); err != nil {
			return err
		}
	}
	if err := c.fw.Write(id, KindInputEnd, nil); err != nil {
		return err
	}
	return c.wait(ctx, OpWriteFile, id, s, nil)
}
