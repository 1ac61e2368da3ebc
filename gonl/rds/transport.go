// SPDX-License-Identifier: MIT

package rds

import "strconv"

// Transport is what carries the messages of a socket.
type Transport int

// The transports. The kernel chooses by the bound address unless [Config] says
// which one it must be.
const (
	TransportAny  Transport = iota // not chosen yet
	TransportIB                    // InfiniBand and RoCE: the only one with RDMA
	TransportTCP                   // TCP
	TransportLoop                  // this host only
)

const (
	kernelTransIB   = 0
	kernelTransTCP  = 2
	kernelTransLoop = 3
	kernelTransNone = -1
)

// String returns the transport's name as `rds-info` users know it.
func (t Transport) String() string {
	switch t {
	case TransportAny:
		return "any"
	case TransportIB:
		return "ib"
	case TransportTCP:
		return "tcp"
	case TransportLoop:
		return "loop"
	}
	return "transport " + strconv.Itoa(int(t))
}

// transportOf translates the kernel's number.
func transportOf(n int) (Transport, bool) {
	switch n {
	case kernelTransNone:
		return TransportAny, true
	case kernelTransIB:
		return TransportIB, true
	case kernelTransTCP:
		return TransportTCP, true
	case kernelTransLoop:
		return TransportLoop, true
	}
	return TransportAny, false
}

// kernelNumber is the opposite. Only IB and TCP can be asked for.
func (t Transport) kernelNumber() (int, bool) {
	switch t {
	case TransportIB:
		return kernelTransIB, true
	case TransportTCP:
		return kernelTransTCP, true
	}
	return 0, false
}
