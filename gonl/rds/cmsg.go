// SPDX-License-Identifier: MIT

package rds

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A control message header is a size_t length, an int level and an int type;
// header and data are padded to the size of a size_t.
const (
	sizeWord    = int(unsafe.Sizeof(uintptr(0)))
	sizeCmsgHdr = sizeWord + 4 + 4
)

func cmsgAlign(n int) int { return (n + sizeWord - 1) &^ (sizeWord - 1) }

func cmsgSpace(n int) int { return cmsgAlign(sizeCmsgHdr) + cmsgAlign(n) }

// appendCmsgHdr appends the header of an RDS control message with n bytes of
// data, which the caller appends next. n must be a multiple of the word size,
// as it is for every RDS structure.
func appendCmsgHdr(b []byte, typ int32, n int) []byte {
	l := uint64(cmsgAlign(sizeCmsgHdr) + n)
	if sizeWord == 8 {
		b = binary.NativeEndian.AppendUint64(b, l)
	} else {
		b = binary.NativeEndian.AppendUint32(b, uint32(l))
	}
	b = binary.NativeEndian.AppendUint32(b, solRDS)
	return binary.NativeEndian.AppendUint32(b, uint32(typ))
}

// vec is a range of this process's memory as the kernel wants to hear of it.
type vec struct {
	addr  uint64
	bytes uint64
}

func appendVec(b []byte, v vec) []byte {
	b = binary.NativeEndian.AppendUint64(b, v.addr)
	return binary.NativeEndian.AppendUint64(b, v.bytes)
}

// appendGetMR appends the arguments of a registration. The kernel stores the
// cookie at cookieAddr unless that is 0.
func appendGetMR(b []byte, v vec, cookieAddr uint64, f Flags) []byte {
	b = appendVec(b, v)
	b = binary.NativeEndian.AppendUint64(b, cookieAddr)
	return binary.NativeEndian.AppendUint64(b, uint64(f))
}

// appendGetMRForDest is appendGetMR with a destination in front, in a field
// with the size of a struct sockaddr_storage.
func appendGetMRForDest(b, dest []byte, v vec, cookieAddr uint64, f Flags) []byte {
	var storage [128]byte
	copy(storage[:], dest)
	return appendGetMR(append(b, storage[:]...), v, cookieAddr, f)
}

func appendFreeMR(b []byte, c Cookie, f Flags) []byte {
	b = binary.NativeEndian.AppendUint64(b, uint64(c))
	return binary.NativeEndian.AppendUint64(b, uint64(f))
}

// rdmaArgs are the arguments of an RDMA operation. The local segments are an
// array in memory, of which only the address crosses the boundary.
type rdmaArgs struct {
	cookie    Cookie
	remote    vec
	localAddr uint64
	localNr   uint64
	flags     Flags
	token     uint64
}

func appendRDMAArgs(b []byte, a rdmaArgs) []byte {
	b = binary.NativeEndian.AppendUint64(b, uint64(a.cookie))
	b = appendVec(b, a.remote)
	b = binary.NativeEndian.AppendUint64(b, a.localAddr)
	b = binary.NativeEndian.AppendUint64(b, a.localNr)
	b = binary.NativeEndian.AppendUint64(b, uint64(a.flags))
	return binary.NativeEndian.AppendUint64(b, a.token)
}

// control is what the control messages of one recvmsg said.
type control struct {
	cookie      Cookie
	hasCookie   bool
	completions []Completion
	congestion  uint64
}

// parseControl parses the control messages of a recvmsg. Types and levels that
// it does not know are skipped: a newer kernel may add some.
func parseControl(b []byte) (control, error) {
	var c control
	for len(b) > 0 {
		if len(b) < sizeCmsgHdr {
			return c, fmt.Errorf("%w: %d bytes after the last control message", ErrMalformed, len(b))
		}
		var l uint64
		if sizeWord == 8 {
			l = binary.NativeEndian.Uint64(b)
		} else {
			l = uint64(binary.NativeEndian.Uint32(b))
		}
		level := int32(binary.NativeEndian.Uint32(b[sizeWord:]))
		typ := int32(binary.NativeEndian.Uint32(b[sizeWord+4:]))
		if l < uint64(cmsgAlign(sizeCmsgHdr)) || l > uint64(len(b)) {
			return c, fmt.Errorf("%w: control message of %d bytes in %d", ErrMalformed, l, len(b))
		}
		if level == solRDS {
			if err := c.add(typ, b[cmsgAlign(sizeCmsgHdr):l]); err != nil {
				return c, err
			}
		}
		// The kernel need not pad the last one.
		b = b[min(cmsgAlign(int(l)), len(b)):]
	}
	return c, nil
}

func (c *control) add(typ int32, data []byte) error {
	need := 0
	switch typ {
	case cmsgRDMADest:
		need = sizeCookie
	case cmsgRDMAStatus:
		need = sizeStatus
	case cmsgCongUpdate:
		need = sizeCongMask
	}
	if len(data) < need {
		return fmt.Errorf("%w: control message type %d has %d bytes, needs %d", ErrMalformed, typ, len(data), need)
	}
	switch typ {
	case cmsgRDMADest:
		c.cookie, c.hasCookie = Cookie(binary.NativeEndian.Uint64(data)), true
	case cmsgRDMAStatus:
		c.completions = append(c.completions, Completion{
			Token:  binary.NativeEndian.Uint64(data),
			Status: Status(int32(binary.NativeEndian.Uint32(data[8:]))),
		})
	case cmsgCongUpdate:
		c.congestion |= binary.NativeEndian.Uint64(data)
	}
	return nil
}

// CongestionBit returns the bit that stands for a port in
// [Received.Congestion]: 64 groups of ports share the 64 bits.
func CongestionBit(port uint16) uint64 { return 1 << (port % 64) }

// A compile-time check that the header here is the header x/sys knows.
var _ [sizeCmsgHdr]byte = [unix.SizeofCmsghdr]byte{}
