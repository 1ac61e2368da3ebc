// SPDX-License-Identifier: MIT

package qemu

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// Program is the name of the emulator.
const Program = "qemu-system-x86_64"

// The limits of [Config].
const (
	MinMemory = 192  // MiB
	MaxMemory = 2048 // MiB; a debug kernel needs 1536
	MaxCPUs   = 8
)

// firstFile is the number that the first inherited file has in QEMU.
const firstFile = 3

// A Config describes a VM.
type Config struct {
	Name   string // for messages and as the process name
	Dir    string // existing directory for the logs
	Kernel string
	Initrd string
	Append []string // kernel parameters added to those of this package
	Memory int      // MiB
	CPUs   int
	Accel  Accel
	NICs   []NIC
	// Control is QEMU's end of a stream socket that becomes the virtio-serial
	// port of package agent. Start closes it.
	Control *os.File
	// Extra is appended to the command line.
	Extra []string
}

// A NIC is a network device on the switch.
type NIC struct {
	MAC net.HardwareAddr
	// Socket is QEMU's end of a pair of datagram sockets. Start closes it.
	Socket *os.File
	// MTU is the largest that the guest can set.
	MTU int
}

func (c *Config) validate() error {
	switch {
	case c.Memory < MinMemory || c.Memory > MaxMemory:
		return fmt.Errorf("memory of %d MiB; it must be between %d and %d", c.Memory, MinMemory, MaxMemory)
	case c.CPUs < 1 || c.CPUs > MaxCPUs:
		return fmt.Errorf("%d CPUs; there must be between 1 and %d", c.CPUs, MaxCPUs)
	case c.Control == nil:
		return errors.New("no control socket")
	case c.Accel == "":
		return errors.New("no accelerator")
	}
	for _, f := range []string{c.Kernel, c.Initrd} {
		if _, err := os.Stat(f); err != nil {
			return err
		}
	}
	return nil
}

// kernelParams are the kernel parameters of every VM. A kernel at fault must
// not go on: an oops becomes a panic, and a panic a reboot, at which QEMU
// exits. The check whether the timer ticks panics on a busy host, where an
// emulated CPU can wait longer for its next turn than the check does for a tick.
// Mitigations cost time and are of no use here; addresses that stay the same
// make two traces comparable.
var kernelParams = []string{
	"console=ttyS0", "loglevel=7", "printk.devkmsg=on",
	"oops=panic", "panic=-1", "no_timer_check", "mitigations=off", "nokaslr",
}

// wiring says what QEMU is connected to.
type wiring struct {
	control string   // chardev options
	nics    []string // netdev options
}

// wired connects QEMU to the test by inherited sockets: they have no name that
// could be too long or stale, and end with either side.
func (c *Config) wired() wiring {
	w := wiring{control: fmt.Sprintf("socket,id=control,fd=%d", firstFile)}
	for i := range c.NICs {
		w.nics = append(w.nics, fmt.Sprintf("dgram,id=net%d,local.type=fd,local.str=%d", i, firstFile+1+i))
	}
	return w
}

// standalone is for a run by hand: the port waits at a named socket, the
// network devices are connected to nothing.
func (c *Config) standalone() wiring {
	w := wiring{control: "socket,id=control,path=control.sock,server=on,wait=off"}
	for i := range c.NICs {
		w.nics = append(w.nics, fmt.Sprintf("hubport,id=net%d,hubid=%d", i, i))
	}
	return w
}

// args is the command line after the program's name.
func (c *Config) args(w wiring) []string {
	a := []string{
		"-name", c.Name,
		"-machine", "q35", "-accel", c.Accel.option(), "-cpu", c.Accel.cpu(),
		"-m", strconv.Itoa(c.Memory), "-smp", c.Accel.smp(c.CPUs),
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-kernel", c.Kernel, "-initrd", c.Initrd,
		"-append", strings.Join(append(append([]string(nil), kernelParams...), c.Append...), " "),
		"-serial", "stdio",
		"-device", "virtio-serial-pci",
		"-chardev", w.control,
		"-device", "virtserialport,chardev=control,name=" + agent.PortName,
	}
	for i, n := range c.NICs {
		a = append(a, "-netdev", w.nics[i],
			// No option ROM: nobody boots from the network here.
			"-device", fmt.Sprintf("virtio-net-pci,netdev=net%d,mac=%v,host_mtu=%d,romfile=", i, n.MAC, n.MTU))
	}
	return append(a, c.Extra...)
}

// quote makes a word safe for a shell.
func quote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("-_=+,./:@%", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func quoteAll(words []string) string {
	q := make([]string, len(words))
	for i, w := range words {
		q[i] = quote(w)
	}
	return strings.Join(q, " ")
}
