// SPDX-License-Identifier: MIT

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hugelgupf/go-shlex"

	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/agent"
	"github.com/rds-ext/rds_ext/test/vm/ether"
)

// A runner executes the lines of a script.
type runner struct {
	env        *vm.Env
	nodes      map[string]*vm.Node
	background map[string]*vm.Cmd // the last one of each node
	out        io.Writer
}

func (r *runner) runAll(ctx context.Context, lines *bufio.Scanner) error {
	number := 0
	for lines.Scan() {
		number++
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := r.line(ctx, lines.Text()); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	return lines.Err()
}

// mode is how a command is run.
type mode byte

const (
	mustSucceed mode = ':'
	mayFail     mode = '-'
	inBack      mode = '&'
)

func (r *runner) line(ctx context.Context, line string) error {
	if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
		return nil
	}
	words := shlex.Split(line)
	if len(words) == 0 {
		return nil
	}
	head := words[0]
	if last := mode(head[len(head)-1]); last == mustSucceed || last == mayFail || last == inBack {
		n, err := r.node(head[:len(head)-1])
		if err != nil {
			return err
		}
		return r.command(ctx, n, last, words[1:])
	}
	d, ok := directives[head]
	if !ok {
		return fmt.Errorf("%q is neither NODE: nor a directive", head)
	}
	if len(words)-1 < d.min || d.max >= 0 && len(words)-1 > d.max {
		return fmt.Errorf("usage: %s %s", head, d.usage)
	}
	return d.do(r, ctx, words[1:])
}

func (r *runner) node(name string) (*vm.Node, error) {
	n, ok := r.nodes[name]
	if !ok {
		return nil, fmt.Errorf("no node %q", name)
	}
	return n, nil
}

func (r *runner) command(ctx context.Context, n *vm.Node, m mode, argv []string) error {
	if len(argv) == 0 {
		return errors.New("no command")
	}
	c, err := n.Start(ctx, agent.Exec{Argv: argv})
	if err != nil {
		return err
	}
	stdout := &prefixer{w: r.out, prefix: n.Name() + "| "}
	stderr := &prefixer{w: r.out, prefix: n.Name() + "! "}
	c.Stdout.Tee(stdout)
	c.Stderr.Tee(stderr)
	if m == inBack {
		r.background[n.Name()] = c
		return nil
	}
	res, err := c.Wait()
	if err := errors.Join(err, stdout.flush(), stderr.flush()); err != nil {
		return err
	}
	return r.ended(n, res, m)
}

func (r *runner) ended(n *vm.Node, res vm.Result, m mode) error {
	if res.ExitCode == 0 {
		return nil
	}
	how := fmt.Sprintf("%s: exit status %d, signal %d", n.Name(), res.ExitCode, res.Signal)
	if m == mayFail {
		_, err := fmt.Fprintln(r.out, how)
		return err
	}
	return errors.New(how)
}

// A directive is a line that is not a command for a node.
type directive struct {
	min, max int // arguments; max -1 for any number
	usage    string
	do       func(r *runner, ctx context.Context, args []string) error
}

var directives = map[string]directive{
	"wait":    {2, 2, "NODE REGEXP", (*runner).wait},
	"kill":    {1, 2, "NODE [SIGNAL]", (*runner).kill},
	"join":    {1, 1, "NODE", (*runner).join},
	"ping":    {2, 2, "NODE NODE", (*runner).ping},
	"load":    {3, -1, "NODE stock|ours MODULE [PARAMETER...]", (*runner).load},
	"unload":  {1, -1, "NODE [MODULE...]", (*runner).unload},
	"drop":    {2, 2, "NODE RATE", (*runner).drop},
	"cut":     {1, 1, "NODE", (*runner).cut},
	"restore": {1, 1, "NODE", (*runner).restore},
	"reset":   {0, 0, "", (*runner).reset},
	"get":     {3, 3, "NODE PATH FILE", (*runner).get},
	"capture": {1, 1, "NAME", (*runner).capture},
	"sleep":   {1, 1, "DURATION", (*runner).sleep},
}

func (r *runner) running(name string) (*vm.Node, *vm.Cmd, error) {
	n, err := r.node(name)
	if err != nil {
		return nil, nil, err
	}
	c, ok := r.background[name]
	if !ok {
		return nil, nil, fmt.Errorf("no background command on node %s", name)
	}
	return n, c, nil
}

func (r *runner) wait(ctx context.Context, args []string) error {
	_, c, err := r.running(args[0])
	if err != nil {
		return err
	}
	re, err := regexp.Compile(args[1])
	if err != nil {
		return err
	}
	_, err = c.Stdout.WaitLine(ctx, re)
	return err
}

var signals = map[string]syscall.Signal{
	"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "KILL": syscall.SIGKILL, "HUP": syscall.SIGHUP,
}

func (r *runner) kill(_ context.Context, args []string) error {
	_, c, err := r.running(args[0])
	if err != nil {
		return err
	}
	sig := syscall.SIGTERM
	if len(args) == 2 {
		var ok bool
		if sig, ok = signals[strings.TrimPrefix(args[1], "SIG")]; !ok {
			return fmt.Errorf("unknown signal %q; TERM, INT, KILL and HUP are known", args[1])
		}
	}
	res, err := c.Stop(sig)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.out, "%s: exit status %d, signal %d\n", args[0], res.ExitCode, res.Signal)
	return err
}

func (r *runner) join(_ context.Context, args []string) error {
	n, c, err := r.running(args[0])
	if err != nil {
		return err
	}
	res, err := c.Wait()
	if err != nil {
		return err
	}
	return r.ended(n, res, mustSucceed)
}

func (r *runner) ping(ctx context.Context, args []string) error {
	from, err := r.node(args[0])
	if err != nil {
		return err
	}
	to, err := r.node(args[1])
	if err != nil {
		return err
	}
	rtt, err := from.Ping(ctx, to.IP(), 5, 56)
	if err != nil {
		return err
	}
	if len(rtt) == 0 {
		return errors.New("no answer")
	}
	_, err = fmt.Fprintf(r.out, "%s: %d answers from %s, %v\n", args[0], len(rtt), to.IP(), rtt)
	return err
}

func (r *runner) load(ctx context.Context, args []string) error {
	n, err := r.node(args[0])
	if err != nil {
		return err
	}
	return n.Load(ctx, vm.Module{Name: args[2], From: vm.Origin(args[1]), Params: strings.Join(args[3:], " ")})
}

func (r *runner) unload(ctx context.Context, args []string) error {
	n, err := r.node(args[0])
	if err != nil {
		return err
	}
	if len(args) == 1 {
		return n.UnloadRDS(ctx)
	}
	return n.Unload(ctx, args[1:]...)
}

func (r *runner) drop(_ context.Context, args []string) error {
	n, err := r.node(args[0])
	if err != nil {
		return err
	}
	rate, err := strconv.ParseFloat(args[1], 64)
	if err != nil || rate < 0 || rate > 1 {
		return fmt.Errorf("rate %q: it must be a number from 0 to 1", args[1])
	}
	_, err = n.Link(0).Add(ether.ToNode, ether.Rule{Name: "drop", Pick: ether.Rate(rate), Do: ether.Drop()})
	return err
}

func (r *runner) cut(_ context.Context, args []string) error {
	n, err := r.node(args[0])
	if err == nil {
		n.Link(0).Cut()
	}
	return err
}

func (r *runner) restore(_ context.Context, args []string) error {
	n, err := r.node(args[0])
	if err == nil {
		n.Link(0).Restore()
	}
	return err
}

func (r *runner) reset(context.Context, []string) error {
	r.env.Switch().Reset()
	return nil
}

func (r *runner) get(ctx context.Context, args []string) error {
	n, err := r.node(args[0])
	if err != nil {
		return err
	}
	b, err := n.ReadFile(ctx, args[1])
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(args[2]), 0o755); err != nil {
		return err
	}
	return os.WriteFile(args[2], b, 0o644)
}

func (r *runner) capture(_ context.Context, args []string) error {
	c, err := r.env.Capture(args[0])
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.out, "capturing to %s\n", c.Path())
	return err
}

func (r *runner) sleep(ctx context.Context, args []string) error {
	d, err := time.ParseDuration(args[0])
	if err != nil {
		return err
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
