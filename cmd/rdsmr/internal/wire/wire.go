// SPDX-License-Identifier: MIT

// Package wire is the protocol that two rdsmr processes speak over RDS.
//
// Every message starts with a header of [HeaderSize] bytes, big endian:
//
//	offset size
//	     0    4  magic "RDSM"
//	     4    1  version
//	     5    1  type
//	     6    2  flags
//	     8    8  session
//	    16    8  operation, or sequence number
//	    24    4  try: number of the attempt, unique in its task
//	    28    4  length: bytes of RDMA, or bytes that follow the header
//
// Hello, Welcome, Reject, End, Ended, Bye and Aborted carry JSON behind the
// header, and so does a responder's Resync.
package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// HeaderSize is the size of a header in bytes.
const HeaderSize = 32

// Version is the version of this protocol. Peers of different versions refuse
// each other.
const Version = 3

const magic = 0x5244534d

// Type is the type of a message.
type Type uint8

// The types. Control messages go between the control sockets, the others
// between the sockets of a task.
const (
	Hello   Type = 1 // requester: open a session; body Params
	Welcome Type = 2 // responder: opened; body Accepted
	Reject  Type = 3 // responder: refused; body Reason
	Ping    Type = 4 // requester: alive; once a second
	Pong    Type = 5 // responder: alive
	End     Type = 6 // requester: finished; body Result
	Ended   Type = 7 // responder: finished too; body Result
	Bye     Type = 8 // responder: please end the session; body Reason
	Closed  Type = 9 // requester: has got Ended; the session can be forgotten

	Request Type = 16 // please access the memory announced with this message
	Done    Type = 17 // the access was made; releases the memory
	Aborted Type = 18 // the access failed; body Reason
	// Resync goes both ways. From the requester: forget every request with a try
	// below this one. From the responder: every such request is forgotten, but
	// for those that Done or Aborted has come for; body Reason.
	Resync Type = 19

	Data Type = 32 // payload of length bytes
	Ack  Type = 33 // payload received
)

var typeNames = map[Type]string{
	Hello: "hello", Welcome: "welcome", Reject: "reject", Ping: "ping", Pong: "pong",
	End: "end", Ended: "ended", Bye: "bye", Closed: "closed", Request: "request", Done: "done",
	Aborted: "aborted", Resync: "resync", Data: "data", Ack: "ack",
}

// String returns the type's name.
func (t Type) String() string {
	if s, ok := typeNames[t]; ok {
		return s
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// FlagRead in a Request asks for an RDMA read; else it is a write.
const FlagRead = 1

// FlagNow in End: the responder does not go on to its own count of operations.
const FlagNow = 1

// Header is the header of a message.
type Header struct {
	Type    Type
	Flags   uint16
	Session uint64
	Op      uint64
	Try     uint32
	Length  uint32
}

// Errors of Parse.
var (
	ErrForeign = errors.New("not a message of rdsmr")
	ErrVersion = errors.New("the peer runs another version of rdsmr")
)

// Append appends the header.
func (h Header) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, magic)
	b = append(b, Version, byte(h.Type))
	b = binary.BigEndian.AppendUint16(b, h.Flags)
	b = binary.BigEndian.AppendUint64(b, h.Session)
	b = binary.BigEndian.AppendUint64(b, h.Op)
	b = binary.BigEndian.AppendUint32(b, h.Try)
	return binary.BigEndian.AppendUint32(b, h.Length)
}

// Parse returns header and body of a message. The body aliases b.
func Parse(b []byte) (Header, []byte, error) {
	if len(b) < HeaderSize || binary.BigEndian.Uint32(b) != magic {
		return Header{}, nil, ErrForeign
	}
	if b[4] != Version {
		return Header{}, nil, fmt.Errorf("%w: protocol %d, this is %d", ErrVersion, b[4], Version)
	}
	h := Header{
		Type:    Type(b[5]),
		Flags:   binary.BigEndian.Uint16(b[6:]),
		Session: binary.BigEndian.Uint64(b[8:]),
		Op:      binary.BigEndian.Uint64(b[16:]),
		Try:     binary.BigEndian.Uint32(b[24:]),
		Length:  binary.BigEndian.Uint32(b[28:]),
	}
	return h, b[HeaderSize:], nil
}

// AppendJSON appends the header with the body's length, and the body.
func AppendJSON(b []byte, h Header, body any) ([]byte, error) {
	j, err := json.Marshal(body)
	if err != nil {
		return b, fmt.Errorf("%v message: %w", h.Type, err)
	}
	h.Length = uint32(len(j))
	return append(h.Append(b), j...), nil
}

// ParseJSON parses the body of a control message. A truncated body and unknown
// trailing bytes are errors, unknown fields are not.
func ParseJSON(h Header, body []byte, v any) error {
	if int(h.Length) != len(body) {
		return fmt.Errorf("%v message: body of %d bytes, header says %d", h.Type, len(body), h.Length)
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("%v message: %w", h.Type, err)
	}
	return nil
}

// Reason is a text for the peer's user.
type Reason struct {
	Text string `json:"reason"`
}
