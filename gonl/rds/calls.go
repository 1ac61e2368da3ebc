// SPDX-License-Identifier: MIT

package rds

import "time"

// CallKind says which system call was made, and for what where that matters.
type CallKind int

// The kinds of system call on a bound socket.
const (
	CallSendmsg    CallKind = iota
	CallRecvmsg             // also one that found nothing
	CallPoll                // for room in the send buffer
	CallGetMR               // setsockopt: RDS_GET_MR, RDS_GET_MR_FOR_DEST
	CallFreeMR              // setsockopt: RDS_FREE_MR for one region
	CallSetsockopt          // setsockopt for anything else
	CallGetsockopt

	callKinds
)

// CallKinds lists all kinds, in the order of their numbers.
func CallKinds() []CallKind {
	var all []CallKind
	for k := range callKinds {
		all = append(all, k)
	}
	return all
}

// String returns the name of the system call, for GET_MR and FREE_MR the name of
// the option.
func (k CallKind) String() string {
	switch k {
	case CallSendmsg:
		return "sendmsg"
	case CallRecvmsg:
		return "recvmsg"
	case CallPoll:
		return "poll"
	case CallGetMR:
		return "get_mr"
	case CallFreeMR:
		return "free_mr"
	case CallSetsockopt:
		return "setsockopt"
	case CallGetsockopt:
		return "getsockopt"
	}
	return "unknown"
}

// Call is a system call that was made on a socket; see [Config.OnCall].
type Call struct {
	Kind    CallKind
	Elapsed time.Duration // from its start to its return
	Err     error         // the errno, or nil
}

// call makes a system call and tells who has asked for it.
func (s *Socket) call(k CallKind, f func() error) error {
	if s.onCall == nil {
		return f()
	}
	start := time.Now()
	err := f()
	s.onCall(Call{Kind: k, Elapsed: time.Since(start), Err: err})
	return err
}
