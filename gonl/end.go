// SPDX-License-Identifier: MIT

package gonl

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// End is why an incarnation of a connection, or an attempt to set one up, has
// ended.
type End struct {
	// Reason in one word.
	Reason EndReason
	// Code says more about it, and what it says depends on the reason: the
	// completion status of InfiniBand, the connection manager's reason for a
	// rejection, or an error number. It is nil for reasons without a code.
	Code *uint32
}

// String gives the reason and what its code means, such as "send-error (status
// 12, transport retry counter exceeded)".
func (e End) String() string {
	if e.Code == nil {
		return e.Reason.String()
	}
	code := *e.Code
	var meaning string
	switch e.Reason {
	case EndReasonSendError, EndReasonReceiveError:
		meaning = numbered("status", code, completionStatus)
	case EndReasonRejected:
		meaning = numbered("reason", code, rejectReasons)
	case EndReasonUnreachable, EndReasonAddrError, EndReasonRouteError, EndReasonConnectError:
		meaning = unix.ErrnoName(syscall.Errno(code))
		if meaning == "" {
			meaning = fmt.Sprintf("error %d", code)
		}
	default:
		meaning = fmt.Sprintf("code %d", code)
	}
	return fmt.Sprintf("%s (%s)", e.Reason, meaning)
}

func numbered(what string, code uint32, names nameTable) string {
	if name, ok := names.find(code); ok {
		return fmt.Sprintf("%s %d, %s", what, code, name)
	}
	return fmt.Sprintf("%s %d", what, code)
}

// completionStatus has the terms of the InfiniBand specification, by the
// kernel's numbers (enum ib_wc_status).
var completionStatus = nameTable{
	{0, "success"},
	{1, "local length error"},
	{2, "local QP operation error"},
	{3, "local EE context operation error"},
	{4, "local protection error"},
	{5, "work request flushed"},
	{6, "memory window bind error"},
	{7, "bad response"},
	{8, "local access error"},
	{9, "remote invalid request"},
	{10, "remote access error"},
	{11, "remote operation error"},
	{12, "transport retry counter exceeded"},
	{13, "RNR retry counter exceeded"},
	{14, "local RDD violation"},
	{15, "remote invalid RD request"},
	{16, "remote aborted"},
	{17, "invalid EE context number"},
	{18, "invalid EE context state"},
	{19, "fatal error"},
	{20, "response timeout"},
	{21, "general error"},
}

// rejectReasons are those of the connection manager that an RDS host meets, by
// their numbers in the InfiniBand specification.
var rejectReasons = nameTable{
	{4, "timeout"},
	{6, "invalid communication ID"},
	{8, "nobody listens"},
	{10, "stale connection"},
	{28, "refused by RDS"},
}
