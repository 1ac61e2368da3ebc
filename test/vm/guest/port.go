// SPDX-License-Identifier: MIT

package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// portLimit is how long the port may take to appear once its modules are loaded.
const portLimit = 30 * time.Second

// openPort loads the modules of the port and opens it.
func openPort() (*os.File, error) {
	// Listening must start before the modules are loaded, to miss no event.
	events, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_KOBJECT_UEVENT)
	if err != nil {
		return nil, fmt.Errorf("uevent socket: %w", err)
	}
	defer unix.Close(events)
	if err := unix.Bind(events, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: 1}); err != nil {
		return nil, fmt.Errorf("uevent socket: %w", err)
	}
	if err := loadBootModules(); err != nil {
		return nil, err
	}
	deadline := time.Now().Add(portLimit)
	for {
		dev, err := findPort()
		if err != nil {
			return nil, err
		}
		if dev != "" {
			return openConnected(dev, deadline)
		}
		if err := waitEvent(events, deadline); err != nil {
			return nil, fmt.Errorf("no virtio port named %q: %w", agent.PortName, err)
		}
	}
}

func loadBootModules() error {
	f, err := os.Open(agent.BootModules)
	if err != nil {
		return err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		if err := loadModule(agent.Load{Path: sc.Text()}); err != nil {
			return err
		}
	}
	return sc.Err()
}

func findPort() (string, error) {
	names, err := filepath.Glob("/sys/class/virtio-ports/*/name")
	if err != nil {
		return "", err
	}
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			return "", err
		}
		if strings.TrimSpace(string(b)) == agent.PortName {
			return "/dev/" + filepath.Base(filepath.Dir(n)), nil
		}
	}
	return "", nil
}

func waitEvent(fd int, deadline time.Time) error {
	left := time.Until(deadline)
	if left <= 0 {
		return os.ErrDeadlineExceeded
	}
	// An event that was dropped for lack of buffer space (ENOBUFS) is one to look
	// again for, too.
	_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return err
	}
	buf := make([]byte, 8<<10)
	_, err = unix.Read(fd, buf)
	if err != nil && !errors.Is(err, unix.ENOBUFS) && !errors.Is(err, unix.EINTR) {
		return err
	}
	return nil
}

// openConnected opens the port and waits until the kernel knows that the host's
// end is open: before that, a read would return end of file. The file is in
// blocking mode: a hung-up port would keep the poller of the Go runtime busy.
func openConnected(dev string, deadline time.Time) (*os.File, error) {
	fd, err := unix.Open(dev, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dev, err)
	}
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	defer unix.Close(ep)
	// Edge-triggered: a level-triggered hang-up would be reported without end.
	ev := unix.EpollEvent{Events: unix.EPOLLOUT | unix.EPOLLET, Fd: int32(fd)}
	if err := unix.EpollCtl(ep, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
		return nil, err
	}
	for {
		left := time.Until(deadline)
		if left <= 0 {
			return nil, fmt.Errorf("%s: the host has not opened its end", dev)
		}
		var evs [1]unix.EpollEvent
		n, err := unix.EpollWait(ep, evs[:], int(left.Milliseconds())+1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return nil, err
		}
		if n == 1 && evs[0].Events&unix.EPOLLHUP == 0 {
			return os.NewFile(uintptr(fd), dev), nil
		}
	}
}
