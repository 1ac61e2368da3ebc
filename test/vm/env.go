// SPDX-License-Identifier: MIT

package vm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/rds-ext/rds_ext/test/vm/ether"
	"github.com/rds-ext/rds_ext/test/vm/qemu"
	"github.com/rds-ext/rds_ext/test/vm/splat"
)

// TB is what [New] needs of a *testing.T.
type TB interface {
	Name() string
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// An Env is a switch with the VMs on it, and a directory for what they leave.
type Env struct {
	cfg    Config
	dir    string
	image  *image
	kernel checks
	accel  qemu.Accel
	sw     *ether.Switch

	mu       sync.Mutex
	nodes    []*Node
	booted   int // counts the names and addresses given out
	captures []*ether.Capture
	closed   bool
}

// New makes the environment of a test and ends the test if it cannot. At the
// end of the test the environment is closed, and whatever [Env.Close] finds
// fails the test.
func New(t TB, cfg Config) *Env {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = t.Name()
	}
	if cfg.Log == nil {
		cfg.Log = t.Logf
	}
	env, err := Open(context.Background(), cfg)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		t.Helper()
		if err := env.Close(); err != nil {
			t.Errorf("%v", err)
		}
	})
	return env
}

// Open makes an environment without VMs. The caller must close it.
func Open(ctx context.Context, cfg Config) (*Env, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	im, err := buildImage(ctx, &cfg)
	if err != nil {
		return nil, err
	}
	kernel, err := readChecks(cfg.kernelDir())
	if err != nil {
		return nil, err
	}
	for _, d := range []*time.Duration{&cfg.BootLimit, &cfg.HangLimit, &cfg.OpLimit} {
		*d = kernel.scale(*d)
	}
	cfg.Known = append(kernel.known(), cfg.Known...)
	dir := filepath.Join(cfg.Build, "vm", dirName(cfg.Kernel), dirName(cfg.Name))
	// What an earlier run of the same name has left would be taken for this one's.
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	env := &Env{cfg: cfg, dir: dir, image: im, kernel: kernel, accel: cfg.Accel, sw: ether.New(cfg.Seed)}
	if env.accel == "" {
		if err := env.chooseAccel(ctx); err != nil {
			return nil, err
		}
	}
	return env, nil
}

// Dir is the directory with the logs and captures of this run.
func (e *Env) Dir() string { return e.dir }

// Release is the kernel release of the VMs.
func (e *Env) Release() string { return e.image.release }

// Accel is the accelerator of the VMs.
func (e *Env) Accel() qemu.Accel { return e.accel }

// Switch is the switch between the VMs. The link of a node has its name.
func (e *Env) Switch() *ether.Switch { return e.sw }

// Link is the link of a node's first network device.
func (e *Env) Link(n *Node) *ether.Link { return e.sw.Link(n.Name()) }

// Capture starts a capture to NAME.pcapng in [Env.Dir], or to NAME-2.pcapng if
// there is one, and so on. It ends with its Close or with the environment.
func (e *Env) Capture(name string) (*ether.Capture, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	base := filepath.Join(e.dir, dirName(name))
	path := base + ".pcapng"
	for i := 2; slices.ContainsFunc(e.captures, func(c *ether.Capture) bool { return c.Path() == path }); i++ {
		path = fmt.Sprintf("%s-%d.pcapng", base, i)
	}
	c, err := e.sw.Capture(path)
	if err != nil {
		return nil, err
	}
	e.captures = append(e.captures, c)
	return c, nil
}

// Boot boots VMs, all at the same time, and returns when all answer and have
// their network set up. If one fails, all are ended.
func (e *Env) Boot(ctx context.Context, specs ...Spec) ([]*Node, error) {
	nodes := make([]*Node, len(specs))
	errs := make([]error, len(specs))
	var wg sync.WaitGroup
	for i, s := range specs {
		n, err := e.newNode(s)
		if err != nil {
			errs[i] = err
			break
		}
		nodes[i] = n
		wg.Go(func() { errs[i] = n.boot(ctx) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		for _, n := range nodes {
			if n != nil {
				n.abandon()
			}
		}
		return nil, err
	}
	return nodes, nil
}

// Pair boots two VMs named a and b with the addresses 10.77.0.1 and 10.77.0.2,
// or the next two.
func (e *Env) Pair(ctx context.Context) (a, b *Node, err error) {
	nodes, err := e.Boot(ctx, Spec{Name: "a"}, Spec{Name: "b"})
	if err != nil {
		return nil, nil, err
	}
	return nodes[0], nodes[1], nil
}

func (e *Env) newNode(s Spec) (*Node, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errors.New("the environment is closed")
	}
	for _, n := range e.nodes {
		if n.spec.Name == s.Name {
			return nil, fmt.Errorf("there is a node %q already", s.Name)
		}
	}
	e.booted++
	if err := s.complete(e.booted); err != nil {
		return nil, err
	}
	if e.kernel.kasan {
		s.Memory = max(s.Memory, checkedMemory)
	}
	n := &Node{env: e, spec: s, number: e.booted, dir: filepath.Join(e.dir, s.Name),
		splats: splat.NewWatcher(e.cfg.Known...), origins: make(map[string]Origin)}
	e.nodes = append(e.nodes, n)
	return n, nil
}

// Err returns what is wrong with any VM so far: a kernel report, an end that
// was not asked for, a hang. Operations of a [Node] return it, too.
func (e *Env) Err() error {
	e.mu.Lock()
	nodes := e.nodes
	e.mu.Unlock()
	var errs []error
	for _, n := range nodes {
		errs = append(errs, n.Err())
	}
	return errors.Join(errs...)
}

// Close switches the VMs off and ends the captures. The error has everything
// that was ever wrong with a VM, and a VM that does not say goodbye properly.
func (e *Env) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	nodes, captures := e.nodes, e.captures
	e.mu.Unlock()
	errs := make([]error, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() { errs[i] = n.close() })
	}
	wg.Wait()
	for _, c := range captures {
		errs = append(errs, c.Close())
	}
	errs = append(errs, e.sw.Close())
	return errors.Join(errs...)
}
