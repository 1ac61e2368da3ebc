// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// A verbsTool is a program of the package perftest.
type verbsTool struct {
	name   string
	args   []string
	column string  // of its result
	factor float64 // to the unit of the report
}

// verbsTools are the programs that run. Those that can sleep until something
// happens do so (-e): with one CPU, asking again and again takes the time that the
// work needs, and doubles the latency.
var verbsTools = []verbsTool{
	{name: "ib_send_lat", args: []string{"-n", "1000", "-e"}, column: "t_typical[usec]", factor: 1},
	{name: "ib_send_bw", args: []string{"-n", "2000", "-t", strconv.Itoa(benchDepth), "-e"}, column: "MsgRate[Mpps]", factor: 1e6},
	{name: "ib_write_bw", args: []string{"-n", "2000", "-t", strconv.Itoa(benchDepth)}, column: "MsgRate[Mpps]", factor: 1e6},
}

// verbsPort is where they listen unless told otherwise.
const verbsPort = 18515

// verbsFiles returns what a VM needs to run them: path in the VM to path here. The
// libraries that the programs are linked with come along by themselves.
func verbsFiles() (map[string]string, error) {
	const driver = "/etc/libibverbs.d/rxe.driver" // names the provider to libibverbs
	files := map[string]string{driver: driver}
	for _, t := range verbsTools {
		path, err := exec.LookPath(t.name)
		if err != nil {
			return nil, fmt.Errorf("%w: install perftest and ibverbs-providers, as make prereq does", err)
		}
		files["/bin/"+t.name] = path
	}
	providers, err := filepath.Glob("/usr/lib/*-linux-gnu/libibverbs/librxe-rdmav*.so")
	if err != nil || len(providers) == 0 {
		return nil, fmt.Errorf("no librxe-rdmav*.so below /usr/lib: install ibverbs-providers, as make prereq does")
	}
	for _, p := range providers {
		files[p] = p
	}
	return files, nil
}

// verbs runs all of them between the two VMs, where RDS is not loaded.
func (m *benchmark) verbs(ctx context.Context, p *pair, round int) error {
	if err := p.each(func(n *vm.Node) error { return n.Load(ctx, vm.Module{Name: "ib_uverbs", From: vm.Stock}) }); err != nil {
		return err
	}
	run := VerbsRun{Round: round}
	for _, t := range verbsTools {
		value, err := m.attempts(ctx, p, t, &run)
		if err != nil {
			return err
		}
		switch t.name {
		case "ib_send_lat":
			run.SendLat = value
		case "ib_send_bw":
			run.SendBW = value
		case "ib_write_bw":
			run.WriteBW = value
		}
	}
	m.report.Verbs.Runs = append(m.report.Verbs.Runs, run)
	m.step("  verbs: ib_send_lat %.0f us, ib_send_bw %.0f messages/s, ib_write_bw %.0f writes/s", run.SendLat, run.SendBW, run.WriteBW)
	return nil
}

// verbsLimit is how long one of the programs may take, verbsAttempts how often it
// is tried: now and then one waits for ever for an event that has gone by.
const (
	verbsLimit    = 20 * time.Second
	verbsAttempts = 3
)

func (m *benchmark) attempts(ctx context.Context, p *pair, t verbsTool, run *VerbsRun) (v float64, err error) {
	for range verbsAttempts {
		if v, err = t.run(ctx, p); err == nil || ctx.Err() != nil || p.env.Err() != nil {
			return v, err
		}
		run.Failed++
		m.step("  verbs: once more, since %v", err)
	}
	return v, err
}

func (t verbsTool) run(ctx context.Context, p *pair) (v float64, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, verbsLimit, fmt.Errorf("not done within %v", verbsLimit))
	defer cancel()
	argv := append([]string{t.name, "-d", "rxe0", "-F", "-s", strconv.Itoa(benchSize)}, t.args...)
	server, err := p.b.Start(ctx, agent.Exec{Argv: argv})
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			// It must not be there when the next one begins; its own end says nothing.
			_, _ = server.Stop(syscall.SIGKILL)
		}
	}()
	if err := listening(ctx, p.b, verbsPort); err != nil {
		return 0, fmt.Errorf("%s on %s: %w: %s%s", t.name, p.b.Name(), err, server.Stdout, server.Stderr)
	}
	out, err := p.a.Run(ctx, append(argv, p.b.IP())...)
	if err != nil {
		return 0, err
	}
	res, err := server.Wait()
	if err != nil {
		return 0, err
	}
	if res.ExitCode != 0 {
		return 0, fmt.Errorf("%s on %s: exit status %d: %s%s", t.name, p.b.Name(), res.ExitCode, res.Stdout, res.Stderr)
	}
	v, err = parseVerbs(out, t.column)
	return v * t.factor, err
}

// listening waits until a node listens on a TCP port. The programs say so as well,
// but only when their output is a terminal.
func listening(ctx context.Context, n *vm.Node, port int) error {
	t := time.NewTicker(50 * time.Millisecond)
	defer t.Stop()
	for {
		text, err := n.ReadFile(ctx, "/proc/net/tcp")
		if err != nil {
			return err
		}
		if listens(string(text), port) {
			return nil
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// listens reads /proc/net/tcp: number, local address, remote address, state, of
// which 0A is listening.
func listens(text string, port int) bool {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) > 3 && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", port)) && f[3] == "0A" {
			return true
		}
	}
	return false
}

// parseVerbs finds a column in the one line of results. The names of the columns
// can contain spaces ("BW peak[MB/sec]"), so a column is counted by the units in
// brackets and by the names with a number sign in front, which have no unit.
func parseVerbs(out, column string) (float64, error) {
	header, values := "", []string(nil)
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "#bytes"):
			header, values = line, nil
		case header != "" && values == nil && len(f) > 0:
			values = f
		}
	}
	var names []string
	for _, w := range strings.Fields(header) {
		if strings.HasPrefix(w, "#") || strings.HasSuffix(w, "]") {
			names = append(names, w)
		}
	}
	for i, name := range names {
		if name == column && i < len(values) && len(names) == len(values) {
			v, err := strconv.ParseFloat(values[i], 64)
			if err == nil && v > 0 {
				return v, nil
			}
		}
	}
	return 0, fmt.Errorf("no result %s in:\n%s", column, out)
}
