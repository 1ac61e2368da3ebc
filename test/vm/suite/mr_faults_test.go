// SPDX-License-Identifier: MIT

package suite

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// mapErrors are what an application may be told where the kernel has run out of
// something.
var mapErrors = []error{syscall.ENOMEM, syscall.EAGAIN, syscall.ENOBUFS, syscall.EFAULT}

// Every step of registering memory and of releasing it fails in turn: the caller
// is told, nothing is left behind, and the connection does not notice.
func TestMREachStepFails(t *testing.T) {
	p := boot(t, ours(), ours())
	p.canFail()
	server := p.serve(p.b)
	p.stress(p.a, p.b, "--mode", "both", "--count", "20", "--duplex")
	for _, c := range []struct {
		operation string
		errors    []error // that there have to be
	}{
		{"map", []error{syscall.ENOMEM, syscall.EFAULT}},
		{"getmr", []error{syscall.ENOMEM, syscall.EFAULT}},
		{"free", []error{syscall.EFAULT}},
		{"close", nil},
	} {
		before := p.mrStats(p.a)
		r := p.failNth(c.operation)
		for text := range r.Errors {
			if !slices.ContainsFunc(mapErrors, func(e error) bool { return e.Error() == text }) {
				t.Errorf("%s failed with %q", c.operation, text)
			}
		}
		for _, e := range c.errors {
			if r.Errors[e.Error()] == 0 {
				t.Errorf("%s never failed with %v: %v", c.operation, e, r.Errors)
			}
		}
		p.wantNothingLeft(p.a, p.b)
		p.wantPins(p.a, 0)
		t.Logf("%s: counters of MRs: %v", c.operation, p.mrStats(p.a).since(before))
	}
	if s := p.mrStats(p.a); s["failed"] == 0 {
		t.Errorf("no registration has failed: %v", s)
	}
	p.stress(p.a, p.b, "--mode", "both", "--count", "100", "--duplex")
	for _, n := range []*vm.Node{p.a, p.b} {
		if c := p.ib(n); c.Ups != 1 || c.State != "up" {
			t.Errorf("%s: %v; want it up all the time", n.Name(), c)
		}
	}
	p.stop(server)
	p.wantNothingLeft(p.a, p.b)
	for _, n := range []*vm.Node{p.a, p.b} {
		if err := n.UnloadRDS(p.ctx); err != nil {
			t.Error(err)
		}
		p.wantPins(n, 0)
	}
}

// faultyClients register memory in every way.
var faultyClients = map[string][]string{
	"use once":         {"stress", "--mode", "both", "--depth", "16"},
	"use once, 1 MiB":  {"stress", "--mode", "both", "--size", "1m", "--depth", "2"},
	"get_mr+free_mr":   {"bench", "--modes", "get_mr+free_mr", "--direction", "both"},
	"get_mr+use_once":  {"bench", "--modes", "get_mr+use_once", "--direction", "both"},
	"rdma_map+free_mr": {"bench", "--modes", "rdma_map+free_mr", "--direction", "both"},
}

// One allocation in 50, and one copy from or to the process in 50, fails in the
// calls of a client that registers memory: it may end of it, as it likes, but not
// one byte is wrong, nothing is left behind, and all works afterwards.
func TestMRFailuresOnDemand(t *testing.T) {
	const every, wanted = 50, 40 // failures of each kind for each client
	p := boot(t, ours(), ours())
	p.canFail()
	server := p.serve(p.b, "--idle-timeout", patience(waitLimit/6))
	p.stress(p.a, p.b, "--mode", "both", "--count", "20", "--duplex")
	for _, point := range []vm.FaultPoint{vm.FailSlab, vm.FailUsercopy} {
		t.Run(string(point), func(t *testing.T) {
			p := p.sub(t)
			before := p.mrStats(p.a)
			for _, name := range slices.Sorted(maps.Keys(faultyClients)) {
				ends := map[string]int{}
				failed := 0
				for failed < wanted && !t.Failed() {
					failed += p.faultyClient(point, every, wanted-failed, faultyClients[name], ends)
				}
				t.Logf("%s: %d failures; the client has %v", name, failed, ends)
			}
			// A key that a message has carried may be in use for as long as the
			// connection is up.
			p.loseConnection()
			p.wantNothingLeft(p.a, p.b)
			p.wantPins(p.a, 0)
			d := p.mrStats(p.a).since(before)
			t.Logf("counters of MRs: %v", d)
			if point == vm.FailSlab && d["failed"] == 0 {
				t.Error("no registration has failed")
			}
			p.stress(p.a, p.b, "--mode", "both", "--count", "100", "--duplex", "--connect-timeout", "1m")
			p.wantNothingLeft(p.a, p.b)
		})
	}
	p.stop(server)
	for _, n := range []*vm.Node{p.a, p.b} {
		if err := n.UnloadRDS(p.ctx); err != nil {
			t.Error(err)
		}
		p.wantPins(n, 0)
	}
}

// faultyClient runs a client, in which from its first progress on every so-many-th
// step fails, until so many have failed or it has ended of it. It returns how many
// have failed, and notes how the client has ended.
func (p *pair) faultyClient(point vm.FaultPoint, every, wanted int, args []string, ends map[string]int) int {
	p.Helper()
	argv := slices.Concat([]string{"underfaults", "rdsmr", args[0], p.b.IP(), "--bind", p.a.IP(), "--json", "--time", "9m",
		"--peer-timeout", waitLimit.String(), "--connect-timeout", waitLimit.String()}, args[1:])
	cmd, err := p.a.Start(p.ctx, agent.Exec{Argv: argv})
	if err != nil {
		p.Fatal(err)
	}
	p.waitLine(cmd, "2>.") // progress
	faults, err := p.a.StartFaults(p.ctx, point, every)
	if err != nil {
		p.Fatal(err)
	}
	p.eventually("it fails", func() (bool, string) {
		n, err := faults.Failed(p.ctx)
		if err != nil {
			p.Fatal(err)
		}
		return n >= wanted || ended(cmd), fmt.Sprintf("%d times", n)
	})
	failed := p.stopFaults(faults)
	was := ended(cmd)
	if !was {
		if err := cmd.Signal(syscall.SIGINT); err != nil {
			p.Fatal(err)
		}
	}
	r, err := cmd.Wait()
	if err != nil {
		p.Fatal(err)
	}
	p.judgeFaulty(r, was, ends)
	return failed
}

// judgeFaulty notes how a client has ended.
func (p *pair) judgeFaulty(r vm.Result, by bool, ends map[string]int) {
	p.Helper()
	var how string
	switch {
	case r.Signal != 0:
		how = "died by " + syscall.Signal(r.Signal).String()
	case r.ExitCode == 2:
		how = "died in its runtime"
	case by:
		how = "given up"
	default:
		how = "gone on"
	}
	ends[how]++
	if strings.Contains(r.Stdout+r.Stderr, "verification failure") {
		p.Errorf("a client under failures: %s%s", r.Stdout, r.Stderr)
	}
	if how != "given up" {
		return
	}
	// In its last line it says of what.
	lines := strings.Split(strings.TrimSpace(r.Stderr), "\n")
	last := lines[len(lines)-1]
	if !slices.ContainsFunc(mapErrors, func(e error) bool { return strings.Contains(last, e.Error()) }) {
		p.Errorf("a client under failures has given up: %s", last)
	}
}

func ended(cmd *vm.Cmd) bool {
	select {
	case <-cmd.Done():
		return true
	default:
		return false
	}
}

// loseConnection has the connection go and come up again, by an RDMA operation
// that is refused. All leave to invalidate keys ends with it.
func (p *pair) loseConnection() {
	p.Helper()
	owner, peer := p.probe(p.a), p.probe(p.b)
	ownerAddr := owner.open(5000, 4096)
	peer.open(5001, 4096)
	before := map[*vm.Node]conn{p.a: p.ib(p.a), p.b: p.ib(p.b)}
	if !peer.refused(ownerAddr, 0x12345678) {
		p.Error("an RDMA write to a key that nobody has was not refused")
	}
	for n, c := range before {
		p.eventually("the connection is lost on "+n.Name(), func() (bool, string) {
			now := p.ib(n)
			return now.Downs > c.Downs, now.String()
		})
	}
	owner.end()
	peer.end()
}
