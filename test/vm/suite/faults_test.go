// SPDX-License-Identifier: MIT

package suite

import (
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/rds-ext/rds_ext/test/vm"
)

// canFail ends the test where the kernel has no failures on demand. It has to be
// one that checks itself in no other way either: a debug kernel without them is a
// fault of its configuration.
func (p *pair) canFail() {
	p.Helper()
	has, err := p.a.HasFaults(p.ctx)
	if err != nil {
		p.Fatal(err)
	}
	if has {
		return
	}
	if _, err := p.a.ReadFile(p.ctx, "/sys/kernel/debug/kmemleak"); err == nil {
		p.Fatal("the debug kernel has no failures on demand")
	} else if !errors.Is(err, syscall.ENOENT) {
		p.Fatal(err)
	}
	p.Skip("this kernel has no failures on demand")
}

// A nthResult is what the program failnth prints.
type nthResult struct {
	Steps    int            `json:"steps"`
	Survived int            `json:"survived"`
	Errors   map[string]int `json:"errors"`
}

// failNth fails each step of an operation in turn, see test/vm/tools/failnth.
func (p *pair) failNth(operation string) nthResult {
	p.Helper()
	if err := p.a.PrepareFaults(p.ctx); err != nil {
		p.Fatal(err)
	}
	out := p.run(p.a, "failnth", operation, p.a.IP(), p.b.IP()+":4999")
	var r nthResult
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		p.Fatalf("failnth: %v\n%s", err, out)
	}
	p.Logf("%s: %s", operation, out)
	if r.Steps == 0 {
		p.Errorf("%s has no step that can fail", operation)
	}
	return r
}

// Failures on demand reach the calls of RDS, are counted, and reach nobody else.
func TestFailuresOnDemand(t *testing.T) {
	p := boot(t, ours(), ours())
	p.canFail()
	p.serve(p.b)

	// Nobody is meant: as many steps, no failure.
	faults, err := p.a.StartFaults(p.ctx, vm.FailSlab, 1)
	if err != nil {
		t.Fatal(err)
	}
	p.stress(p.a, p.b, "--mode", "msg", "--count", "20")
	if n := p.stopFaults(faults); n != 0 {
		t.Errorf("%d failures without a process that is meant", n)
	}

	for _, point := range []vm.FaultPoint{vm.FailSlab, vm.FailUsercopy} {
		cmd := p.start(p.a, "2>ops", append([]string{"underfaults"},
			stressArgsLoud(p.a, p.b, "--mode", "msg", "--time", "10m", "--peer-timeout", "10m")...)...)
		faults, err := p.a.StartFaults(p.ctx, point, 50)
		if err != nil {
			t.Fatal(err)
		}
		p.eventually(string(point), func() (bool, string) {
			n, err := faults.Failed(p.ctx)
			if err != nil {
				t.Fatal(err)
			}
			return n > 0, "nothing failed"
		})
		p.stopFaults(faults)
		// How it takes failures is not what this is about.
		if _, err := cmd.Stop(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}

	if r := p.failNth("send"); r.Errors[syscall.ENOMEM.Error()] == 0 || r.Errors[syscall.EFAULT.Error()] == 0 {
		t.Errorf("a message failed with %v, want both %v and %v", r.Errors, syscall.ENOMEM, syscall.EFAULT)
	}
}

func (p *pair) stopFaults(f *vm.Faults) int {
	p.Helper()
	n, err := f.Stop(p.ctx)
	if err != nil {
		p.Fatal(err)
	}
	return n
}

// Each step of registering and releasing memory fails in turn: errors only, the
// connection stays, and nothing is lost, neither pages nor regions.
func TestEachStepFails(t *testing.T) {
	for name, modules := range map[string][]vm.Module{"patched": patched(), "rds_ext": ours()} {
		t.Run(name, func(t *testing.T) {
			p := boot(t, modules, modules)
			p.canFail()
			server := p.serve(p.b)
			p.stress(p.a, p.b, "--mode", "both", "--count", "20")
			for _, op := range []string{"send", "map", "free", "close"} {
				p.failNth(op)
				if name == "patched" {
					continue // pages of free regions wait in a pool
				}
				p.eventually("all pages are unpinned after "+op, func() (bool, string) {
					pinned := p.pins(p.a)
					return pinned == 0, fmt.Sprint(pinned, " pages are pinned")
				})
			}
			p.stress(p.a, p.b, "--mode", "both", "--count", "20")
			p.stop(server)
			if err := p.a.UnloadRDS(p.ctx); err != nil {
				t.Error(err)
			}
			if pinned := p.pins(p.a); pinned != 0 {
				t.Errorf("%d pages are still pinned", pinned)
			}
		})
	}
}
