// SPDX-License-Identifier: MIT

package rds

import "strconv"

// Status is the outcome of an RDMA operation.
type Status int32

// The outcomes that the kernel reports.
const (
	StatusSuccess     Status = 0
	StatusRemoteError Status = 1 // the peer refused the access: wrong key or bounds
	StatusCanceled    Status = 2 // by [Socket.CancelSentTo] or by closing
	StatusDropped     Status = 3 // the connection was reset before the peer acknowledged
	StatusOtherError  Status = 4
)

// String returns a word for the status.
func (s Status) String() string {
	switch s {
	case StatusSuccess:
		return "success"
	case StatusRemoteError:
		return "remote error"
	case StatusCanceled:
		return "canceled"
	case StatusDropped:
		return "dropped"
	case StatusOtherError:
		return "other error"
	}
	return "status " + strconv.Itoa(int(s))
}

// Completion reports the end of an RDMA operation that asked for it with
// [NotifyMe].
type Completion struct {
	Token  uint64 // as given in [RDMA]
	Status Status
}
