// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// outputGrace is how long after the end of a command its output is waited for.
// A child that it left behind may hold the pipe open for ever.
const outputGrace = time.Second

func (c *call) exec(e agent.Exec) (agent.ExecResult, error) {
	var res agent.ExecResult
	if len(e.Argv) == 0 {
		return res, errors.New("no command")
	}
	cmd := &exec.Cmd{
		Path: e.Argv[0], Args: e.Argv, Dir: e.Dir,
		Env:         append([]string{"PATH=/bin", "HOME=/tmp"}, e.Env...),
		SysProcAttr: procAttr(e),
		WaitDelay:   outputGrace,
		Stdout:      printer{c, agent.KindStdout},
		Stderr:      printer{c, agent.KindStderr},
	}
	if !strings.Contains(cmd.Path, "/") {
		cmd.Path = filepath.Join("/bin", cmd.Path)
	}
	if cmd.Dir == "" {
		cmd.Dir = "/"
	}
	var stdin io.WriteCloser
	if e.Stdin {
		var err error
		if stdin, err = cmd.StdinPipe(); err != nil {
			return res, err
		}
	}
	if err := cmd.Start(); err != nil {
		return res, err
	}

	// Signals must not wait behind input that the command does not read.
	input := newFeed()
	var wg sync.WaitGroup
	wg.Go(func() { pump(input, stdin) })
	wg.Go(func() { c.control(cmd, input) })

	var timedOut atomic.Bool
	if e.Timeout > 0 {
		t := time.AfterFunc(e.Timeout, func() {
			timedOut.Store(true)
			signalGroup(cmd, syscall.SIGKILL)
		})
		defer t.Stop()
	}
	err := cmd.Wait()
	c.feed.close()
	input.close()
	if stdin != nil {
		// Wait has closed it already, unless the command could not be waited for.
		if cerr := stdin.Close(); cerr != nil && !errors.Is(cerr, os.ErrClosed) {
			err = errors.Join(err, cerr)
		}
	}
	wg.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return res, err
	}
	ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok {
		return res, fmt.Errorf("no wait status but %T", cmd.ProcessState.Sys())
	}
	res.ExitCode = ws.ExitStatus()
	if ws.Signaled() {
		res.Signal = int(ws.Signal())
	}
	res.TimedOut = timedOut.Load()
	return res, nil
}

func procAttr(e agent.Exec) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if e.NewNet {
		attr.Cloneflags |= syscall.CLONE_NEWNET
	}
	if e.NewUser {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: int(e.UID), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: int(e.GID), Size: 1}}
		attr.Credential = &syscall.Credential{Uid: 0, Gid: 0, NoSetGroups: true}
		return attr
	}
	if e.UID != 0 || e.GID != 0 {
		attr.Credential = &syscall.Credential{Uid: e.UID, Gid: e.GID}
	}
	return attr
}

// control passes signals on to the command, and input to its pump.
func (c *call) control(cmd *exec.Cmd, input *feed) {
	for {
		f, ok := c.feed.get()
		if !ok {
			return
		}
		if f.Kind == agent.KindSignal && len(f.Payload) == 1 {
			signalGroup(cmd, syscall.Signal(f.Payload[0]))
			continue
		}
		input.put(f)
	}
}

// pump writes input to the command's standard input. A command that closes its
// input early is no error: it will not be missed.
func pump(input *feed, stdin io.WriteCloser) {
	for {
		f, ok := input.get()
		if !ok {
			return
		}
		if stdin == nil {
			continue
		}
		if f.Kind == agent.KindInputEnd {
			stdin.Close()
			stdin = nil
			continue
		}
		if _, err := stdin.Write(f.Payload); err != nil {
			stdin = nil
		}
	}
}

func signalGroup(cmd *exec.Cmd, sig syscall.Signal) {
	err := syscall.Kill(-cmd.Process.Pid, sig)
	if err != nil && !errors.Is(err, syscall.ESRCH) {
		fmt.Fprintf(os.Stderr, "agent: signal %d to %d: %v\n", sig, cmd.Process.Pid, err)
	}
}

// A printer sends what it is given as output of a call.
type printer struct {
	c    *call
	kind agent.Kind
}

func (p printer) Write(b []byte) (int, error) {
	if err := p.c.s.fw.Write(p.c.id, p.kind, b); err != nil {
		return 0, err
	}
	return len(b), nil
}
