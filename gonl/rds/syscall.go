// SPDX-License-Identifier: MIT

package rds

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The wrappers of golang.org/x/sys are not enough here: Sendmsg and Recvmsg add
// a byte to messages without payload on sockets like these, where a message
// without payload is not the same as one with a byte, and GetsockoptString
// hides the return value, in which RDS gives the size of an array element.

func bind(fd int, sa []byte) error {
	_, _, e := unix.Syscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&sa[0])), uintptr(len(sa)))
	return errnoErr(e)
}

func getsockname(fd int) ([]byte, error) {
	sa := make([]byte, sizeSockaddr6)
	n := uint32(len(sa))
	_, _, e := unix.Syscall(unix.SYS_GETSOCKNAME, uintptr(fd), uintptr(unsafe.Pointer(&sa[0])), uintptr(unsafe.Pointer(&n)))
	return sa[:min(int(n), len(sa))], errnoErr(e)
}

// setTOS sets the type of service of a socket that has sent nothing yet.
func setTOS(fd int, tos uint8) error {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), siocSetTOS, uintptr(unsafe.Pointer(&tos)))
	return errnoErr(e)
}

// sendmsg sends without blocking.
func sendmsg(fd int, h *unix.Msghdr) (int, error) {
	for {
		n, _, e := unix.Syscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(h)), unix.MSG_DONTWAIT)
		if e != unix.EINTR {
			return int(n), errnoErr(e)
		}
	}
}

// recvmsg receives without blocking.
func recvmsg(fd int, h *unix.Msghdr) (int, error) {
	for {
		n, _, e := unix.Syscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(h)), unix.MSG_DONTWAIT)
		if e != unix.EINTR {
			return int(n), errnoErr(e)
		}
	}
}

// getsockopt reads an option into b. It returns the call's own return value and
// the length that the kernel stored.
func getsockopt(fd, level, opt int, b []byte) (ret, n int, err error) {
	l := uint32(len(b))
	var p unsafe.Pointer
	if len(b) > 0 {
		p = unsafe.Pointer(&b[0])
	}
	r, _, e := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), uintptr(level), uintptr(opt), uintptr(p), uintptr(unsafe.Pointer(&l)), 0)
	return int(r), int(l), errnoErr(e)
}

func errnoErr(e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}
