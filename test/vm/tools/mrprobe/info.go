// SPDX-License-Identifier: MIT

package main

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/test/vm/tools/mrprobe/api"
)

// infoMax is far above any list of a test.
const infoMax = 1 << 20

// info reads a list without knowing what is in it.
func (p *prober) info(q *api.Request, r *api.Reply) error {
	fd, err := p.fd(q)
	if err != nil {
		return err
	}
	b := make([]byte, infoMax)
	length := uint32(len(b))
	// The call returns the length of an item, which package unix drops.
	each, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), solRDS, uintptr(q.Count),
		uintptr(unsafe.Pointer(&b[0])), uintptr(unsafe.Pointer(&length)), 0)
	if errno != 0 {
		return errno
	}
	r.List, r.Each = b[:length], int(each)
	return nil
}
