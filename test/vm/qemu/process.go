// SPDX-License-Identifier: MIT

package qemu

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// The files that a run leaves in [Config.Dir].
const (
	ConsoleLog = "console.log" // what the guest printed, with the seconds since the start
	ErrorLog   = "qemu.log"    // what QEMU itself said, and its command line
	RepeatFile = "repeat.sh"   // boots the same VM by hand
)

// A Process is a running QEMU.
type Process struct {
	// Console is the guest's console.
	Console *Console

	dir  string
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// Start starts QEMU. lines gets each line of the guest's console; it may be
// nil. The process does not survive the death of this one.
func Start(c Config, lines func(string)) (*Process, error) {
	defer c.closeFiles()
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("VM %s: %w", c.Name, err)
	}
	path, err := exec.LookPath(Program)
	if err != nil {
		return nil, fmt.Errorf("VM %s: %w; install the package qemu-system-x86", c.Name, err)
	}
	if err := c.writeRepeat(path); err != nil {
		return nil, fmt.Errorf("VM %s: %w", c.Name, err)
	}
	errLog, err := os.Create(filepath.Join(c.Dir, ErrorLog))
	if err != nil {
		return nil, fmt.Errorf("VM %s: %w", c.Name, err)
	}
	defer errLog.Close()
	console, err := newConsole(filepath.Join(c.Dir, ConsoleLog), lines)
	if err != nil {
		return nil, fmt.Errorf("VM %s: %w", c.Name, err)
	}
	cmd := exec.Command(path, c.args(c.wired())...)
	cmd.Stdout, cmd.Stderr = console, errLog
	cmd.ExtraFiles = append(cmd.ExtraFiles, c.Control)
	for _, n := range c.NICs {
		cmd.ExtraFiles = append(cmd.ExtraFiles, n.Socket)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Pdeathsig: syscall.SIGKILL,
		// Not in the terminal's process group: an interrupt is for us, who then
		// end the VMs in order.
		Setpgid: true,
	}
	if _, err := fmt.Fprintf(errLog, "%s\n", quoteAll(cmd.Args)); err != nil {
		return nil, errors.Join(fmt.Errorf("VM %s: %w", c.Name, err), console.close())
	}
	p := &Process{Console: console, dir: c.Dir, cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel sends the death signal when the thread ends that started the
		// child, so this thread must live as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = errors.Join(cmd.Wait(), console.close())
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, errors.Join(fmt.Errorf("VM %s: %w", c.Name, err), console.close())
	}
	return p, nil
}

// closeFiles closes this process's copies of what QEMU inherits, so that the
// other ends notice when QEMU is gone.
func (c *Config) closeFiles() {
	if c.Control != nil {
		_ = c.Control.Close()
	}
	for _, n := range c.NICs {
		_ = n.Socket.Close()
	}
}

func (c *Config) writeRepeat(program string) error {
	text := fmt.Sprintf("#!/bin/sh\n# Boots the VM %q with its console on this terminal. What the test was\n"+
		"# connected to is replaced: the agent's port is the socket control.sock,\n# network devices have no peer.\n"+
		"cd \"$(dirname \"$0\")\" &&\nexec %s %s\n", c.Name, quote(program), quoteAll(c.args(c.standalone())))
	return os.WriteFile(filepath.Join(c.Dir, RepeatFile), []byte(text), 0o755)
}

// Messages returns what QEMU itself said, other than the guest.
func (p *Process) Messages() string {
	b, err := os.ReadFile(filepath.Join(p.dir, ErrorLog))
	if err != nil {
		return err.Error()
	}
	_, said, _ := strings.Cut(string(b), "\n") // behind the command line
	return strings.TrimSpace(said)
}

// Pid is the process number of QEMU.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when QEMU has ended and the whole console has been read.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err is how QEMU ended, after Done: nil for exit status 0.
func (p *Process) Err() error { return p.err }

// Kill ends QEMU and waits for that.
func (p *Process) Kill() {
	select {
	case <-p.done:
		return
	default:
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return // already dying; Done tells
	}
	<-p.done
}

// Signal sends a signal to QEMU. SIGSTOP makes a hung guest.
func (p *Process) Signal(sig os.Signal) error { return p.cmd.Process.Signal(sig) }

// Wait waits at most d for the end of QEMU and reports whether it came.
func (p *Process) Wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.done:
		return true
	case <-t.C:
		return false
	}
}
