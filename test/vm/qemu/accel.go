// SPDX-License-Identifier: MIT

package qemu

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Accel is how QEMU runs the guest's code.
type Accel string

// The accelerators.
const (
	KVM Accel = "kvm"
	TCG Accel = "tcg" // emulation, works everywhere
)

func (a Accel) option() string {
	if a == TCG {
		// QEMU would take a quarter of the guest's memory size for translated code,
		// and translate again and again if that is little.
		return "tcg,thread=multi,tb-size=128"
	}
	return string(a)
}

func (a Accel) cpu() string {
	if a == KVM {
		// Nested KVM may refuse to set the register behind this feature, which is
		// about mitigations only.
		return "max,-arch-capabilities"
	}
	return "max"
}

// smp is the number of CPUs, and how many there could ever be. Where that is one,
// QEMU before 8.1 translates locked instructions, the guest's memory barriers
// among them, to plain ones: nobody else is thought to look. But the devices do,
// in a thread of their own: now and then a virtio-net device and its driver each
// miss that the other has something for it, and no frame passes again, for good.
func (a Accel) smp(cpus int) string {
	if a == TCG && cpus == 1 {
		return "1,maxcpus=2"
	}
	return strconv.Itoa(cpus)
}

// Trial is the outcome of a boot with each accelerator.
type Trial struct {
	// Boot is the host's boot and the emulator's version for which it holds.
	Boot   string
	Chosen Accel
	// Took is how long each took to boot. One that failed is in Failed.
	Took   map[Accel]time.Duration
	Failed map[Accel]string
}

// Choose returns the accelerator with which a VM boots fastest, by booting it.
// A device node and its ioctls prove nothing: /dev/kvm can be there and answer
// and yet never run a guest. boot boots a VM to the point where it answers and
// must give up when its context ends; limit is that of one boot. The outcome
// is kept in the file cache until the host boots again or its emulator changes.
func Choose(ctx context.Context, cache string, limit time.Duration, boot func(context.Context, Accel) error) (Trial, error) {
	id, err := hostID(ctx)
	if err != nil {
		return Trial{}, err
	}
	return choose(ctx, cache, id, limit, boot)
}

func choose(ctx context.Context, cache, id string, limit time.Duration, boot func(context.Context, Accel) error) (Trial, error) {
	// Test binaries run in parallel; one tries, the others wait for it.
	lock, err := os.OpenFile(cache+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return Trial{}, err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return Trial{}, fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	var t Trial
	b, err := os.ReadFile(cache)
	if err == nil && json.Unmarshal(b, &t) == nil && t.Boot == id && t.Chosen != "" {
		return t, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return Trial{}, err
	}
	t = try(ctx, limit, boot)
	t.Boot = id
	if t.Chosen == "" {
		return t, fmt.Errorf("no accelerator boots a VM: %s", t.failures())
	}
	if b, err = json.MarshalIndent(t, "", "  "); err != nil {
		return t, err
	}
	return t, os.WriteFile(cache, append(b, '\n'), 0o644)
}

func try(ctx context.Context, limit time.Duration, boot func(context.Context, Accel) error) Trial {
	t := Trial{Took: make(map[Accel]time.Duration), Failed: make(map[Accel]string)}
	for _, a := range []Accel{KVM, TCG} {
		if a == KVM {
			if _, err := os.Stat("/dev/kvm"); err != nil {
				t.Failed[a] = err.Error()
				continue
			}
		}
		bctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("did not boot within %v", limit))
		start := time.Now()
		err := boot(bctx, a)
		cancel()
		if err != nil {
			t.Failed[a] = firstLine(err)
			continue
		}
		t.Took[a] = time.Since(start)
		if t.Chosen == "" || t.Took[a] < t.Took[t.Chosen] {
			t.Chosen = a
		}
	}
	return t
}

func firstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return s
}

func (t Trial) failures() string {
	var s []string
	for _, a := range []Accel{KVM, TCG} {
		if f, ok := t.Failed[a]; ok {
			s = append(s, fmt.Sprintf("%s: %s", a, f))
		}
	}
	return strings.Join(s, "; ")
}

// hostID names this boot of the host and the emulator's version.
func hostID(ctx context.Context) (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, Program, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w; install the package qemu-system-x86", filepath.Base(Program), err)
	}
	version, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(string(boot)) + " " + version, nil
}
