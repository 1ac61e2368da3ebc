// SPDX-License-Identifier: MIT

package vm

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/test/vm/qemu"
)

func TestConfigDefaults(t *testing.T) {
	c := Config{Name: "x"}
	if err := c.complete(); err != nil {
		t.Fatal(err)
	}
	if c.Kernel != DefaultKernel || c.Seed != 1 || c.BootLimit <= 0 || c.HangLimit <= 0 || c.OpLimit <= 0 || c.Log == nil {
		t.Errorf("%+v", c)
	}
	root := filepath.Dir(c.Build)
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil || filepath.Base(c.Build) != "build" {
		t.Errorf("build directory %s: %v", c.Build, err)
	}
	c = Config{Name: "x", Build: "some/where", HangLimit: time.Second}
	if err := c.complete(); err != nil || !filepath.IsAbs(c.Build) || c.HangLimit != time.Second {
		t.Errorf("%+v, %v", c, err)
	}
	if err := new(Config).complete(); err == nil {
		t.Error("no name: no error")
	}
}

func TestConfigOutsideTheSourceTree(t *testing.T) {
	t.Chdir(t.TempDir())
	c := Config{Name: "x"}
	if err := c.complete(); err == nil || !strings.Contains(err.Error(), "set the build directory") {
		t.Errorf("%v", err)
	}
}

func TestChecks(t *testing.T) {
	dir := t.TempDir()
	c := Config{Build: dir, Kernel: "k"}
	if d, err := c.Scale(time.Second); err != nil || d != time.Second {
		t.Errorf("no kernel: %v, %v", d, err)
	}
	if _, err := readChecks(c.kernelDir()); err == nil || !strings.Contains(err.Error(), "kernel-fetch k") {
		t.Errorf("no kernel: %v", err)
	}
	headers := filepath.Join(dir, "kernel", "k", "headers")
	if err := os.MkdirAll(headers, 0o755); err != nil {
		t.Fatal(err)
	}
	for config, want := range map[string]checks{
		"# CONFIG_KASAN is not set\nCONFIG_KASAN_X=y\n":                                           {},
		"#\nCONFIG_KASAN=y\nCONFIG_DEBUG_KMEMLEAK=y\nCONFIG_PROVE_LOCKING=y\nCONFIG_FAILSLAB=y\n": {true, true, true, true},
	} {
		if err := os.WriteFile(filepath.Join(headers, ".config"), []byte(config), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := readChecks(c.kernelDir())
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v", config, got, err)
		}
		d, err := c.Scale(time.Second)
		if err != nil || (d > time.Second) != want.kasan || len(want.known()) > len(driverFaults) != want.kasan {
			t.Errorf("%q: a second becomes %v, %v", config, d, err)
		}
	}
}

// A fault of the driver is let pass, one of ours that looks like it is not.
func TestDriverFaults(t *testing.T) {
	const line = "[   31.088029] WARNING: CPU: 0 PID: 14 at drivers/infiniband/sw/rxe/rxe_comp.c:756 rxe_completer+0x86c/0xd60 [rdma_rxe]"
	known := checks{}.known()
	if len(known) != 1 || !known[0].First.MatchString(line) || known[0].First.MatchString(strings.ReplaceAll(line, "rxe_completer", "rext_completer")) {
		t.Errorf("known are %+v", known)
	}
}

func TestOursIsKnown(t *testing.T) {
	for line, want := range map[string]bool{
		"[    1.0]  rext_announce_rx+0x1/0x2 [rds_ext]":                              true,
		"[    1.0]        insert.isra.0+0x1/0x2 [rds_ext]":                           true,
		"[    1.0]  rds_hooks_call_rx_header+0x1/0x2 [rds]":                          true,
		"[    1.0] ffff (&c->lock){+.+.}-{3:3}, at: rext_conn_get+0x1/0x2 [rds_ext]": true,
		"[    1.0]  ? rds_hooks_call_rx_header+0x1/0x2 [rds]":                        false,
		"[    1.0]  rds_send_xmit+0x1/0x2 [rds]":                                     false,
		"[    1.0] Modules linked in: rds_rdma rds_ext rds [last unloaded: rds_ext]": false,
	} {
		if got := ours.MatchString(line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

func TestLeaksAreTakenApart(t *testing.T) {
	one := "unreferenced object 0xffff888 (size 64):\n  comm \"a\", pid 1\n  backtrace:\n    [<0>] f+0x1/0x2\n"
	two := "unreferenced object 0xffff999 (size 8):\n  comm \"b\", pid 2\n"
	for text, want := range map[string][]string{
		"":        nil,
		one:       {strings.TrimSpace(one)},
		one + two: {strings.TrimSpace(one), strings.TrimSpace(two)},
		"odd\n":   {"odd"},
	} {
		if got := splitLeaks(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if why := leakIsKnown(one); why != "" {
		t.Errorf("a leak of f is let pass: %s", why)
	}
}

func TestFlags(t *testing.T) {
	parse := func(args ...string) (*Config, error) {
		fs := flag.NewFlagSet("", flag.ContinueOnError)
		fs.SetOutput(io.Discard)
		c := RegisterFlags(fs)
		return c, fs.Parse(args)
	}
	c, err := parse("-kernel", "6.12", "-build", "b", "-seed", "7", "-accel", "tcg")
	if err != nil || c.Kernel != "6.12" || c.Build != "b" || c.Seed != 7 || c.Accel != qemu.TCG {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := parse("-accel", "xen"); err == nil {
		t.Error("unknown accelerator: no error")
	}
}

func TestSpecDefaults(t *testing.T) {
	s := Spec{Name: "c"}
	if err := s.complete(3); err != nil {
		t.Fatal(err)
	}
	if s.Memory != DefaultMemory || s.CPUs != 1 || s.firstIP() != "10.77.0.3" {
		t.Errorf("%+v", s)
	}
	net := s.network(3)
	if len(net.Links) != 1 {
		t.Fatalf("%+v", net)
	}
	if l := net.Links[0]; l.Name != "eth0" || l.RXE != "rxe0" || l.MTU != DefaultMTU || l.MAC != macOf(3, 0).String() || l.Addrs[0] != "10.77.0.3/24" {
		t.Errorf("%+v", l)
	}
}

func TestSpecWithTwoDevices(t *testing.T) {
	given := []NIC{{MTU: 1500}, {Addrs: []string{"fd00::1/64"}, NoRXE: true}}
	s := Spec{Name: "a", NICs: given}
	if err := s.complete(1); err != nil {
		t.Fatal(err)
	}
	links := s.network(1).Links
	if links[0].MTU != 1500 || links[0].RXE != "rxe0" || links[1].RXE != "" || links[1].Name != "eth1" || links[1].Addrs[0] != "fd00::1/64" {
		t.Errorf("%+v", links)
	}
	if links[0].MAC == links[1].MAC {
		t.Error("both devices have the same address")
	}
	if given[0].Addrs != nil {
		t.Error("the caller's specification was changed")
	}
	if linkName("a", 0) != "a" || linkName("a", 1) != "a.1" {
		t.Error("names of links")
	}
}

func TestSpecRefuses(t *testing.T) {
	for name, s := range map[string]Spec{
		"no name": {}, "bad name": {Name: "A/../b"}, "MTU too small": {Name: "a", NICs: []NIC{{MTU: 20}}},
		"MTU too large": {Name: "a", NICs: []NIC{{MTU: maxMTU + 1}}}, "address": {Name: "a", NICs: []NIC{{Addrs: []string{"10.0.0.1"}}}},
	} {
		if err := s.complete(1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestDirName(t *testing.T) {
	for in, want := range map[string]string{"TestA/with space": "TestA_with_space", "../../x": "_.._x", "6.1": "6.1", "a=b-c_d": "a=b-c_d"} {
		if got := dirName(in); got != want {
			t.Errorf("dirName(%q) = %q, want %q", in, got, want)
		}
	}
}
