// SPDX-License-Identifier: MIT

package agent

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// killGrace is how long the guest may take to report a command that it was
// told to kill.
const killGrace = 10 * time.Second

// A Cmd is a command that runs, or ran, in the guest.
type Cmd struct {
	Exec   Exec
	Stdout *Output
	Stderr *Output

	c    *Client
	id   uint32
	s    *stream
	done chan struct{}
	res  ExecResult
	err  error
}

// Start starts a command. The command is killed when ctx ends; see [Cmd.Wait].
// A command that cannot be started (no such file) is reported by Wait.
func (c *Client) Start(ctx context.Context, e Exec) (*Cmd, error) {
	cmd := &Cmd{
		Exec: e, Stdout: NewOutput(), Stderr: NewOutput(),
		c: c, done: make(chan struct{}),
	}
	id, s, err := c.open(OpExec, e, func(k Kind, p []byte) {
		if k == KindStderr {
			cmd.Stderr.add(p)
		} else {
			cmd.Stdout.add(p)
		}
	})
	if err != nil {
		return nil, err
	}
	cmd.id, cmd.s = id, s
	go cmd.follow(ctx)
	return cmd, nil
}

func (cmd *Cmd) follow(ctx context.Context) {
	defer close(cmd.done)
	defer cmd.Stderr.end()
	defer cmd.Stdout.end()
	ended := make(chan struct{})
	defer close(ended)
	killed := make(chan struct{})
	limit, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	go func() {
		select {
		case <-ended:
			return
		case <-ctx.Done():
		}
		close(killed)
		if err := cmd.Signal(syscall.SIGKILL); err != nil {
			cancel(err)
			return
		}
		select {
		case <-ended:
		case <-time.After(killGrace):
			cancel(fmt.Errorf("the guest did not report the end of the killed command within %v", killGrace))
		}
	}()
	cmd.err = cmd.c.wait(limit, OpExec, cmd.id, cmd.s, &cmd.res)
	select {
	case <-killed:
		if cmd.err == nil {
			cmd.err = fmt.Errorf("%s: killed: %w", cmd.name(), context.Cause(ctx))
		}
	default:
	}
}

func (cmd *Cmd) name() string { return strings.Join(cmd.Exec.Argv, " ") }

// Wait waits for the end of the command. The error is not nil if it could not
// be started, the guest was lost, or the context of Start ended first. An exit
// status other than 0 is no error here.
func (cmd *Cmd) Wait() (ExecResult, error) {
	<-cmd.done
	return cmd.res, cmd.err
}

// Done is closed when the command has ended.
func (cmd *Cmd) Done() <-chan struct{} { return cmd.done }

// Signal sends a signal to the command and to all that it has started, except
// what has moved to a process group of its own.
func (cmd *Cmd) Signal(sig syscall.Signal) error {
	return cmd.c.fw.Write(cmd.id, KindSignal, []byte{byte(sig)})
}

// Write feeds the command's standard input, if [Exec.Stdin] was set.
func (cmd *Cmd) Write(p []byte) (int, error) {
	if err := cmd.c.fw.Write(cmd.id, KindInput, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseInput ends the command's standard input.
func (cmd *Cmd) CloseInput() error {
	return cmd.c.fw.Write(cmd.id, KindInputEnd, nil)
}
