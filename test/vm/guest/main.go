// SPDX-License-Identifier: MIT

// Command guest is all the user space that a test VM has.
//
// As PID 1 it mounts the file systems, loads the modules of the virtio port,
// starts itself again as the agent, and from then on only reaps. Two processes,
// because one that reaps every orphan would take the exit status of its own
// commands away from os/exec. The agent (see agent.go) answers the test.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// agentArg is the argument that makes this program the agent.
const agentArg = "agent"

func main() {
	switch {
	case len(os.Args) == 2 && os.Args[1] == agentArg:
		fmt.Fprintln(os.Stderr, "agent:", runAgent())
	case os.Getpid() == 1:
		fmt.Fprintln(os.Stderr, "init:", runInit())
		// Without the agent's last word the host takes the VM as failed.
		fmt.Fprintln(os.Stderr, "init: power off:", unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF))
	default:
		fmt.Fprintln(os.Stderr, "guest: this is the init program of a test VM and does nothing elsewhere")
	}
	// Nothing that gets here has gone well.
	os.Exit(1)
}

// runInit does the work of PID 1. It returns only on failure, as the agent does.
func runInit() error {
	if err := mountAll(); err != nil {
		return err
	}
	cmd := exec.Command("/init", agentArg)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return fmt.Errorf("wait: %w", err)
		case pid == cmd.Process.Pid:
			return fmt.Errorf("the agent ended: exit status %d, signal %d", ws.ExitStatus(), ws.Signal())
		}
	}
}
