// SPDX-License-Identifier: MIT

package suite

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// What kmod/rds_ext/fixes mends, on the modules without rds_ext.ko: with it,
// memory regions are not stock's any more.

// pins returns how many pages of processes are pinned.
func (p *pair) pins(n *vm.Node) (pinned int) {
	p.Helper()
	// Each CPU counts for itself at first.
	if err := n.Set(p.ctx, "/proc/sys/vm/stat_refresh", "1"); err != nil {
		p.Fatal(err)
	}
	text, err := n.ReadFile(p.ctx, "/proc/vmstat")
	if err != nil {
		p.Fatal(err)
	}
	ever := 0
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != "nr_foll_pin_acquired" && name != "nr_foll_pin_released" {
			continue
		}
		v, err := strconv.Atoi(value)
		if err != nil {
			p.Fatalf("/proc/vmstat: %v", err)
		}
		if name == "nr_foll_pin_acquired" {
			ever, pinned = v, pinned+v
		} else {
			pinned -= v
		}
	}
	if ever == 0 {
		p.Fatalf("no page was ever pinned on %s", n.Name())
	}
	return pinned
}

// Whatever RDMA pins is unpinned in the end: 20-unpin-in-task, 30-unpin-regions.
func TestPinsComeBack(t *testing.T) {
	p := boot(t, patched(), patched())
	server := p.serve(p.b)
	p.stress(p.a, p.b, "--mode", "both", "--count", "200", "--duplex")
	p.stop(server)
	for _, n := range []*vm.Node{p.a, p.b} {
		// Regions wait in a pool for their pages to be unpinned.
		if err := n.UnloadRDS(p.ctx); err != nil {
			t.Fatal(err)
		}
		if pinned := p.pins(n); pinned != 0 {
			t.Errorf("%d pages are still pinned on %s", pinned, n.Name())
		}
	}
}

// checked ends the test where the kernel does not check itself.
func (p *pair) checked() {
	p.Helper()
	if d, err := config.Scale(1); err != nil {
		p.Fatal(err)
	} else if d == 1 {
		p.Skip("only a kernel that checks itself can tell")
	}
}

// said returns the lines of a node's console that contain a text.
func (p *pair) said(n *vm.Node, text string) (lines []string) {
	p.Helper()
	f, err := os.Open(n.ConsoleLog())
	if err != nil {
		p.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		if strings.Contains(sc.Text(), text) {
			lines = append(lines, sc.Text())
		}
	}
	if err := sc.Err(); err != nil {
		p.Fatal(err)
	}
	return lines
}

// Pages that an RDMA read has written to are given back where it may sleep:
// 20-unpin-in-task. The stock report is let pass in general (see
// test/vm/kernel.go), since other tests load stock modules.
func TestUnpinsInTask(t *testing.T) {
	p := boot(t, patched(), patched())
	p.checked()
	p.serve(p.b)
	// The server reads.
	p.stress(p.a, p.b, "--mode", "read", "--count", "200")
	for _, text := range []string{"sleeping function called from invalid context", "__might_sleep"} {
		if lines := p.said(p.b, text); len(lines) > 0 {
			t.Errorf("%s: %q", p.b.Name(), lines)
		}
	}
}

// A connection goes down and comes up again although an application holds memory
// regions, which it can free while the connection is up and while it is down:
// 40-region-outlives-connection.
func TestConnectionGoesDownUnderRegions(t *testing.T) {
	p := boot(t, patched(), patched())
	hold := func(until string) *vm.Cmd {
		cmd, err := p.a.Start(p.ctx, agent.Exec{Argv: []string{"holdmr", p.a.IP(), p.b.IP() + ":4999", until}, Stdin: true})
		if err != nil {
			t.Fatal(err)
		}
		p.waitLine(cmd, "^held$")
		return cmd
	}
	release := func(cmd *vm.Cmd) {
		if err := cmd.CloseInput(); err != nil {
			t.Fatal(err)
		}
		if r, err := cmd.Wait(); err != nil || r.ExitCode != 0 {
			t.Errorf("holdmr: %v, exit status %d: %s", err, r.ExitCode, r.Stderr)
		}
	}
	first, second := hold("down"), hold("up")
	if err := p.b.UnloadRDS(p.ctx); err != nil {
		t.Fatal(err)
	}
	release(first)
	p.use(p.b, patched())
	server := p.serve(p.b)
	p.stress(p.a, p.b, "--mode", "both", "--count", "20", "--connect-timeout", "1m")
	release(second) // over the new connection
	p.stress(p.a, p.b, "--mode", "both", "--count", "20")
	p.stop(server)
	for _, n := range []*vm.Node{p.a, p.b} {
		if err := n.UnloadRDS(p.ctx); err != nil {
			t.Error(err)
		}
	}
	if pinned := p.pins(p.a); pinned != 0 {
		t.Errorf("%d pages are still pinned", pinned)
	}
}
