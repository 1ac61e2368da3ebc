// SPDX-License-Identifier: MIT

// Failnth makes a call of RDS again and again, and has the kernel fail at the
// first step of it that can fail, then at the second, and so on until the call
// has no further such step: allocations of any kind, copies from and to the
// process. It prints what came of it as JSON. See vm.Node.PrepareFaults, which
// has to come first.
//
// Only what the kernel does in the calling thread is reached.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
)

// A result is what is printed.
type result struct {
	Operation string `json:"operation"`
	// Steps is how many steps were made to fail, each in a call of its own.
	Steps int `json:"steps"`
	// Survived is how many of these calls succeeded nevertheless.
	Survived int `json:"survived"`
	// Errors counts the errors of the others.
	Errors map[string]int `json:"errors"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "failnth:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 4 || operations[os.Args[1]] == nil {
		return fmt.Errorf("usage: failnth %s LOCAL-ADDRESS PEER:PORT", strings.Join(names(), "|"))
	}
	local, err := netip.ParseAddr(os.Args[2])
	if err != nil {
		return err
	}
	peer, err := netip.ParseAddrPort(os.Args[3])
	if err != nil {
		return err
	}
	if err := withoutPreemption(); err != nil {
		return err
	}
	// Nothing of the runtime's own may come in between.
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	nth, err := os.OpenFile("/proc/thread-self/fail-nth", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("%w: only a kernel with CONFIG_FAULT_INJECTION has it", err)
	}
	defer nth.Close()
	r := result{Operation: os.Args[1], Errors: map[string]int{}}
	for ; ; r.Steps++ {
		op, err := operations[r.Operation](local, peer)
		if err != nil {
			return err
		}
		failed, callErr, err := failing(nth, r.Steps+1, op.call)
		if err != nil {
			return err
		}
		if err := op.undo(callErr); err != nil {
			return fmt.Errorf("%s, failed at step %d with %v: %w", r.Operation, r.Steps+1, callErr, err)
		}
		switch {
		case !failed && callErr != nil:
			return fmt.Errorf("%s, without a failure: %w", r.Operation, callErr)
		case !failed:
			return json.NewEncoder(os.Stdout).Encode(r)
		case callErr == nil:
			r.Survived++
		default:
			r.Errors[reason(callErr)]++
		}
	}
}

// withoutPreemption starts this program again without the signals by which the
// runtime interrupts what takes long: the kernel copies something to the process
// to deliver one, and kills it where that fails.
func withoutPreemption() error {
	const name, value = "GODEBUG", "asyncpreemptoff=1"
	if os.Getenv(name) == value {
		return nil
	}
	if err := os.Setenv(name, value); err != nil {
		return err
	}
	return fmt.Errorf("start again: %w", syscall.Exec("/proc/self/exe", os.Args, os.Environ()))
}

// failing makes a call whose n-th step fails, and reports whether it had so
// many.
func failing(nth *os.File, n int, call func() error) (failed bool, callErr, err error) {
	// Text that is ready: from here on this thread is to do nothing but the call.
	fd, text := int(nth.Fd()), []byte(strconv.Itoa(n))
	if _, err := syscall.Pwrite(fd, text, 0); err != nil {
		return false, nil, fmt.Errorf("fail-nth: %w", err)
	}
	callErr = call()
	// While it is still on, this may be what fails, and has to be said again.
	var buf [16]byte
	k, err := syscall.Pread(fd, buf[:], 0)
	if errors.Is(err, syscall.EFAULT) {
		return false, callErr, nil
	}
	if err != nil {
		return false, callErr, fmt.Errorf("fail-nth: %w", err)
	}
	left, err := strconv.Atoi(strings.TrimSpace(string(buf[:k])))
	if err != nil {
		return false, callErr, fmt.Errorf("fail-nth: %w", err)
	}
	for left > 0 {
		if _, err = syscall.Pwrite(fd, []byte("0"), 0); err == nil {
			break
		}
		if !errors.Is(err, syscall.EFAULT) {
			return false, callErr, fmt.Errorf("fail-nth: %w", err)
		}
	}
	return left == 0, callErr, nil
}

func reason(err error) string {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no.Error()
	}
	return err.Error()
}
