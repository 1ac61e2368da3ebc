// SPDX-License-Identifier: MIT

// Command testprog does in a guest what the self-tests of the harness need a
// command to do.
//
//	testprog exit STATUS          ends with that status
//	testprog say OUT ERR          prints to standard output and standard error
//	testprog echo                 copies its input
//	testprog flood BYTES          prints that many bytes
//	testprog id                   prints user, group, and whether it may set the time
//	testprog orphan               leaves a child behind, prints its number
//	testprog hang                 prints "ready" and waits for a signal
//	testprog stubborn             ignores SIGTERM, prints "ready", waits
//	testprog spawn-hang           hang, in a child of its own
//	testprog links                prints the names of the network devices
package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

func main() {
	if len(os.Args) < 2 {
		fatal(errors.New("what to do?"))
	}
	if err := do(os.Args[1], os.Args[2:]); err != nil {
		fatal(err)
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "testprog:", err)
	os.Exit(1)
}

func do(what string, args []string) error {
	switch what {
	case "exit":
		status, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		os.Exit(status)
	case "say":
		fmt.Fprintln(os.Stderr, args[1])
		fmt.Println(args[0])
	case "echo":
		_, err := io.Copy(os.Stdout, os.Stdin)
		return err
	case "flood":
		return flood(args[0])
	case "id":
		return id()
	case "orphan":
		cmd := exec.Command(os.Args[0], "exit", "0")
		if err := cmd.Start(); err != nil {
			return err
		}
		fmt.Println(cmd.Process.Pid)
	case "hang":
		fmt.Println("ready")
		return pause()
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		return pause()
	case "spawn-hang":
		cmd := exec.Command(os.Args[0], "hang")
		cmd.Stdout = os.Stdout
		return cmd.Run()
	case "links":
		return links()
	default:
		return fmt.Errorf("unknown %q", what)
	}
	return nil
}

// pause waits for a signal that ends the process.
func pause() error {
	for {
		// Interrupted by the signals of the Go runtime, too.
		if err := syscall.Pause(); err != nil && !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func flood(size string) error {
	n, err := strconv.Atoi(size)
	if err != nil {
		return err
	}
	line := []byte(strings.Repeat("0123456789abcde", 64) + "\n")
	for n > 0 {
		k := min(n, len(line))
		if _, err := os.Stdout.Write(line[:k]); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

func id() error {
	var now syscall.Timeval
	if err := syscall.Gettimeofday(&now); err != nil {
		return err
	}
	err := syscall.Settimeofday(&now)
	fmt.Println(os.Getuid(), os.Getgid(), err == nil)
	return nil
}

func links() error {
	ifs, err := net.Interfaces()
	if err != nil {
		return err
	}
	for _, i := range ifs {
		fmt.Println(i.Name)
	}
	return nil
}
