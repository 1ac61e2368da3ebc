// SPDX-License-Identifier: MIT

package selftest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/agent"
	"github.com/rds-ext/rds_ext/test/vm/qemu"
	"github.com/rds-ext/rds_ext/test/vm/splat"
)

func TestPanicFailsTheRun(t *testing.T) {
	env := open(t, config(t))
	n := bootOne(t, env)
	err := n.Set(testContext(t), "/proc/sysrq-trigger", "c")
	wantError(t, "the operation that panics", err, "kernel panic", "logs: "+n.Dir())
	_, err = n.Exec(testContext(t), "anything")
	wantError(t, "the next operation", err, "kernel panic")
	wantError(t, "Close", env.Close(), "kernel panic", "nobody asked it to")
	log, err := os.ReadFile(n.ConsoleLog())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(log, []byte("Kernel panic - not syncing")) {
		t.Error("the panic is not in the console's log")
	}
}

func TestSplatFailsTheRun(t *testing.T) {
	for name, line := range map[string]string{
		"warning":   "WARNING: CPU: 0 PID: 1 at net/rds/none.c:1 none+0x0/0x0",
		"hung task": "INFO: task none:1 blocked for more than 30 seconds.",
	} {
		t.Run(name, func(t *testing.T) {
			env := open(t, config(t))
			n := bootOne(t, env)
			ctx := testContext(t)
			if _, err := n.ReadFile(ctx, "/proc/version"); err != nil {
				t.Fatalf("before the splat: %v", err)
			}
			// The kernel's own text, by way of the kernel's own log. Without line end
			// the kernel would wait for more.
			err := n.Set(ctx, "/dev/kmsg", "<4>"+line+"\n")
			if err == nil {
				// The console may lag behind.
				err = eventually(t, n.Err)
			}
			wantError(t, "after the splat", err, "kernel splat", line)
			_, err = n.ReadFile(ctx, "/proc/version")
			wantError(t, "a good operation after it", err, "kernel splat")
			wantError(t, "Close", env.Close(), "kernel splat", line)
		})
	}
}

// eventually waits for the error to come.
func eventually(t *testing.T, f func() error) error {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

func TestKnownSplatDoesNotFailTheRun(t *testing.T) {
	c := config(t)
	c.Known = []splat.Known{{First: regexp.MustCompile(`possible recursive locking`), Why: "this test writes it"}}
	env := open(t, c)
	n := bootOne(t, env)
	ctx := testContext(t)
	if err := n.Set(ctx, "/dev/kmsg", "<4>WARNING: possible recursive locking detected\n"); err != nil {
		t.Fatal(err)
	}
	if err := env.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestHangFailsTheRun(t *testing.T) {
	c := config(t)
	c.HangLimit = 4 * time.Second
	env := open(t, c)
	n := bootOne(t, env)
	if err := n.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_, err := n.ReadFile(testContext(t), "/proc/version")
	wantError(t, "an operation on the hung VM", err, "the VM hangs")
	if d := time.Since(start); d > 30*time.Second {
		t.Errorf("it took %v to notice", d)
	}
	wantError(t, "Close", env.Close(), "the VM hangs")
}

func TestShortStopIsNoHang(t *testing.T) {
	c := config(t)
	c.HangLimit = 20 * time.Second
	env := open(t, c)
	n := bootOne(t, env)
	if err := n.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Second)
	if err := n.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if _, err := n.ReadFile(testContext(t), "/proc/version"); err != nil {
		t.Error(err)
	}
	if err := env.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// TestMissingTokenFailsTheRun has a VM end by itself, and QEMU with status 0.
func TestMissingTokenFailsTheRun(t *testing.T) {
	env := open(t, config(t))
	n := bootOne(t, env)
	err := n.Set(testContext(t), "/proc/sysrq-trigger", "b")
	if err == nil {
		err = eventually(t, n.Err)
	}
	wantError(t, "the VM that restarts", err, "nobody asked it to", "exit status 0")
	wantError(t, "Close", env.Close(), "nobody asked it to")
}

func TestBootFailures(t *testing.T) {
	tests := []struct {
		name  string
		spec  vm.Spec
		limit time.Duration
		want  []string
	}{
		{"never prints", vm.Spec{QEMU: []string{"-S"}}, 4 * time.Second, []string{"no answer within 4s", "never printed anything"}},
		{"no init", vm.Spec{Append: []string{"rdinit=/bin/missing"}}, 0, []string{"Kernel panic"}},
		{"init without agent", vm.Spec{Append: []string{"rdinit=/bin/testprog", "--", "hang"}}, 12 * time.Second, []string{"no answer within 12s", "ready"}},
		{"init that ends", vm.Spec{Append: []string{"rdinit=/bin/testprog", "--", "exit", "0"}}, 0, []string{"Attempted to kill init"}},
		{"wrong token", vm.Spec{Append: []string{agent.TokenParam + "=wrong"}}, 0, []string{`token is "wrong"`}},
		{"bad QEMU option", vm.Spec{QEMU: []string{"-device", "nonsense"}}, 0, []string{"nonsense", "exit status 1"}},
		{"memory", vm.Spec{Memory: 16}, 0, []string{"16 MiB", "between"}},
	}
	prog := testprog(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := config(t)
			c.BootLimit = tt.limit
			c.Files = map[string]string{"/bin/testprog": prog}
			env := open(t, c)
			tt.spec.Name = "a"
			start := time.Now()
			_, err := env.Boot(testContext(t), tt.spec)
			wantError(t, "Boot", err, tt.want...)
			if d := time.Since(start); d > 90*time.Second {
				t.Errorf("it took %v", d)
			}
			if err := env.Close(); err != nil && tt.name != "no init" && tt.name != "init that ends" {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

func TestMissingKernelIsNamed(t *testing.T) {
	c := config(t)
	c.Kernel = "0.99"
	_, err := vm.Open(testContext(t), c)
	wantError(t, "Open", err, "no kernel 0.99", "scripts/kernel-fetch 0.99")
}

func TestDeadVMIsRefused(t *testing.T) {
	env := open(t, config(t))
	n := bootOne(t, env)
	n.Kill()
	if _, err := n.Exec(testContext(t), "anything"); !errors.Is(err, agent.ErrClosed) {
		t.Errorf("Exec in a VM that was switched off: %v", err)
	}
	if err := env.Close(); err != nil {
		t.Errorf("a VM that the test has ended fails the run: %v", err)
	}
}

// TestNoOrphans kills a test process with a VM, which must not survive it.
func TestNoOrphans(t *testing.T) {
	c := config(t)
	env := open(t, c) // for the directory
	build := filepath.Clean(filepath.Join(env.Dir(), "..", "..", ".."))
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(testContext(t), exe)
	child.Env = append(os.Environ(), childEnv+"="+build, childEnv+"_KERNEL="+c.Kernel)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the child said %q: %v", line, err)
	}
	var pid int
	if _, err := fmt.Sscanf(line, "pid %d", &pid); err != nil {
		t.Fatalf("the child said %q: %v", line, err)
	}
	if !running(t, pid) {
		t.Fatalf("process %d is not QEMU", pid)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err == nil {
		t.Error("the child ended by itself")
	}
	for end := time.Now().Add(10 * time.Second); running(t, pid); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("QEMU (process %d) has survived the test", pid)
		}
	}
}

// running reports whether the process is a running QEMU.
func running(t *testing.T, pid int) bool {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	name, rest, _ := strings.Cut(string(status), ") ")
	return strings.Contains(name, qemu.Program[:10]) && !strings.HasPrefix(rest, "Z")
}
