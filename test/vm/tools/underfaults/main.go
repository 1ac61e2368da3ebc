// SPDX-License-Identifier: MIT

// Underfaults runs a command that failures on demand are meant for, see
// vm.Node.StartFaults: all threads and children of the command are, too.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "underfaults:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) < 2 {
		return fmt.Errorf("usage: underfaults COMMAND [ARGUMENTS]")
	}
	argv := os.Args[1:]
	if !strings.Contains(argv[0], "/") {
		argv[0] = filepath.Join("/bin", argv[0])
	}
	// The mark is the thread's; execve makes this thread the only one.
	runtime.LockOSThread()
	if err := os.WriteFile("/proc/thread-self/make-it-fail", []byte("1"), 0); err != nil {
		return fmt.Errorf("%w: only a kernel with CONFIG_FAULT_INJECTION has it, and only root may", err)
	}
	// The kernel kills a process to which it cannot copy a signal, and the Go runtime
	// interrupts itself by one all the time.
	env := append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
	return fmt.Errorf("%s: %w", argv[0], syscall.Exec(argv[0], argv, env))
}
