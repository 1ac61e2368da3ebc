// SPDX-License-Identifier: MIT

package vm

import (
	"context"
	"fmt"
	"strings"
	"syscall"

	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// Result is what became of a command.
type Result struct {
	Stdout string
	Stderr string
	agent.ExecResult
}

// A Cmd is a command that runs in a node.
type Cmd struct {
	*agent.Cmd
	n *Node
}

// Start starts a command in the background. It is killed when ctx ends.
func (n *Node) Start(ctx context.Context, e agent.Exec) (*Cmd, error) {
	c, err := n.client.Start(ctx, e)
	if err != nil {
		n.settle(err)
		return nil, n.wrap(err)
	}
	return &Cmd{c, n}, nil
}

// Wait waits for the end of the command. An exit status other than 0 is no
// error.
func (c *Cmd) Wait() (Result, error) {
	res, err := c.Cmd.Wait()
	c.n.settle(err)
	if err == nil {
		err = c.Stdout.Err()
	}
	if err == nil {
		err = c.Stderr.Err()
	}
	return Result{c.Stdout.String(), c.Stderr.String(), res}, c.n.wrap(err)
}

// Stop sends the signal and waits for the end.
func (c *Cmd) Stop(sig syscall.Signal) (Result, error) {
	if err := c.Signal(sig); err != nil {
		return Result{}, c.n.wrap(err)
	}
	return c.Wait()
}

// Exec runs a command to its end. An exit status other than 0 is no error; see
// [Node.Run].
func (n *Node) Exec(ctx context.Context, argv ...string) (Result, error) {
	return n.Do(ctx, agent.Exec{Argv: argv})
}

// Do is Exec for a command with user, environment and so on.
func (n *Node) Do(ctx context.Context, e agent.Exec) (Result, error) {
	ctx, cancel := n.limit(ctx)
	defer cancel()
	c, err := n.Start(ctx, e)
	if err != nil {
		return Result{}, err
	}
	return c.Wait()
}

// Run runs a command that must succeed and returns what it prints to standard
// output.
func (n *Node) Run(ctx context.Context, argv ...string) (string, error) {
	res, err := n.Exec(ctx, argv...)
	if err != nil {
		return res.Stdout, err
	}
	return res.Stdout, res.check(n, argv)
}

func (r Result) check(n *Node, argv []string) error {
	if r.ExitCode == 0 && r.Signal == 0 {
		return nil
	}
	how := fmt.Sprintf("exit status %d", r.ExitCode)
	if r.Signal != 0 {
		how = fmt.Sprintf("killed by signal %d (%v)", r.Signal, syscall.Signal(r.Signal))
	}
	return fmt.Errorf("node %s: %s: %s\nstdout: %s\nstderr: %s", n.spec.Name, strings.Join(argv, " "), how, r.Stdout, r.Stderr)
}
