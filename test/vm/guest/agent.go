// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// A session is one run of the agent on the port.
type session struct {
	fw    *agent.FrameWriter
	token string

	mu    sync.Mutex
	calls map[uint32]*call
}

// A call is an operation under way. Its feed takes what the host sends it.
type call struct {
	id   uint32
	s    *session
	feed *feed
}

// runAgent serves the port until the host closes it, and then switches the
// machine off. It returns only on failure.
func runAgent() error {
	port, err := openPort()
	if err != nil {
		return err
	}
	s := &session{
		fw:    agent.NewFrameWriter(port),
		calls: make(map[uint32]*call),
	}
	if s.token, err = bootToken(); err != nil {
		return err
	}
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		return err
	}
	hello, err := json.Marshal(agent.Hello{
		Version: agent.Version, Token: s.token,
		Kernel: unix.ByteSliceToString(uts.Release[:]),
	})
	if err != nil {
		return err
	}
	if err := s.fw.Write(0, agent.KindHello, hello); err != nil {
		return err
	}
	for {
		f, err := agent.ReadFrame(port)
		if errors.Is(err, io.EOF) {
			return errors.New("the host has closed the port")
		}
		if err != nil {
			return err
		}
		if err := s.dispatch(f); err != nil {
			return err
		}
	}
}

// bootToken is the token on the kernel command line, the last one if there are
// several.
func bootToken() (string, error) {
	b, err := os.ReadFile("/proc/cmdline")
	if err != nil {
		return "", err
	}
	for _, w := range slices.Backward(strings.Fields(string(b))) {
		if v, ok := strings.CutPrefix(w, agent.TokenParam+"="); ok {
			return v, nil
		}
	}
	return "", fmt.Errorf("no %s= on the kernel command line", agent.TokenParam)
}

func (s *session) dispatch(f agent.Frame) error {
	s.mu.Lock()
	c := s.calls[f.Stream]
	s.mu.Unlock()
	switch f.Kind {
	case agent.KindCall:
		if c != nil {
			return fmt.Errorf("stream %d is in use", f.Stream)
		}
		var req agent.Call
		if err := json.Unmarshal(f.Payload, &req); err != nil {
			return fmt.Errorf("call: %w", err)
		}
		c = &call{id: f.Stream, s: s, feed: newFeed()}
		s.mu.Lock()
		s.calls[c.id] = c
		s.mu.Unlock()
		go c.serve(req)
		return nil
	case agent.KindInput, agent.KindInputEnd, agent.KindSignal:
		// A call may have ended before the host could know.
		if c != nil {
			c.feed.put(f)
		}
		return nil
	default:
		return fmt.Errorf("unexpected frame of kind %d", f.Kind)
	}
}

func (c *call) serve(req agent.Call) {
	var reply agent.Reply
	result, err := c.do(req)
	if err == nil && result != nil {
		reply.Result, err = json.Marshal(result)
	}
	if err != nil {
		reply = agent.Reply{Error: err.Error()}
		var errno syscall.Errno
		if errors.As(err, &errno) {
			reply.Errno = int(errno)
		}
	}
	c.s.mu.Lock()
	delete(c.s.calls, c.id)
	c.s.mu.Unlock()
	b, err := json.Marshal(reply)
	if err == nil && len(b) > agent.MaxPayload {
		b, err = json.Marshal(agent.Reply{Error: fmt.Sprintf("the reply has %d bytes, the limit is %d", len(b), agent.MaxPayload)})
	}
	if err == nil {
		err = c.s.fw.Write(c.id, agent.KindReply, b)
	}
	if err != nil {
		// Without the port there is nobody left to tell but the console.
		fmt.Fprintln(os.Stderr, "agent: reply:", err)
		os.Exit(1)
	}
	if req.Op == agent.OpPowerOff {
		if err := unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF); err != nil {
			fmt.Fprintln(os.Stderr, "agent: power off:", err)
			os.Exit(1)
		}
	}
}

func (c *call) do(req agent.Call) (any, error) {
	switch req.Op {
	case agent.OpExec:
		return withArgs(req, c.exec)
	case agent.OpLoad:
		return withArgs(req, noResult(loadModule))
	case agent.OpUnload:
		return withArgs(req, noResult(unloadModule))
	case agent.OpModules:
		return loadedModules()
	case agent.OpReadFile:
		return withArgs(req, noResult(c.readFile))
	case agent.OpWriteFile:
		return withArgs(req, noResult(c.writeFile))
	case agent.OpNetwork:
		return withArgs(req, noResult(setUpNetwork))
	case agent.OpRDMALinks:
		return rdmaLinks()
	case agent.OpDelRDMA:
		return withArgs(req, noResult(deleteRDMALink))
	case agent.OpPing:
		return withArgs(req, ping)
	case agent.OpHeartbeat:
		return nil, nil
	case agent.OpPowerOff:
		return c.s.bye()
	default:
		return nil, fmt.Errorf("unknown operation %q: the guest binary is older than the test", req.Op)
	}
}

// withArgs decodes the arguments of a call for the function that serves it.
func withArgs[A, R any](req agent.Call, f func(A) (R, error)) (any, error) {
	var a A
	if err := json.Unmarshal(req.Args, &a); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	return f(a)
}

func noResult[A any](f func(A) error) func(A) (any, error) {
	return func(a A) (any, error) { return nil, f(a) }
}

func (s *session) bye() (agent.Bye, error) {
	b, err := os.ReadFile("/proc/sys/kernel/tainted")
	if err != nil {
		return agent.Bye{}, err
	}
	bye := agent.Bye{Token: s.token}
	if _, err := fmt.Sscan(string(b), &bye.Taint); err != nil {
		return agent.Bye{}, fmt.Errorf("/proc/sys/kernel/tainted: %w", err)
	}
	return bye, nil
}
