// SPDX-License-Identifier: MIT

package gonl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// Lengths of the headers in front of the attributes of a request.
const (
	nlHeaderLen   = 16
	genlHeaderLen = 4
	attrHeaderLen = 4
)

// ackError is an error number in a netlink message, with the kernel's remarks.
type ackError struct {
	errno   syscall.Errno
	message string
	offset  int    // of the bad attribute in the request, 0 where not given
	missing uint16 // number of the attribute that is required, 0 where not given
}

func (e *ackError) Error() string {
	if e.message == "" {
		return e.errno.Error()
	}
	return e.message + ": " + e.errno.Error()
}

func (e *ackError) Unwrap() error { return e.errno }

var errShortAck = errors.New("acknowledgement is too short")

// parseAck returns the error that m carries, or nil. It is done here and not
// left to the netlink package because that one looks for the remarks behind
// the whole request, while a socket with NETLINK_CAP_ACK gets only the
// request's header back.
func parseAck(m netlink.Message) error {
	switch {
	case m.Header.Type == netlink.Error:
	case m.Header.Type == netlink.Done && len(m.Data) > 0:
	default:
		return nil
	}
	if len(m.Data) < 4 {
		return errShortAck
	}
	n := int32(binary.NativeEndian.Uint32(m.Data))
	if n == 0 {
		return nil
	}
	if n > 0 || n < -4095 {
		return fmt.Errorf("acknowledgement has error number %d", -n)
	}
	ack := &ackError{errno: syscall.Errno(-n)}
	if m.Header.Flags&netlink.AcknowledgeTLVs == 0 {
		return ack
	}
	rest := m.Data[4:]
	if m.Header.Type == netlink.Error {
		skip := nlHeaderLen
		if len(rest) < skip {
			return errShortAck
		}
		if m.Header.Flags&netlink.Capped == 0 {
			skip = (int(binary.NativeEndian.Uint32(rest)) + 3) &^ 3
		}
		if skip < nlHeaderLen || skip > len(rest) {
			return errShortAck
		}
		rest = rest[skip:]
	}
	ad, err := netlink.NewAttributeDecoder(rest)
	if err != nil {
		// The error number counts more than the remarks about it.
		return ack
	}
	for ad.Next() {
		switch ad.Type() {
		case unix.NLMSGERR_ATTR_MSG:
			ack.message = ad.String()
		case unix.NLMSGERR_ATTR_OFFS:
			ack.offset = int(ad.Uint32())
		case nlmsgerrAttrMissType:
			ack.missing = uint16(ad.Uint32())
		}
	}
	return ack
}

// nlmsgerrAttrMissType is missing from golang.org/x/sys/unix.
const nlmsgerrAttrMissType = 5

// attrAt reads the number of the attribute at offset, counted from the start
// of the netlink header, out of the attributes of a request.
func attrAt(attrs []byte, offset int) (uint16, bool) {
	i := offset - nlHeaderLen - genlHeaderLen
	if i < 0 || i > len(attrs)-attrHeaderLen {
		return 0, false
	}
	return binary.NativeEndian.Uint16(attrs[i+2:]) &^ (netlink.Nested | netlink.NetByteOrder), true
}
