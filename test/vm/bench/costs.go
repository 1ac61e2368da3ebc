// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/ether"
)

// costs is what the machine that runs the VMs has spent so far.
type costs struct {
	a, b, self time.Duration // CPU time of the two QEMU processes and of this one, the switch
	frames     uint64        // that the nodes have put on the wire
	busy, all  time.Duration // of all CPUs of the machine
}

// Costs is that for an operation.
type Costs struct {
	// FramesPerOp are Ethernet frames of both nodes together.
	FramesPerOp float64 `json:"frames_per_op"`
	// CPU time on the machine that runs the VMs, in microseconds: of the VM that
	// asks, of the one that serves, and of the switch between them.
	CPUAsking  float64 `json:"host_cpu_us_per_op_asking"`
	CPUServing float64 `json:"host_cpu_us_per_op_serving"`
	CPUSwitch  float64 `json:"host_cpu_us_per_op_switch"`
	// OtherLoad is the share of the machine's CPU time, 0 to 1, that went to
	// programs which have nothing to do with this.
	OtherLoad float64 `json:"host_other_load"`
}

func (p *pair) costs() (c costs, err error) {
	for _, n := range []struct {
		node *vm.Node
		cpu  *time.Duration
	}{{p.a, &c.a}, {p.b, &c.b}} {
		if *n.cpu, err = processTime(n.node.Pid()); err != nil {
			return c, err
		}
		c.frames += n.node.Link(0).Stats(ether.FromNode).Frames
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return c, err
	}
	c.self = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return c, err
	}
	c.busy, c.all, err = parseMachineTime(text)
	return c, err
}

func (c costs) since(before costs, ops int64) *Costs {
	if ops == 0 {
		return nil
	}
	us := func(d time.Duration) float64 { return round(float64(d.Microseconds())/float64(ops), 1) }
	return &Costs{
		FramesPerOp: round(float64(c.frames-before.frames)/float64(ops), 2),
		CPUAsking:   us(c.a - before.a), CPUServing: us(c.b - before.b), CPUSwitch: us(c.self - before.self),
		OtherLoad: c.otherLoad(before),
	}
}

func (c costs) otherLoad(before costs) float64 {
	if c.all <= before.all {
		return 0
	}
	ours := c.a - before.a + c.b - before.b + c.self - before.self
	// The clocks tick at different moments: a little less than nothing is nothing.
	return round(max(0, float64(c.busy-before.busy-ours)/float64(c.all-before.all)), 3)
}

// parseMachineTime reads the first line of /proc/stat: user, nice, system, idle,
// iowait, irq, softirq, steal.
func parseMachineTime(text []byte) (busy, all time.Duration, err error) {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	f := strings.Fields(string(line))
	if len(f) < 9 || f[0] != "cpu" {
		return 0, 0, fmt.Errorf("/proc/stat begins with %q", line)
	}
	for i, s := range f[1:9] {
		n, err := strconv.ParseUint(s, 10, 63)
		if err != nil {
			return 0, 0, fmt.Errorf("/proc/stat begins with %q: %w", line, err)
		}
		all += time.Duration(n) * clockTick
		if i != 3 && i != 4 {
			busy += time.Duration(n) * clockTick
		}
	}
	return busy, all, nil
}

// clockTick is the unit of /proc/PID/stat, USER_HZ, which is the same on every
// Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// processTime returns the CPU time of all threads of a process.
func processTime(pid int) (time.Duration, error) {
	name := fmt.Sprintf("/proc/%d/stat", pid)
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	d, err := parseProcessTime(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return d, nil
}

// parseProcessTime takes the 14th and 15th field. The second is the program's name
// in parentheses, which may contain anything.
func parseProcessTime(text []byte) (time.Duration, error) {
	i := bytes.LastIndexByte(text, ')')
	f := strings.Fields(string(text[i+1:]))
	if i < 0 || len(f) < 13 {
		return 0, fmt.Errorf("cannot read %q", text)
	}
	var sum uint64
	for _, s := range f[11:13] {
		n, err := strconv.ParseUint(s, 10, 63)
		if err != nil {
			return 0, fmt.Errorf("cannot read %q: %w", text, err)
		}
		sum += n
	}
	return time.Duration(sum) * clockTick, nil
}
