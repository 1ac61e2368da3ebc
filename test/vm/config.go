// SPDX-License-Identifier: MIT

package vm

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rds-ext/rds_ext/test/vm/qemu"
	"github.com/rds-ext/rds_ext/test/vm/splat"
)

// modulePath is how the root of the source tree is recognised.
const modulePath = "github.com/rds-ext/rds_ext"

// DefaultKernel is the kernel series of tests that name none.
const DefaultKernel = "6.1"

// A Config describes an environment. The zero value is usable.
type Config struct {
	// Kernel is a series: a directory below build/kernel. DefaultKernel if empty.
	Kernel string
	// Build is the build directory. If empty, that of the source tree around the
	// working directory.
	Build string
	// Name is that of the run's directory below build/vm/KERNEL. [New] takes the
	// test's.
	Name string
	// Seed decides all chance of the switch. 0 means 1.
	Seed uint64
	// Accel overrides the measured choice of the accelerator.
	Accel qemu.Accel
	// Files are put into the image: path in the guest to path on the host. All of
	// build/bin is there already, in /bin.
	Files map[string]string
	// Modules are modules of the distribution's kernel to have in the image beyond
	// those for RDS.
	Modules []string
	// Known are reports of the kernel that do not fail a run. Use it for faults of
	// stock code only. Those that a kernel which checks itself makes in any test
	// are let pass without being named here.
	Known []splat.Known
	// The limits below hold for kernels that do not check themselves, and are
	// longer for one that does.

	// BootLimit is how long a VM may take to answer; 90 s if 0.
	BootLimit time.Duration
	// HangLimit is how long the agent of a running VM may be silent before the VM
	// counts as hung; 60 s if 0.
	HangLimit time.Duration
	// OpLimit is the time for an operation whose context has no deadline; 2 min
	// if 0.
	OpLimit time.Duration
	// Log gets the progress; nil discards it.
	Log func(format string, args ...any)
}

// RegisterFlags defines the flags that choose how the VM tests of a package
// run, and returns the configuration that they fill when fs is parsed.
func RegisterFlags(fs *flag.FlagSet) *Config {
	c := new(Config)
	fs.StringVar(&c.Kernel, "kernel", DefaultKernel, "kernel `series` of the VMs, as in build/kernel/SERIES")
	fs.StringVar(&c.Build, "build", "", "build `directory` (default: build in the source tree)")
	fs.Uint64Var(&c.Seed, "seed", 1, "`seed` for what the switch leaves to chance")
	fs.Func("accel", "`accelerator` of the VMs, kvm or tcg (default: the faster one that boots)", func(s string) error {
		if s != string(qemu.KVM) && s != string(qemu.TCG) {
			return errors.New("it must be kvm or tcg")
		}
		c.Accel = qemu.Accel(s)
		return nil
	})
	return c
}

// complete fills in the defaults.
func (c *Config) complete() error {
	if c.Kernel == "" {
		c.Kernel = DefaultKernel
	}
	if c.Build == "" {
		root, err := sourceRoot()
		if err != nil {
			return fmt.Errorf("%w; set the build directory", err)
		}
		c.Build = filepath.Join(root, "build")
	}
	var err error
	if c.Build, err = filepath.Abs(c.Build); err != nil {
		return err
	}
	if c.Name == "" {
		return errors.New("the environment needs a name for its directory")
	}
	if c.Seed == 0 {
		c.Seed = 1
	}
	setDefault(&c.BootLimit, 90*time.Second)
	setDefault(&c.HangLimit, time.Minute)
	setDefault(&c.OpLimit, 2*time.Minute)
	if c.Log == nil {
		c.Log = func(string, ...any) {}
	}
	return nil
}

func setDefault(d *time.Duration, v time.Duration) {
	if *d == 0 {
		*d = v
	}
}

// kernelDir is where the kernel's files are.
func (c *Config) kernelDir() string { return filepath.Join(c.Build, "kernel", c.Kernel) }

// oursDir is where our modules are.
func (c *Config) oursDir() string { return filepath.Join(c.Build, "kmod", c.Kernel) }

// sourceRoot is the directory of our go.mod, at or above the working directory.
func sourceRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(b), "module "+modulePath+"\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not inside the source tree of %s", start, modulePath)
		}
	}
}

// dirName makes a directory name of a test's name.
func dirName(test string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("-_.=", r):
			return r
		}
		return '_'
	}, strings.TrimLeft(test, "."))
}
