// SPDX-License-Identifier: MIT

package main

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The user API of RDS as far as it is about RDMA (linux/rds.h).
const (
	solRDS = 276

	optGetMR        = 2
	optFreeMR       = 3
	optGetMRForDest = 7

	cmsgArgs   = 1
	cmsgDest   = 2
	cmsgMap    = 3
	cmsgStatus = 4
)

// vector is a range of memory.
type vector struct {
	addr, bytes uint64
}

func words(ws ...uint64) []byte {
	var b []byte
	for _, w := range ws {
		b = binary.NativeEndian.AppendUint64(b, w)
	}
	return b
}

// getMRArgs are the arguments of a registration.
func getMRArgs(v vector, cookieAddr, flags uint64) []byte {
	return words(v.addr, v.bytes, cookieAddr, flags)
}

func setsockopt(fd, opt int, arg []byte) error {
	return unix.SetsockoptString(fd, solRDS, opt, string(arg))
}

// control makes a control message.
func control(typ int32, data []byte) []byte {
	b := make([]byte, unix.CmsgSpace(len(data)))
	h := (*unix.Cmsghdr)(unsafe.Pointer(&b[0]))
	h.Level, h.Type = solRDS, typ
	h.SetLen(unix.CmsgLen(len(data)))
	copy(b[unix.CmsgLen(0):], data)
	return b
}

// received is what one recvmsg returned.
type received struct {
	n        int
	from     unix.Sockaddr // nil for notifications
	cookie   uint64
	statuses map[uint64]int32
}

// receive takes a message or notifications, without waiting.
func receive(fd int, buf []byte) (received, error) {
	oob := make([]byte, 4096)
	n, oobn, _, from, err := unix.Recvmsg(fd, buf, oob, unix.MSG_DONTWAIT)
	if err != nil {
		return received{}, err
	}
	r := received{n: n, from: from, statuses: map[uint64]int32{}}
	msgs, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil {
		return r, err
	}
	for _, m := range msgs {
		switch {
		case m.Header.Level != solRDS:
		case m.Header.Type == cmsgDest:
			r.cookie = binary.NativeEndian.Uint64(m.Data)
		case m.Header.Type == cmsgStatus:
			r.statuses[binary.NativeEndian.Uint64(m.Data)] = int32(binary.NativeEndian.Uint32(m.Data[8:]))
		}
	}
	return r, nil
}
