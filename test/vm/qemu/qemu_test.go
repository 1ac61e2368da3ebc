// SPDX-License-Identifier: MIT

package qemu

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"": "''", "plain-1.2": "plain-1.2", "two words": "'two words'", "it's": `'it'\''s'`, "a$b": "'a$b'", "x,y=z:/@%+": "x,y=z:/@%+",
	} {
		if got := quote(in); got != want {
			t.Errorf("quote(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestArgs(t *testing.T) {
	c := Config{
		Name: "a", Kernel: "k", Initrd: "i", Append: []string{"extra=1"}, Memory: 300, CPUs: 2, Accel: TCG,
		NICs: []NIC{{MAC: []byte{2, 0, 0, 0, 0, 1}, MTU: 9000}, {MAC: []byte{2, 0, 0, 0, 0, 2}, MTU: 1500}}, Extra: []string{"-S"},
	}
	got := c.args(c.wired())
	for _, pair := range [][2]string{
		{"-m", "300"}, {"-smp", "2"}, {"-kernel", "k"}, {"-initrd", "i"},
		{"-chardev", "socket,id=control,fd=3"},
		{"-netdev", "dgram,id=net0,local.type=fd,local.str=4"}, {"-netdev", "dgram,id=net1,local.type=fd,local.str=5"},
	} {
		found := false
		for i := range len(got) - 1 {
			found = found || got[i] == pair[0] && got[i+1] == pair[1]
		}
		if !found {
			t.Errorf("no %s %s in %q", pair[0], pair[1], got)
		}
	}
	if !slices.Contains(got, "-no-reboot") || got[len(got)-1] != "-S" {
		t.Errorf("arguments %q", got)
	}
	i := slices.Index(got, "-append")
	if words := strings.Fields(got[i+1]); !slices.Contains(words, "panic=-1") || words[len(words)-1] != "extra=1" {
		t.Errorf("kernel parameters %q", got[i+1])
	}
	if alone := strings.Join(c.args(c.standalone()), " "); strings.Contains(alone, "fd") {
		t.Errorf("a run by hand has no inherited files: %s", alone)
	}
}

// The devices of a VM with one CPU run beside it, all the same.
func TestBarriersOfOneCPU(t *testing.T) {
	for _, tc := range []struct {
		accel Accel
		cpus  int
		want  string
	}{
		{TCG, 1, "1,maxcpus=2"}, {TCG, 2, "2"}, {KVM, 1, "1"}, {KVM, 4, "4"},
	} {
		if got := tc.accel.smp(tc.cpus); got != tc.want {
			t.Errorf("%s with %d CPUs: -smp %s, want %s", tc.accel, tc.cpus, got, tc.want)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	good := Config{Kernel: file, Initrd: file, Memory: 512, CPUs: 1, Accel: TCG, Control: os.Stdin}
	if err := good.validate(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Config){
		"memory": func(c *Config) { c.Memory = MinMemory - 1 }, "too much": func(c *Config) { c.Memory = MaxMemory + 1 },
		"CPUs": func(c *Config) { c.CPUs = 0 }, "kernel": func(c *Config) { c.Kernel += "x" },
		"initrd": func(c *Config) { c.Initrd += "x" }, "control": func(c *Config) { c.Control = nil },
		"accelerator": func(c *Config) { c.Accel = "" },
	} {
		c := good
		if spoil(&c); c.validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestConsole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	var lines []string
	c, err := newConsole(path, func(s string) { lines = append(lines, s) })
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"one\r\ntw", "o\nthr", "ee"} {
		if _, err := c.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.Tail(); !slices.Equal(got, []string{"one", "two", "three"}) {
		t.Errorf("tail %q", got)
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(lines, []string{"one", "two", "three"}) {
		t.Errorf("lines %q", lines)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), "\n"); n != 3 || !strings.HasSuffix(string(b), " three\n") {
		t.Errorf("log %q", b)
	}
}

func TestConsoleKeepsTheLastLines(t *testing.T) {
	c, err := newConsole(filepath.Join(t.TempDir(), "log"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if _, err := c.Write([]byte(strings.Repeat("old\n", tailLines) + "new\n")); err != nil {
		t.Fatal(err)
	}
	if got := c.Tail(); len(got) != tailLines || got[tailLines-1] != "new" {
		t.Errorf("%d lines, the last %q", len(got), got[len(got)-1])
	}
}

// boots is a boot function for Choose that counts.
type boots struct {
	fail  map[Accel]error
	delay map[Accel]time.Duration
	count int
}

func (b *boots) boot(ctx context.Context, a Accel) error {
	b.count++
	select {
	case <-time.After(b.delay[a]):
		return b.fail[a]
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func TestChoose(t *testing.T) {
	broken := errors.New("broken")
	_, noKVM := os.Stat("/dev/kvm")
	tests := []struct {
		name    string
		b       boots
		needKVM bool
		want    Accel // "" for an error
	}{
		{"KVM fails", boots{fail: map[Accel]error{KVM: broken}}, false, TCG},
		{"KVM never boots", boots{delay: map[Accel]time.Duration{KVM: time.Minute}}, false, TCG},
		{"KVM is slower", boots{delay: map[Accel]time.Duration{KVM: 100 * time.Millisecond}}, false, TCG},
		{"KVM is faster", boots{delay: map[Accel]time.Duration{TCG: 100 * time.Millisecond}}, true, KVM},
		{"neither", boots{fail: map[Accel]error{KVM: broken, TCG: broken}}, false, ""},
	}
	for _, tt := range tests {
		want := tt.want
		if tt.needKVM && noKVM != nil {
			want = TCG // a host without the device
		}
		cache := filepath.Join(t.TempDir(), "accel.json")
		// In simulated time, so that a busy machine does not decide which boot is
		// the faster one.
		synctest.Test(t, func(t *testing.T) {
			trial, err := choose(t.Context(), cache, "this boot", 500*time.Millisecond, tt.b.boot)
			if (err != nil) != (want == "") || trial.Chosen != want {
				t.Errorf("%s: %q, %v; want %q", tt.name, trial.Chosen, err, want)
			}
			before := tt.b.count
			_, again := choose(t.Context(), cache, "this boot", 500*time.Millisecond, tt.b.boot)
			if cached := tt.b.count == before; cached != (want != "") {
				t.Errorf("%s: second time from the cache %v, error %v", tt.name, cached, again)
			}
		})
	}
}

func TestChooseTriesAgainAfterTheHostBooted(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "accel.json")
	if err := os.WriteFile(cache, []byte(`{"Boot": "another", "Chosen": "kvm"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	b := boots{fail: map[Accel]error{KVM: errors.New("broken")}}
	synctest.Test(t, func(t *testing.T) {
		if trial, err := choose(t.Context(), cache, "this boot", time.Second, b.boot); err != nil || trial.Chosen != TCG {
			t.Errorf("%q, %v", trial.Chosen, err)
		}
	})
}
