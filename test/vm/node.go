// SPDX-License-Identifier: MIT

package vm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rds-ext/rds_ext/test/vm/agent"
	"github.com/rds-ext/rds_ext/test/vm/ether"
	"github.com/rds-ext/rds_ext/test/vm/qemu"
	"github.com/rds-ext/rds_ext/test/vm/splat"
)

// A Node is a VM. All its methods can be called at the same time.
//
// Each method fails if the VM has died, hangs, or has reported a fault of its
// kernel by the time it returns, even if what it did went well.
type Node struct {
	env    *Env
	spec   Spec
	number int
	dir    string

	proc   *qemu.Process
	client *agent.Client
	splats *splat.Watcher
	ended  context.CancelFunc // ends the goroutines that watch

	mu       sync.Mutex
	failure  error // death or hang
	stopping bool  // its end is wanted
	closed   bool
	origins  map[string]Origin
}

// Name is the node's name.
func (n *Node) Name() string { return n.spec.Name }

// IP is the node's first address.
func (n *Node) IP() string { return n.spec.firstIP() }

// Dir is the directory of the node's logs.
func (n *Node) Dir() string { return n.dir }

// Pid is the process number of the node's QEMU.
func (n *Node) Pid() int { return n.proc.Pid() }

// Link is the link of the node's i-th network device, from 0.
func (n *Node) Link(i int) *ether.Link { return n.env.sw.Link(linkName(n.spec.Name, i)) }

// Console returns the last lines of the console.
func (n *Node) Console() []string { return n.proc.Console.Tail() }

// Err returns what is wrong with the VM, or nil.
func (n *Node) Err() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var errs []error
	for _, r := range n.splats.Reports() {
		errs = append(errs, r)
	}
	if n.failure != nil {
		errs = append(errs, n.failure)
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("node %s: %w\n\tlogs: %s", n.spec.Name, errors.Join(errs...), n.dir)
}

// wrap adds to the error of an operation what is wrong with the VM.
func (n *Node) wrap(err error) error {
	bad := n.Err()
	if err == nil || bad != nil && err.Error() == bad.Error() {
		return bad
	}
	if bad == nil {
		return fmt.Errorf("node %s: %w", n.spec.Name, err)
	}
	return errors.Join(fmt.Errorf("node %s: %w", n.spec.Name, err), bad)
}

func (n *Node) fail(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failure == nil {
		n.failure = err
	}
}

func (n *Node) origin(module string) Origin {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.origins[module]
}

func (n *Node) setOrigin(module string, from Origin) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.origins[module] = from
}

// watch follows the process and the agent until the node is closed.
func (n *Node) watch(ctx context.Context) {
	go func() {
		<-n.proc.Done()
		n.noteEnd()
	}()
	go n.heartbeat(ctx)
}

// noteEnd records, after the end of QEMU, that nobody wanted it.
func (n *Node) noteEnd() {
	n.mu.Lock()
	wanted := n.stopping
	n.mu.Unlock()
	if !wanted {
		n.fail(fmt.Errorf("the VM ended although nobody asked it to (QEMU: %s); last lines of the console:\n\t%s",
			exitText(n.proc), strings.Join(n.proc.Console.Tail(), "\n\t")))
	}
}

// exitText says how QEMU ended.
func exitText(p *qemu.Process) string {
	how := "exit status 0"
	if err := p.Err(); err != nil {
		how = err.Error()
	}
	if said := p.Messages(); said != "" {
		how += ", " + said
	}
	return how
}

// heartbeat asks the agent again and again. One that does not answer is hung,
// and ended, or every operation would wait for its own limit.
func (n *Node) heartbeat(ctx context.Context) {
	limit := n.env.cfg.HangLimit
	tick := time.NewTicker(max(limit/12, 100*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.client.Done():
			return
		case <-tick.C:
		}
		bctx, cancel := context.WithTimeout(ctx, limit)
		err := n.client.Call(bctx, agent.OpHeartbeat, nil, nil)
		timedOut := bctx.Err() != nil && ctx.Err() == nil
		cancel()
		if err != nil && timedOut {
			n.fail(fmt.Errorf("the VM hangs: no answer for %v; last lines of the console:\n\t%s",
				limit, strings.Join(n.proc.Console.Tail(), "\n\t")))
			n.proc.Kill()
			return
		}
	}
}

// limit gives a context without deadline the limit of operations.
func (n *Node) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	d := n.env.cfg.OpLimit
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("not done within %v", d))
}

// settle waits, after the port has ended, for the reason: QEMU is about to end
// or has just done so, and its console says why.
func (n *Node) settle(err error) {
	if errors.Is(err, agent.ErrClosed) && n.proc.Wait(endLimit) {
		n.noteEnd()
	}
}

func (n *Node) call(ctx context.Context, op agent.Op, args, result any) error {
	ctx, cancel := n.limit(ctx)
	defer cancel()
	err := n.client.Call(ctx, op, args, result)
	n.settle(err)
	return err
}

// Ping sends ICMP echo requests to an address and returns the time of each
// answer. Requests without an answer within 1 s are missing from it.
func (n *Node) Ping(ctx context.Context, to string, count, size int) ([]time.Duration, error) {
	var res agent.PingResult
	err := n.call(ctx, agent.OpPing, agent.Ping{To: to, Count: count, Size: size, Timeout: time.Second}, &res)
	return res.RTT, n.wrap(err)
}

// ReadFile returns the content of a file, of /proc and /sys as well.
func (n *Node) ReadFile(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := n.limit(ctx)
	defer cancel()
	b, err := n.client.ReadFile(ctx, path)
	n.settle(err)
	return b, n.wrap(err)
}

// WriteFile creates a file, or replaces one, readable by all and executable.
func (n *Node) WriteFile(ctx context.Context, path string, data []byte) error {
	return n.write(ctx, agent.File{Path: path, Perm: 0o755}, data)
}

// Set writes a value to an existing file of /proc or /sys.
func (n *Node) Set(ctx context.Context, path, value string) error {
	return n.write(ctx, agent.File{Path: path, Direct: true}, []byte(value))
}

func (n *Node) write(ctx context.Context, f agent.File, data []byte) error {
	ctx, cancel := n.limit(ctx)
	defer cancel()
	err := n.client.WriteFile(ctx, f, data)
	n.settle(err)
	return n.wrap(err)
}

// SetUpNetwork sets up further network devices, or the same ones differently.
func (n *Node) SetUpNetwork(ctx context.Context, net agent.Network) error {
	return n.wrap(n.call(ctx, agent.OpNetwork, net, nil))
}

// RDMALinks returns the RDMA devices.
func (n *Node) RDMALinks(ctx context.Context) ([]agent.RDMALink, error) {
	var links []agent.RDMALink
	err := n.call(ctx, agent.OpRDMALinks, nil, &links)
	return links, n.wrap(err)
}

// DeleteRDMALink removes an RDMA device.
func (n *Node) DeleteRDMALink(ctx context.Context, name string) error {
	return n.wrap(n.call(ctx, agent.OpDelRDMA, agent.RDMALink{Name: name}, nil))
}

// Signal sends a signal to QEMU: SIGSTOP and SIGCONT stop the VM for a while.
func (n *Node) Signal(sig os.Signal) error {
	return n.proc.Signal(sig)
}

// ConsoleLog is the path of the console's log.
func (n *Node) ConsoleLog() string { return filepath.Join(n.dir, qemu.ConsoleLog) }
