// SPDX-License-Identifier: MIT

package selftest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/test/vm"
)

var flags = vm.RegisterFlags(flag.CommandLine)

// childEnv makes this binary the child of TestNoOrphans.
const childEnv = "RDS_VM_SELFTEST_CHILD"

func TestMain(m *testing.M) {
	if build := os.Getenv(childEnv); build != "" {
		if err := bootAndWait(build); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// limit is the time for each test.
const limit = 4 * time.Minute

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// config is the configuration of the flags for one test. The environment's own
// complaints do not fail the test: it is for the test to judge them.
func config(t *testing.T) vm.Config {
	c := *flags
	c.Name = "selftest/" + t.Name()
	c.Log = t.Logf
	return c
}

// open makes an environment that the test closes itself. At the end of the test
// nothing of it is left in any case.
func open(t *testing.T, c vm.Config) *vm.Env {
	t.Helper()
	env, err := vm.Open(testContext(t), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The test has looked at the error of its own call, and this one's is the same.
		_ = env.Close()
	})
	return env
}

// bootOne boots a VM without RDMA, which boots faster.
func bootOne(t *testing.T, env *vm.Env) *vm.Node {
	t.Helper()
	nodes, err := env.Boot(testContext(t), vm.Spec{Name: "a", NICs: []vm.NIC{{NoRXE: true}}})
	if err != nil {
		t.Fatal(err)
	}
	return nodes[0]
}

// wantError checks that an error has all of the texts.
func wantError(t *testing.T, what string, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", what)
		return
	}
	for _, s := range texts {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%s: the error does not say %q: %v", what, s, err)
		}
	}
}

// testprog builds the program that the tests run in the guest.
func testprog(t *testing.T) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "testprog")
	cmd := exec.CommandContext(testContext(t), "go", "build", "-o", out, "./testprog")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build of testprog: %v\n%s", err, msg)
	}
	return out
}

// bootAndWait is the child of TestNoOrphans: it boots a VM, prints the directory
// of its logs, and waits to be killed.
func bootAndWait(build string) error {
	env, err := vm.Open(context.Background(), vm.Config{
		Kernel: os.Getenv(childEnv + "_KERNEL"), Build: build, Name: "selftest/orphan",
	})
	if err != nil {
		return err
	}
	nodes, err := env.Boot(context.Background(), vm.Spec{Name: "a", NICs: []vm.NIC{{NoRXE: true}}})
	if err != nil {
		return errors.Join(err, env.Close())
	}
	fmt.Println("pid", nodes[0].Pid())
	select {}
}
