// SPDX-License-Identifier: MIT

// Package api is what mrprobe reads and prints.
package api

// A Request is a line of standard input. Which fields count depends on Op.
type Request struct {
	// Op is one of these:
	//
	//	socket   make a socket, bound to Addr unless that is empty
	//	close    close it
	//	buffer   make a buffer of Kind and Length
	//	poke     put Text at the beginning of a buffer
	//	peek     get Length bytes of a buffer as Text
	//	getmr    GET_MR, or with Addr GET_MR_FOR_DEST, Count times until one fails
	//	free     FREE_MR
	//	send     send a message
	//	map      send a message that maps a part of a buffer (RDMA_MAP)
	//	dest     send a message that announces Cookie (RDMA_DEST)
	//	rdma     access Cookie's memory and send a message (RDMA_ARGS)
	//	recv     wait for a message or a notification, for Millis
	//	race     wait until the byte at Length-1 of a buffer is not what Text
	//	         begins with, for Millis, then FREE_MR
	//	memlock  set the limit of locked memory to Count bytes
	//	info     read the RDS_INFO list whose option is Count, as it is
	Op string `json:"op"`
	// Sock and Buf are names of the caller's choice.
	Sock string `json:"sock,omitempty"`
	Buf  string `json:"buf,omitempty"`
	// Addr is an address and port: of ourselves for a socket, of the peer for a
	// call; empty for none.
	Addr string `json:"addr,omitempty"`
	// Kind of a buffer: "plain", "readonly"; "hole" without the second half of its
	// pages; "nothing", an address without memory.
	Kind string `json:"kind,omitempty"`
	// Address is used where Buf is empty, for memory that nobody has.
	Address uint64 `json:"address,omitempty"`
	// Offset and Length are a part of the buffer, in bytes. They may lie outside.
	// Length is the size of a buffer that is made.
	Offset int64 `json:"offset,omitempty"`
	Length int64 `json:"length,omitempty"`
	// Flags are those of the RDS user API.
	Flags uint64 `json:"flags,omitempty"`
	// Cookie of a region.
	Cookie uint64 `json:"cookie,omitempty"`
	// BadCookieAddr has the kernel store the cookie where there is no memory.
	BadCookieAddr bool `json:"bad_cookie_addr,omitempty"`
	// Token comes back in the notification of an RDMA operation.
	Token uint64 `json:"token,omitempty"`
	// Text is what is sent, and what is put into a buffer. Pad is how many bytes
	// more a message has.
	Text string `json:"text,omitempty"`
	Pad  int    `json:"pad,omitempty"`
	// Count of calls, and the limit in bytes for "memlock".
	Count uint64 `json:"count,omitempty"`
	// Millis is how long to wait.
	Millis int `json:"millis,omitempty"`
}

// A Reply is a line of standard output.
type Reply struct {
	// N counts the replies from 1.
	N int `json:"n"`
	// Errno is the name of the error of the call, empty for success. Everything
	// else that goes wrong ends the program.
	Errno string `json:"errno,omitempty"`
	// Micros is how long the call took.
	Micros int64 `json:"micros,omitempty"`
	// Cookie of the region that was made, or that a message has announced.
	Cookie uint64 `json:"cookie,omitempty"`
	// From, Text and Length are of a received message; Text without the padding.
	From   string `json:"from,omitempty"`
	Text   string `json:"text,omitempty"`
	Length int    `json:"length,omitempty"`
	// Statuses are those of RDMA operations, by token.
	Statuses map[uint64]int32 `json:"statuses,omitempty"`
	// Done is how many of Count calls succeeded.
	Done uint64 `json:"done,omitempty"`
	// Addr is the address of a socket.
	Addr string `json:"addr,omitempty"`
	// List is an RDS_INFO list, and Each the length of its items in bytes.
	List []byte `json:"list,omitempty"`
	Each int    `json:"each,omitempty"`
}
