// SPDX-License-Identifier: MIT

package vm

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/rds-ext/rds_ext/test/vm/agent"
	"github.com/rds-ext/rds_ext/test/vm/qemu"
	"github.com/rds-ext/rds_ext/test/vm/splat"
)

// byeLimit is how long a VM may take to say goodbye, endLimit how long to
// switch itself off after that.
const (
	byeLimit = 30 * time.Second
	endLimit = 20 * time.Second
)

// trialLimit is how long the boot may take that tries out an accelerator.
const trialLimit = 15 * time.Second

// controlPair returns our end and QEMU's of the socket behind the agent's port.
func controlPair() (net.Conn, *os.File, error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("control socket: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control")
	conn, err := net.FileConn(ours)
	if err := errors.Join(err, ours.Close()); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("control socket: %w", err), theirs.Close())
	}
	return conn, theirs, nil
}

// launch starts QEMU and waits until its agent has answered. On failure
// nothing is left running.
func launch(ctx context.Context, c qemu.Config, watcher *splat.Watcher) (*qemu.Process, *agent.Client, error) {
	conn, theirs, err := controlPair()
	if err != nil {
		return nil, nil, err
	}
	token := rand.Text()
	c.Control = theirs
	// First, so that a test of this package can give another one after it.
	c.Append = append([]string{agent.TokenParam + "=" + token}, c.Append...)
	proc, err := qemu.Start(c, watcher.Line)
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	type dialed struct {
		client *agent.Client
		err    error
	}
	answer := make(chan dialed, 1)
	go func() {
		client, err := agent.Dial(conn, token)
		answer <- dialed{client, err}
	}()
	var d dialed
	select {
	case d = <-answer:
		if d.err == nil {
			return proc, d.client, nil
		}
		// The port ends a little before QEMU does.
		if proc.Wait(endLimit) {
			d.err = fmt.Errorf("%w; %w", d.err, fmt.Errorf("QEMU: %s", exitText(proc)))
		}
	case <-ctx.Done():
		d.err = context.Cause(ctx)
		if cerr := conn.Close(); cerr != nil {
			d.err = errors.Join(d.err, cerr)
		}
	}
	proc.Kill()
	return nil, nil, fmt.Errorf("VM %s did not come up: %w; last lines of the console:\n\t%s\n\tlogs: %s",
		c.Name, d.err, consoleText(proc), c.Dir)
}

func consoleText(p *qemu.Process) string {
	if t := p.Console.Tail(); len(t) > 0 {
		return strings.Join(t, "\n\t")
	}
	return "(it never printed anything)"
}

func (n *Node) boot(ctx context.Context) error {
	if err := os.MkdirAll(n.dir, 0o755); err != nil {
		return err
	}
	cfg := qemu.Config{
		Name: n.spec.Name, Dir: n.dir,
		Kernel: n.env.image.kernel, Initrd: n.env.image.initrd,
		Append: n.env.kernelParams(n.spec.Append), Memory: n.spec.Memory, CPUs: n.spec.CPUs,
		Accel: n.env.accel, Extra: n.spec.QEMU,
	}
	for i := range n.spec.NICs {
		_, socket, err := n.env.sw.AddLink(linkName(n.spec.Name, i))
		if err != nil {
			return err
		}
		cfg.NICs = append(cfg.NICs, qemu.NIC{MAC: macOf(n.number, i), Socket: socket, MTU: maxMTU})
	}
	start := time.Now()
	limit := n.env.cfg.BootLimit
	bctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %v", limit))
	defer cancel()
	var err error
	if n.proc, n.client, err = launch(bctx, cfg, n.splats); err != nil {
		return n.wrap(err)
	}
	wctx, end := context.WithCancel(context.Background())
	n.ended = end
	n.watch(wctx)
	if err := n.setUp(bctx); err != nil {
		return n.wrap(err)
	}
	n.env.cfg.Log("node %s is up after %.1f s (%s, %s, pid %d), logs in %s",
		n.spec.Name, time.Since(start).Seconds(), n.client.Hello.Kernel, n.env.accel, n.proc.Pid(), n.dir)
	return n.Err()
}

// hungTask is how long a task may wait: two minutes, the default, are longer than
// most tests.
const hungTask = time.Minute

// kernelParams puts in front of the parameters of a VM those of all.
func (e *Env) kernelParams(own []string) []string {
	all := []string{
		fmt.Sprintf("sysctl.kernel.hung_task_timeout_secs=%d", int(e.kernel.scale(hungTask).Seconds())),
	}
	if e.kernel.kasan {
		// While it identifies the CPU, the kernel forgets for a moment that there are
		// five levels, and KASAN takes every address for a wild one.
		all = append(all, "no5lvl")
	}
	if e.kernel.failslab {
		all = append(all, markKmalloc)
	}
	return append(all, own...)
}

// setUp loads the drivers of the network devices and sets those up.
func (n *Node) setUp(ctx context.Context) error {
	mods := []Module{{Name: "virtio_net", From: Stock}}
	for _, nic := range n.spec.NICs {
		if !nic.NoRXE {
			mods = append(mods, Module{Name: "rdma_rxe", From: Stock})
			break
		}
	}
	if err := n.Load(ctx, mods...); err != nil {
		return err
	}
	return n.call(ctx, agent.OpNetwork, n.spec.network(n.number), nil)
}

// chooseAccel boots a VM with each accelerator, unless that is known already.
func (e *Env) chooseAccel(ctx context.Context) error {
	cache := filepath.Join(e.cfg.Build, "vm", "accel.json")
	memory := DefaultMemory
	if e.kernel.kasan {
		memory = checkedMemory
	}
	trial, err := qemu.Choose(ctx, cache, e.kernel.scale(trialLimit), func(ctx context.Context, a qemu.Accel) error {
		dir := filepath.Join(e.dir, "accel-"+string(a))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		e.cfg.Log("trying out the accelerator %s", a)
		proc, client, err := launch(ctx, qemu.Config{
			Name: "accel-" + string(a), Dir: dir, Kernel: e.image.kernel, Initrd: e.image.initrd,
			Append: e.kernelParams(nil), Memory: memory, CPUs: 1, Accel: a,
		}, splat.NewWatcher(e.kernel.known()...))
		if err != nil {
			return err
		}
		defer proc.Kill()
		return client.Close()
	})
	if err != nil {
		return err
	}
	e.accel = trial.Chosen
	return nil
}

// abandon ends a VM that is of no use.
func (n *Node) abandon() {
	n.mu.Lock()
	n.stopping, n.closed = true, true
	n.mu.Unlock()
	if n.ended != nil {
		n.ended()
	}
	if n.proc != nil {
		n.proc.Kill()
	}
}

// Kill ends the VM at once, as a power failure would. The node is of no use
// afterwards, but has not failed.
func (n *Node) Kill() {
	n.mu.Lock()
	n.stopping, n.closed = true, true
	n.mu.Unlock()
	n.ended()
	n.proc.Kill()
}

// PowerOff switches the VM off in order. The node is of no use afterwards.
func (n *Node) PowerOff() error { return n.close() }

// close switches the VM off and returns everything that was ever wrong with it.
func (n *Node) close() error {
	n.mu.Lock()
	closed := n.closed
	dead := n.failure != nil
	n.closed = true
	n.stopping = n.stopping || !dead
	n.mu.Unlock()
	if closed {
		return n.Err()
	}
	if n.client == nil { // it never came up, which Boot has reported
		return nil
	}
	n.ended()
	if dead {
		n.proc.Kill()
		n.splats.Flush()
		return n.Err()
	}
	err := n.lastChecks()
	err = errors.Join(err, n.sayGoodbye())
	if !n.proc.Wait(n.env.kernel.scale(endLimit)) {
		err = errors.Join(err, fmt.Errorf("QEMU did not end within %v", n.env.kernel.scale(endLimit)))
		n.proc.Kill()
	} else if perr := n.proc.Err(); perr != nil {
		err = errors.Join(err, fmt.Errorf("QEMU: %w", perr))
	}
	_ = n.client.Close() // its other end is gone
	n.splats.Flush()
	for why, count := range n.splats.Passed() {
		n.env.cfg.Log("node %s: let pass %d times: %s", n.spec.Name, count, why)
	}
	return n.wrap(err)
}

// lastChecks asks a kernel that checks itself what it does not say unasked.
func (n *Node) lastChecks() error {
	if n.Err() != nil {
		return nil // it has failed already, and each operation would say so again
	}
	var errs []error
	if n.env.kernel.kmemleak {
		errs = append(errs, n.leaks())
	}
	if n.env.kernel.lockdep {
		errs = append(errs, n.lockdep())
	}
	return errors.Join(errs...)
}

// sayGoodbye asks the agent for its last word. Without that the VM has failed,
// whatever else it said.
func (n *Node) sayGoodbye() error {
	limit := n.env.kernel.scale(byeLimit)
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, fmt.Errorf("no goodbye within %v", limit))
	defer cancel()
	var bye agent.Bye
	if err := n.client.Call(ctx, agent.OpPowerOff, nil, &bye); err != nil {
		n.settle(err)
		err = fmt.Errorf("the VM ended without its token: %w; last lines of the console:\n\t%s", err, consoleText(n.proc))
		n.proc.Kill()
		return err
	}
	if bye.Token != n.client.Hello.Token {
		return fmt.Errorf("the VM ended with the token %q, expected %q", bye.Token, n.client.Hello.Token)
	}
	if bad := bye.Taint & agent.TaintBad; bad != 0 && len(n.splats.Passed()) == 0 {
		return fmt.Errorf("the kernel is tainted by a fault of its own: flags %#x of %#x", bad, bye.Taint)
	}
	return nil
}
