// SPDX-License-Identifier: MIT

package selftest

import (
	"errors"
	"syscall"
	"testing"

	"github.com/rds-ext/rds_ext/test/vm"
)

// On a kernel that can look for lost memory, a module that loses some fails the
// run although nothing else goes wrong. Others have nothing to look with.
func TestLeakFailsTheRun(t *testing.T) {
	const leaky = "kmemleak_test"
	c := config(t)
	env := open(t, c)
	n := bootOne(t, env)
	_, err := n.ReadFile(testContext(t), "/sys/kernel/debug/kmemleak")
	if errors.Is(err, syscall.ENOENT) {
		if err := env.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := env.Close(); err != nil {
		t.Errorf("Close without a leak: %v", err)
	}

	c.Modules = []string{leaky}
	env = open(t, c)
	n = bootOne(t, env)
	if err := n.Load(testContext(t), vm.Module{Name: leaky, From: vm.Stock}); err != nil {
		t.Fatal(err)
	}
	wantError(t, "Close", env.Close(), "memory leak", "unreferenced object", "do_init_module")
}
