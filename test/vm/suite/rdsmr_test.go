// SPDX-License-Identifier: MIT

package suite

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/test/vm"
)

// Ctrl-C in the middle of RDMA ends both sides cleanly: a report of what was
// done, every byte of it verified, no memory region left, and a server that goes
// on serving.
func TestStressInterrupted(t *testing.T) {
	p := boot(t, ours(), ours())
	server := p.serve(p.b)
	for _, mode := range []string{"write", "read", "both"} {
		t.Run(mode, func(t *testing.T) {
			p := p.sub(t)
			cmd := p.start(p.a, "2>ops", stressArgsLoud(p.a, p.b, "--mode", mode, "--time", "5m", "--tasks", "2")...)
			start := time.Now()
			r, err := cmd.Stop(syscall.SIGINT)
			if err != nil {
				t.Fatal(err)
			}
			if d := time.Since(start); d > 15*time.Second {
				t.Errorf("it took %v to end", d)
			}
			if r.ExitCode != 0 {
				t.Errorf("exit status %d: %s", r.ExitCode, r.Stderr)
			}
			if rep := p.verdict(r.Stdout); !rep.Interrupted {
				t.Errorf("the report does not say that it was interrupted: %s", r.Stdout)
			}
		})
	}
	p.stop(server)
}

// What people read can be had as JSON, and both sides tell the same story.
func TestStressReports(t *testing.T) {
	p := boot(t, ours(), ours())
	server := p.serve(p.b, "--once", "--json")
	rep := p.stress(p.a, p.b, "--count", "64", "--mode", "both", "--size", "16k", "--depth", "4")
	if rep.Ops != 64 || rep.Bytes != 64*16384 {
		t.Errorf("stress reports %d operations, %d bytes; want 64, %d", rep.Ops, rep.Bytes, 64*16384)
	}
	r, err := server.Wait()
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("serve --once: %v, exit status %d: %s", err, r.ExitCode, r.Stderr)
	}
	_, text, _ := strings.Cut(r.Stdout, "\n") // behind "ready"
	var served struct {
		Role  string
		Local struct{ Served int64 }
		Peer  struct{ Ops int64 }
	}
	if err := json.Unmarshal([]byte(text), &served); err != nil {
		t.Fatalf("report of serve: %v\n%s", err, r.Stdout)
	}
	if served.Role != "serve" || served.Local.Served != 64 || served.Peer.Ops != 64 {
		t.Errorf("serve reports %+v", served)
	}

	// One operation of the largest size there is.
	p.serve(p.b, "--port", "4001")
	if rep := p.stress(p.a, p.b, "--port", "4001", "--count", "2", "--mode", "both", "--size", "1m", "--depth", "1"); rep.Bytes != 2<<20 {
		t.Errorf("1 MiB: %+v", rep)
	}
}

// A server that dies in the middle is noticed, in bounded time and in words.
func TestServerDies(t *testing.T) {
	p := boot(t, ours(), ours())
	server := p.serve(p.b)
	cmd := p.start(p.a, "2>ops", stressArgsLoud(p.a, p.b, "--mode", "msg", "--time", "5m", "--peer-timeout", "5s")...)
	if err := server.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r, err := cmd.Wait()
	if err != nil {
		t.Fatal(err)
	}
	var rep report
	if err := json.Unmarshal([]byte(r.Stdout), &rep); err != nil {
		t.Fatalf("report: %v\n%s", err, r.Stdout)
	}
	if r.ExitCode == 0 || !strings.Contains(rep.Error, p.b.IP()) || rep.Ops == 0 {
		t.Errorf("exit status %d, report %+v", r.ExitCode, rep)
	}
	// The node is none the worse for it.
	for _, n := range []*vm.Node{p.a, p.b} {
		if err := n.UnloadRDS(p.ctx); err != nil {
			t.Error(err)
		}
	}
}
