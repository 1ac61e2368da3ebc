// SPDX-License-Identifier: MIT

package selftest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/agent"
	"github.com/rds-ext/rds_ext/test/vm/ether"
)

// TestNode tries what a node can do, all in one VM.
func TestNode(t *testing.T) {
	c := config(t)
	c.Files = map[string]string{"/bin/testprog": testprog(t)}
	env := open(t, c)
	n := bootOne(t, env)
	for name, f := range map[string]func(*testing.T, *vm.Node){
		"exit status": exitStatus, "output": output, "large output": largeOutput, "input": input,
		"no such command": noSuchCommand, "user": user, "user namespace": userNamespace,
		"network namespace": networkNamespace, "signal": signal, "timeout in the guest": guestTimeout,
		"context": contextEnd, "whole group": wholeGroup, "wait for a line": waitLine,
		"at the same time": parallel, "orphans are reaped": orphans, "files": files, "modules": modules,
	} {
		t.Run(name, func(t *testing.T) { f(t, n) })
	}
	if err := env.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func exitStatus(t *testing.T, n *vm.Node) {
	for _, want := range []int{0, 1, 77} {
		res, err := n.Exec(testContext(t), "testprog", "exit", fmt.Sprint(want))
		if err != nil || res.ExitCode != want || res.Signal != 0 {
			t.Errorf("exit status %d: %+v, %v", want, res, err)
		}
	}
	_, err := n.Run(testContext(t), "testprog", "exit", "3")
	wantError(t, "Run", err, "exit status 3", "testprog exit 3")
}

func output(t *testing.T, n *vm.Node) {
	res, err := n.Exec(testContext(t), "testprog", "say", "this", "that")
	if err != nil || res.Stdout != "this\n" || res.Stderr != "that\n" {
		t.Errorf("%+v, %v", res, err)
	}
}

func largeOutput(t *testing.T, n *vm.Node) {
	const size = 5 << 20
	out, err := n.Run(testContext(t), "testprog", "flood", fmt.Sprint(size))
	if err != nil || len(out) != size {
		t.Fatalf("%d bytes, want %d: %v", len(out), size, err)
	}
	line := strings.Repeat("0123456789abcde", 64) + "\n"
	if want := strings.Repeat(line, size/len(line)+1)[:size]; out != want {
		t.Error("the content differs")
	}
}

func input(t *testing.T, n *vm.Node) {
	cmd, err := n.Start(testContext(t), agent.Exec{Argv: []string{"testprog", "echo"}, Stdin: true})
	if err != nil {
		t.Fatal(err)
	}
	data := bytes.Repeat([]byte("all of this comes back\n"), 20000)
	if _, err := cmd.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := cmd.CloseInput(); err != nil {
		t.Fatal(err)
	}
	res, err := cmd.Wait()
	if err != nil || res.Stdout != string(data) {
		t.Errorf("%d bytes came back of %d: %v", len(res.Stdout), len(data), err)
	}
}

func noSuchCommand(t *testing.T, n *vm.Node) {
	_, err := n.Exec(testContext(t), "missing")
	wantError(t, "Exec", err, "/bin/missing")
	if !errors.Is(err, syscall.ENOENT) {
		t.Errorf("%v is not ENOENT", err)
	}
}

func user(t *testing.T, n *vm.Node) {
	for uid, want := range map[uint32]string{0: "0 0 true\n", 1000: "1000 1000 false\n"} {
		res, err := n.Do(testContext(t), agent.Exec{Argv: []string{"testprog", "id"}, UID: uid, GID: uid})
		if err != nil || res.Stdout != want {
			t.Errorf("user %d: %q, %v; want %q", uid, res.Stdout, err, want)
		}
	}
}

func userNamespace(t *testing.T, n *vm.Node) {
	res, err := n.Do(testContext(t), agent.Exec{Argv: []string{"testprog", "id"}, UID: 1000, GID: 1000, NewUser: true})
	if want := "0 0 false\n"; err != nil || res.Stdout != want {
		t.Errorf("%q, %v; want %q: root, but without power outside", res.Stdout, err, want)
	}
}

func networkNamespace(t *testing.T, n *vm.Node) {
	for own, want := range map[bool]bool{false: true, true: false} {
		res, err := n.Do(testContext(t), agent.Exec{Argv: []string{"testprog", "links"}, NewNet: own})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(res.Stdout, "eth0"); got != want {
			t.Errorf("namespace of its own %v: eth0 seen %v", own, got)
		}
	}
}

func start(t *testing.T, n *vm.Node, ctx context.Context, e agent.Exec) *vm.Cmd {
	t.Helper()
	cmd, err := n.Start(ctx, e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.Stdout.WaitLine(testContext(t), regexp.MustCompile("^ready$")); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func signal(t *testing.T, n *vm.Node) {
	cmd := start(t, n, testContext(t), agent.Exec{Argv: []string{"testprog", "hang"}})
	if res, err := cmd.Stop(syscall.SIGTERM); err != nil || res.Signal != int(syscall.SIGTERM) || res.ExitCode != -1 {
		t.Errorf("%+v, %v", res, err)
	}
	cmd = start(t, n, testContext(t), agent.Exec{Argv: []string{"testprog", "stubborn"}})
	if err := cmd.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if res, err := cmd.Stop(syscall.SIGKILL); err != nil || res.Signal != int(syscall.SIGKILL) {
		t.Errorf("%+v, %v", res, err)
	}
}

func guestTimeout(t *testing.T, n *vm.Node) {
	res, err := n.Do(testContext(t), agent.Exec{Argv: []string{"testprog", "hang"}, Timeout: time.Second})
	if err != nil || !res.TimedOut || res.Signal != int(syscall.SIGKILL) {
		t.Errorf("%+v, %v", res, err)
	}
}

func contextEnd(t *testing.T, n *vm.Node) {
	ctx, cancel := context.WithCancel(testContext(t))
	cmd := start(t, n, ctx, agent.Exec{Argv: []string{"testprog", "stubborn"}})
	cancel()
	res, err := cmd.Wait()
	if !errors.Is(err, context.Canceled) || res.Signal != int(syscall.SIGKILL) {
		t.Errorf("%+v, %v", res, err)
	}
}

func wholeGroup(t *testing.T, n *vm.Node) {
	cmd := start(t, n, testContext(t), agent.Exec{Argv: []string{"testprog", "spawn-hang"}})
	begin := time.Now()
	if _, err := cmd.Stop(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	left, err := countProcesses(testContext(t), n, "hang")
	if err != nil {
		t.Fatal(err)
	}
	if left != 0 {
		t.Errorf("%d children are left %v after the kill", left, time.Since(begin))
	}
}

// countProcesses counts the running processes with that last argument.
func countProcesses(ctx context.Context, n *vm.Node, arg string) (int, error) {
	// There is no way to list a directory of the guest but to try.
	count := 0
	for pid := 1; pid < 400; pid++ {
		b, err := n.ReadFile(ctx, fmt.Sprintf("/proc/%d/cmdline", pid))
		if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ESRCH) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if bytes.HasSuffix(b, []byte("\x00"+arg+"\x00")) {
			count++
		}
	}
	return count, nil
}

func waitLine(t *testing.T, n *vm.Node) {
	cmd, err := n.Start(testContext(t), agent.Exec{Argv: []string{"testprog", "say", "number 17", ""}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := cmd.Stdout.WaitLine(testContext(t), regexp.MustCompile(`^number (\d+)$`))
	if err != nil || m[1] != "17" {
		t.Errorf("%q, %v", m, err)
	}
	_, err = cmd.Stdout.WaitLine(testContext(t), regexp.MustCompile("never"))
	wantError(t, "a line that does not come", err, "ended without", "number 17")
	if _, err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func parallel(t *testing.T, n *vm.Node) {
	hung := start(t, n, testContext(t), agent.Exec{Argv: []string{"testprog", "hang"}})
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			want := fmt.Sprint("text ", i)
			if res, err := n.Exec(testContext(t), "testprog", "say", want, ""); err != nil || res.Stdout != want+"\n" {
				t.Errorf("command %d: %q, %v", i, res.Stdout, err)
			}
		})
	}
	wg.Wait()
	if _, err := hung.Stop(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

func orphans(t *testing.T, n *vm.Node) {
	ctx := testContext(t)
	out, err := n.Run(ctx, "testprog", "orphan")
	if err != nil {
		t.Fatal(err)
	}
	stat := fmt.Sprintf("/proc/%s/stat", strings.TrimSpace(out))
	for {
		if _, err := n.ReadFile(ctx, stat); errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ESRCH) {
			return
		} else if err != nil {
			t.Fatalf("the orphan is still there: %v", err)
		}
	}
}

func files(t *testing.T, n *vm.Node) {
	ctx := testContext(t)
	data := bytes.Repeat([]byte{0, 1, 2, 255}, 100000)
	if err := n.WriteFile(ctx, "/tmp/some/where", data); err != nil {
		t.Fatal(err)
	}
	if b, err := n.ReadFile(ctx, "/tmp/some/where"); err != nil || !bytes.Equal(b, data) {
		t.Errorf("%d bytes came back of %d: %v", len(b), len(data), err)
	}
	if err := n.WriteFile(ctx, "/tmp/some/where", nil); err != nil {
		t.Fatal(err)
	}
	if b, err := n.ReadFile(ctx, "/tmp/some/where"); err != nil || len(b) != 0 {
		t.Errorf("%d bytes came back of an empty file: %v", len(b), err)
	}
	const knob = "/proc/sys/kernel/hung_task_timeout_secs"
	if b, err := n.ReadFile(ctx, knob); err != nil || string(b) != "60\n" {
		t.Errorf("the limit for hung tasks is %q: %v", b, err)
	}
	if err := n.Set(ctx, knob, "77"); err != nil {
		t.Fatal(err)
	}
	if b, err := n.ReadFile(ctx, knob); err != nil || string(b) != "77\n" {
		t.Errorf("the knob is %q: %v", b, err)
	}
	if err := n.Set(ctx, "/proc/sys/missing", "1"); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("a knob that does not exist: %v", err)
	}
	if _, err := n.ReadFile(ctx, "/missing"); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("a file that does not exist: %v", err)
	}
}

func modules(t *testing.T, n *vm.Node) {
	ctx := testContext(t)
	loaded := func(name string) bool {
		mods, err := n.LoadedModules(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mods {
			if m.Name == name {
				return true
			}
		}
		return false
	}
	if err := n.Load(ctx, vm.StockRDS()...); err != nil {
		t.Fatal(err)
	}
	if !loaded("rds") || !loaded("rds_rdma") || !loaded("rds_tcp") || !loaded("rdma_cm") {
		t.Error("not all are there")
	}
	wantError(t, "the same from elsewhere", n.Load(ctx, vm.Module{Name: "rds", From: vm.Ours}), "already", "stock")
	wantError(t, "a module that does not exist", n.Load(ctx, vm.Module{Name: "nonsense", From: vm.Stock}), "nonsense")
	wantError(t, "a bad parameter", n.Load(ctx, vm.Module{Name: "dummy", From: vm.Stock, Params: "numdummies=many"}), "invalid argument")
	if err := n.UnloadRDS(ctx); err != nil {
		t.Fatal(err)
	}
	if loaded("rds") {
		t.Error("rds is still there")
	}
}

// TestPair tries the switch and RDMA with two VMs.
func TestPair(t *testing.T) {
	env := open(t, config(t))
	ctx := testContext(t)
	a, b, err := env.Pair(ctx)
	if err != nil {
		t.Fatal(err)
	}
	capture, err := env.Capture("ping")
	if err != nil {
		t.Fatal(err)
	}
	ping := func() int {
		t.Helper()
		rtt, err := a.Ping(ctx, b.IP(), 2, 100)
		if err != nil {
			t.Fatal(err)
		}
		return len(rtt)
	}
	if got := ping(); got != 2 {
		t.Errorf("%d answers of 2", got)
	}
	b.Link(0).Cut()
	if got := ping(); got != 0 {
		t.Errorf("%d answers over a cut link", got)
	}
	b.Link(0).Restore()
	if got := ping(); got != 2 {
		t.Errorf("%d answers of 2 after the repair", got)
	}
	rule, err := a.Link(0).Add(ether.ToNode, ether.Rule{Name: "loss", Match: isEchoReply, Pick: ether.Nth(1), Do: ether.Drop()})
	if err != nil {
		t.Fatal(err)
	}
	if got := ping(); got != 1 || rule.Picked() != 1 {
		t.Errorf("%d answers, %d dropped; want 1 and 1", got, rule.Picked())
	}
	lost := 0
	for f, err := range capture.Frames() {
		if err != nil {
			t.Fatal(err)
		}
		if f.Lost == "loss" {
			lost++
		}
	}
	if lost != 1 {
		t.Errorf("the capture has %d frames lost by the rule, want 1", lost)
	}
	if _, err := os.Stat(filepath.Join(a.Dir(), "repeat.sh")); err != nil {
		t.Error(err)
	}
	if err := env.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// isEchoReply is true for an ICMP echo reply over IPv4.
func isEchoReply(f []byte) bool {
	return len(f) > 34 && f[12] == 8 && f[13] == 0 && f[23] == 1 && f[34] == 0
}
