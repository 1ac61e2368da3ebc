// SPDX-License-Identifier: MIT

package rds

import (
	"encoding/binary"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sendState is the memory for one sendmsg at a time. What the kernel reads or
// writes by address, other than through the message header, lies in mmap'd
// memory, because the garbage collector knows nothing of such numbers.
type sendState struct {
	hdr     unix.Msghdr
	iov     unix.Iovec
	name    []byte
	oob     []byte
	scratch []byte // a cookie, then local segments
}

const scratchSegments = 16 // offset of the segments in scratch

func (st *sendState) init() error {
	mem, err := unix.Mmap(-1, 0, scratchSegments+maxSegments*sizeIovec, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return fmt.Errorf("rds: allocate: %w", err)
	}
	st.scratch = mem
	return nil
}

func (st *sendState) close() error {
	mem := st.scratch
	st.scratch = nil
	if mem == nil {
		return nil
	}
	return unix.Munmap(mem)
}

func (st *sendState) scratchAddr(off int) uint64 {
	return uint64(uintptr(unsafe.Pointer(&st.scratch[off])))
}

// cookie returns what the kernel stored for the last Map.
func (st *sendState) cookie() Cookie { return Cookie(binary.NativeEndian.Uint64(st.scratch)) }

func (st *sendState) prepare(m Message) (*unix.Msghdr, error) {
	if st.scratch == nil {
		return nil, os.ErrClosed
	}
	var err error
	if st.name, err = appendSockaddr(st.name[:0], m.To); err != nil {
		return nil, fmt.Errorf("rds: send: %w", err)
	}
	st.oob = st.control(st.oob[:0], m)
	st.hdr = unix.Msghdr{Name: &st.name[0], Namelen: uint32(len(st.name))}
	if len(m.Payload) > 0 {
		st.iov = unix.Iovec{Base: &m.Payload[0]}
		st.iov.SetLen(len(m.Payload))
		st.hdr.Iov = &st.iov
		st.hdr.SetIovlen(1)
	}
	if len(st.oob) > 0 {
		st.hdr.Control = &st.oob[0]
		st.hdr.SetControllen(len(st.oob))
	}
	return &st.hdr, nil
}

// control appends the message's control message, if it has one.
func (st *sendState) control(b []byte, m Message) []byte {
	switch {
	case m.Map != nil:
		b = appendCmsgHdr(b, cmsgRDMAMap, sizeGetMR)
		return appendGetMR(b, m.Map.Segment.vec(), st.scratchAddr(0), m.Map.Flags)
	case m.Dest != 0:
		b = appendCmsgHdr(b, cmsgRDMADest, sizeCookie)
		return binary.NativeEndian.AppendUint64(b, uint64(m.Dest))
	case m.RDMA != nil:
		r := m.RDMA
		segs := st.scratch[scratchSegments:scratchSegments]
		for _, s := range r.Local {
			segs = appendVec(segs, s.vec())
		}
		b = appendCmsgHdr(b, cmsgRDMAArgs, sizeRDMAArgs)
		return appendRDMAArgs(b, rdmaArgs{
			cookie:    r.Remote,
			remote:    vec{addr: r.RemoteOffset, bytes: r.bytes()},
			localAddr: st.scratchAddr(scratchSegments),
			localNr:   uint64(len(r.Local)),
			flags:     r.Flags,
			token:     r.Token,
		})
	}
	return b
}
