// SPDX-License-Identifier: MIT

// Command vmrun boots VMs on a switch and runs a script on them: for
// experiments, and to repeat by hand what a test did.
//
//	vmrun -kernel 6.1 -modules stock [-nodes 2] [-put FILE]... [SCRIPT | -- LINE...]
//
// Without SCRIPT it reads standard input, so that lines can be typed. Behind
// "--" each argument is a line. The nodes are named a, b, c and so on and have
// the addresses 10.77.0.1, 10.77.0.2 and so on. The lines of a script:
//
//	NODE: COMMAND...          run a command; exit status 0 expected
//	NODE- COMMAND...          run a command; any exit status will do
//	NODE& COMMAND...          start a command in the background
//	wait NODE REGEXP          wait for a line printed by the last background command
//	kill NODE [SIGNAL]        end the last background command (SIGTERM if not given), wait for it
//	join NODE                 wait for the end of the last background command; exit status 0 expected
//	ping NODE NODE            five echo requests
//	load NODE ORIGIN MODULE [PARAMETER...]  (ORIGIN is stock or ours)
//	unload NODE [MODULE...]   all RDS modules if none is named
//	drop NODE RATE            drop that share of the frames to the node, 0 to 1
//	cut NODE, restore NODE    the node's link
//	reset                     mend all links, remove all rules
//	get NODE PATH FILE        copy a file of the node to FILE on this machine
//	capture NAME              capture to NAME.pcapng in the run's directory
//	sleep DURATION
//
// Words are split as by a shell, "#" begins a comment. vmrun prints what the
// commands print, each line behind the node's name, and ends with status 1 if a
// line fails or a VM does, by a report of its kernel, say.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rds-ext/rds_ext/test/vm"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "vmrun:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	cfg := vm.RegisterFlags(flag.CommandLine)
	modules := flag.String("modules", "stock", "RDS `modules` to load: stock, patched (ours without rds_ext), ours or none")
	count := flag.Int("nodes", 2, "`number` of VMs, 1 to 9")
	mtu := flag.Int("mtu", vm.DefaultMTU, "`MTU` of the network devices")
	memory := flag.Int("memory", vm.DefaultMemory, "memory of each VM in `MiB`")
	cpus := flag.Int("cpus", 1, "`number` of CPUs of each VM")
	limit := flag.Duration("limit", 10*time.Minute, "`time` after which everything is ended")
	flag.StringVar(&cfg.Name, "name", "vmrun", "`name` of the run's directory below build/vm/KERNEL")
	cfg.Files = make(map[string]string)
	flag.Func("put", "`file` to put into /bin of the VMs; can be given several times", func(s string) error {
		cfg.Files["/bin/"+filepath.Base(s)] = s
		return nil
	})
	flag.Usage = usage
	flag.Parse()
	cfg.Log = func(format string, args ...any) { fmt.Fprintf(os.Stderr, "vmrun: "+format+"\n", args...) }

	set, err := moduleSet(*modules)
	if err != nil {
		return err
	}
	if *count < 1 || *count > 9 {
		return fmt.Errorf("-nodes %d: it must be between 1 and 9", *count)
	}
	lines, err := script(flag.Args())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), *limit, fmt.Errorf("the limit of %v has passed; see -limit", *limit))
	defer cancel()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()

	env, err := vm.Open(ctx, *cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	var specs []vm.Spec
	for i := range *count {
		specs = append(specs, vm.Spec{
			Name: string(rune('a' + i)), NICs: []vm.NIC{{MTU: *mtu}}, Memory: *memory, CPUs: *cpus,
		})
	}
	nodes, err := env.Boot(ctx, specs...)
	if err != nil {
		return err
	}
	r := &runner{env: env, nodes: make(map[string]*vm.Node), background: make(map[string]*vm.Cmd), out: os.Stdout}
	for _, n := range nodes {
		if err := n.Load(ctx, set...); err != nil {
			return err
		}
		r.nodes[n.Name()] = n
	}
	return r.runAll(ctx, lines)
}

func usage() {
	w := flag.CommandLine.Output()
	fmt.Fprintf(w, "usage: vmrun [flags] [SCRIPT | -- LINE...]\n\nlines: NODE: COMMAND..., NODE- COMMAND..., NODE& COMMAND...\n")
	for _, name := range slices.Sorted(maps.Keys(directives)) {
		fmt.Fprintf(w, "       %s %s\n", name, directives[name].usage)
	}
	fmt.Fprintln(w)
	flag.PrintDefaults()
}

func moduleSet(name string) ([]vm.Module, error) {
	switch name {
	case "stock":
		return vm.StockRDS(), nil
	case "patched":
		return vm.PatchedRDS(), nil
	case "ours":
		return vm.OurRDS(), nil
	case "none":
		return nil, nil
	}
	return nil, fmt.Errorf("-modules %s: it must be stock, patched, ours or none", name)
}

// script returns the lines to run as they come.
func script(args []string) (*bufio.Scanner, error) {
	switch {
	case len(args) == 0:
		return bufio.NewScanner(os.Stdin), nil
	case len(args) == 1 && !strings.ContainsAny(args[0], " \t"):
		b, err := os.ReadFile(args[0])
		if err != nil {
			return nil, err
		}
		return bufio.NewScanner(strings.NewReader(string(b))), nil
	}
	return bufio.NewScanner(strings.NewReader(strings.Join(args, "\n"))), nil
}

// A prefixer puts a name before each line.
type prefixer struct {
	w      io.Writer
	prefix string
	part   strings.Builder
}

func (p *prefixer) Write(b []byte) (int, error) {
	p.part.Write(b)
	whole, rest, ok := cutLast(p.part.String())
	if !ok {
		return len(b), nil
	}
	p.part.Reset()
	p.part.WriteString(rest)
	var out strings.Builder
	for line := range strings.Lines(whole) {
		out.WriteString(p.prefix + line)
	}
	_, err := io.WriteString(p.w, out.String())
	return len(b), err
}

// cutLast splits s behind its last line end.
func cutLast(s string) (whole, rest string, ok bool) {
	i := strings.LastIndexByte(s, '\n')
	return s[:i+1], s[i+1:], i >= 0
}

// flush prints a line without end.
func (p *prefixer) flush() error {
	if p.part.Len() == 0 {
		return nil
	}
	_, err := p.Write([]byte("\n"))
	return err
}
