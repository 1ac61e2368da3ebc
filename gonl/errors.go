// SPDX-License-Identifier: MIT

package gonl

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/gonl/spec"
)

var (
	// ErrNotLoaded means that the kernel does not have the rds_ext family.
	ErrNotLoaded = errors.New("the kernel has no netlink family rds_ext: load the project's rds.ko, rds_rdma.ko and rds_ext.ko with insmod, in this order (README, \"On a machine of your own\")")

	// ErrPartial comes together with a result that may lack connections, or
	// have some twice, because the list changed each time while it was read.
	ErrPartial = errors.New("the list kept changing while it was read, the result may be incomplete")

	// ErrMalformed means that a message of the kernel breaks the
	// specification, so that client and module do not belong together.
	ErrMalformed = errors.New("malformed message from rds_ext")
)

// OpError is the kernel's refusal of an operation.
type OpError struct {
	// Op is the name of the operation in the specification, such as "settings-set".
	Op string
	// Errno says which kind of error it is; errors.Is compares with it.
	Errno syscall.Errno
	// Message is the kernel's own text (extended acknowledgement), or empty.
	Message string
	// Attr is the name of the attribute that the kernel objects to, "attribute N"
	// for one that the specification does not have, or empty.
	Attr string
	// Missing is set where Attr is required and was not in the request.
	Missing bool
	// Offset is where Attr begins in the request, in bytes from the start of
	// the netlink header, or 0 where the kernel named none.
	Offset int
}

// Error gives operation, the kernel's text, attribute and error number, in one line.
func (e *OpError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "gonl: %s: %s", e.Op, e.Reason())
	return b.String()
}

// Reason is Error without the operation in front.
func (e *OpError) Reason() string {
	var b strings.Builder
	if e.Message != "" {
		b.WriteString(e.Message)
	} else {
		b.WriteString(e.Errno.Error())
	}
	switch {
	case e.Attr != "" && e.Missing:
		fmt.Fprintf(&b, ", attribute %s is missing", e.Attr)
	case e.Attr != "":
		fmt.Fprintf(&b, ", attribute %s", e.Attr)
	}
	if name := unix.ErrnoName(e.Errno); name != "" {
		fmt.Fprintf(&b, " (%s)", name)
	} else {
		fmt.Fprintf(&b, " (errno %d)", int(e.Errno))
	}
	return b.String()
}

// Unwrap gives the error number, so that errors.Is finds unix.EPERM as well as
// fs.ErrPermission.
func (e *OpError) Unwrap() error { return e.Errno }

// newOpError joins what the kernel said with what was asked.
func newOpError(op spec.Op, ack *ackError, attrs []byte) *OpError {
	e := &OpError{Op: op.Name, Errno: ack.errno, Message: ack.message}
	switch {
	case ack.missing != 0:
		e.Attr, e.Missing = attrName(op.Set, ack.missing), true
	case ack.offset != 0:
		e.Offset = ack.offset
		if n, ok := attrAt(attrs, ack.offset); ok {
			e.Attr = attrName(op.Set, n)
		}
	}
	return e
}

func attrName(set *spec.AttrSet, number uint16) string {
	if a, ok := set.ByNumber(number); ok {
		return a.Name
	}
	return fmt.Sprintf("attribute %d", number)
}

func malformed(what string, err error) error {
	return fmt.Errorf("gonl: %w: %s: %w", ErrMalformed, what, err)
}
