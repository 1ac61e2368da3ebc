// SPDX-License-Identifier: MIT

package vm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// Origin says whose build of a module is meant.
type Origin string

// The origins.
const (
	Stock Origin = "stock" // the distribution's
	Ours  Origin = "ours"  // from build/kmod
)

// A Module is a module to load.
type Module struct {
	Name   string
	From   Origin
	Params string // "name=value ..."
}

// rdsModules are the modules of RDS in the order in which they can be unloaded.
var rdsModules = []string{"rds_ext", "rds_rdma", "rds_tcp", "rds"}

// StockRDS are the distribution's RDS modules with all transports.
func StockRDS() []Module {
	return []Module{{Name: "rds", From: Stock}, {Name: "rds_rdma", From: Stock}, {Name: "rds_tcp", From: Stock}}
}

// OurRDS are our RDS modules, the distribution's TCP transport, which must work
// on top of them, and rds_ext.
func OurRDS() []Module {
	return append(PatchedRDS(), Module{Name: "rds_ext", From: Ours})
}

// PatchedRDS is OurRDS without rds_ext: what must behave as stock does.
func PatchedRDS() []Module {
	return []Module{{Name: "rds", From: Ours}, {Name: "rds_rdma", From: Ours}, {Name: "rds_tcp", From: Stock}}
}

// LoadedModules returns the loaded modules, as /proc/modules lists them.
func (n *Node) LoadedModules(ctx context.Context) ([]agent.LoadedModule, error) {
	var mods []agent.LoadedModule
	err := n.call(ctx, agent.OpModules, nil, &mods)
	return mods, n.wrap(err)
}

// Load loads modules in the given order, each after what it needs: of that,
// what is loaded already counts whatever its origin; otherwise a module of ours
// prefers its like, and a stock one takes stock. It is an error if a named
// module is loaded already from the other origin.
func (n *Node) Load(ctx context.Context, mods ...Module) error {
	loaded, err := n.LoadedModules(ctx)
	if err != nil {
		return err
	}
	l := loader{n: n, loaded: make(map[string]bool)}
	for _, m := range loaded {
		l.loaded[m.Name] = true
	}
	for _, m := range mods {
		if err := l.load(ctx, m, true); err != nil {
			return n.wrap(err)
		}
	}
	return nil
}

// loader loads modules in the order of their dependencies.
type loader struct {
	n      *Node
	loaded map[string]bool
}

func (l *loader) load(ctx context.Context, m Module, named bool) error {
	m.Name = strings.ReplaceAll(m.Name, "-", "_")
	im := l.n.env.image
	if l.loaded[m.Name] {
		if from := l.n.origin(m.Name); named && from != m.From {
			return fmt.Errorf("module %s is to be loaded from %s, but is already, from %s", m.Name, m.From, from)
		}
		return nil
	}
	var needs []string
	switch m.From {
	case Stock:
		if im.tree.Builtin(m.Name) {
			return nil
		}
		order, err := im.tree.Order(m.Name)
		if err != nil {
			return err
		}
		needs = order[:len(order)-1]
	case Ours:
		mi, ok := im.ours[m.Name]
		if !ok {
			return fmt.Errorf("no module %s of ours in %s; run make kmod KVER=%s", m.Name, l.n.env.cfg.oursDir(), l.n.env.cfg.Kernel)
		}
		needs = mi.Depends
	default:
		return fmt.Errorf("module %s: unknown origin %q", m.Name, m.From)
	}
	for _, d := range needs {
		dep := Module{Name: d, From: Stock}
		if _, ok := im.ours[d]; ok && m.From == Ours {
			dep.From = Ours
		}
		if err := l.load(ctx, dep, false); err != nil {
			return err
		}
	}
	args := agent.Load{Path: modulePathInGuest(m.From, m.Name), Params: m.Params}
	if err := l.n.call(ctx, agent.OpLoad, args, nil); err != nil {
		return err
	}
	l.loaded[m.Name] = true
	l.n.setOrigin(m.Name, m.From)
	return nil
}

// unloadRetry is how often a module in use is tried again: references are
// dropped behind the back of who held them, and nothing announces it.
const unloadRetry = 50 * time.Millisecond

// unloadLimit is how long a module may stay in use after it is to be unloaded.
const unloadLimit = 15 * time.Second

// Unload removes modules in the given order. One that is not loaded is passed
// over. One that stays in use for 15 s is an error that says by what.
func (n *Node) Unload(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := n.unload(ctx, name); err != nil {
			return n.wrap(err)
		}
	}
	return nil
}

func (n *Node) unload(ctx context.Context, name string) error {
	for start := time.Now(); ; {
		err := n.call(ctx, agent.OpUnload, agent.Unload{Name: name}, nil)
		switch {
		case err == nil || errors.Is(err, syscall.ENOENT):
			n.setOrigin(name, "")
			return nil
		case !errors.Is(err, syscall.EAGAIN):
			return err
		case time.Since(start) > unloadLimit:
			return n.stillUsed(ctx, name)
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(unloadRetry):
		}
	}
}

func (n *Node) stillUsed(ctx context.Context, name string) error {
	mods, err := n.LoadedModules(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(mods, func(m agent.LoadedModule) bool { return m.Name == name })
	if i < 0 {
		return fmt.Errorf("module %s could not be unloaded for %v and is gone now", name, unloadLimit)
	}
	return fmt.Errorf("module %s has been in use for %v: %d references, by modules %q", name, unloadLimit, mods[i].Refs, mods[i].UsedBy)
}

// UseRDS unloads all RDS modules and loads others instead.
func (n *Node) UseRDS(ctx context.Context, mods ...Module) error {
	if err := n.Unload(ctx, rdsModules...); err != nil {
		return err
	}
	return n.Load(ctx, mods...)
}

// UnloadRDS unloads all RDS modules.
func (n *Node) UnloadRDS(ctx context.Context) error { return n.Unload(ctx, rdsModules...) }
