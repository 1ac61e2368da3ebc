// SPDX-License-Identifier: MIT

package rds

// Numbers of the RDS user API (linux/rds.h). They are part of the kernel's ABI
// and never change; golang.org/x/sys does not carry them.
const (
	solRDS = 276

	optCancelSentTo = 1
	optGetMR        = 2
	optFreeMR       = 3
	optRecvErr      = 5
	optCongMonitor  = 6
	optGetMRForDest = 7
	optTransport    = 8

	cmsgRDMAArgs   = 1
	cmsgRDMADest   = 2
	cmsgRDMAMap    = 3
	cmsgRDMAStatus = 4
	cmsgCongUpdate = 5

	siocSetTOS = 0x89e0 // SIOCPROTOPRIVATE; the argument is a byte

	infoCounters         = 10000
	infoConnections      = 10001
	infoSendMessages     = 10003
	infoRetransMessages  = 10004
	infoRecvMessages     = 10005
	infoSockets          = 10006
	infoTCPSockets       = 10007
	infoIBConnections    = 10008
	info6Connections     = 10011
	info6SendMessages    = 10012
	info6RetransMessages = 10013
	info6RecvMessages    = 10014
	info6Sockets         = 10015
	info6TCPSockets      = 10016
	info6IBConnections   = 10017
)

// Sizes in bytes of the structures that cross the system call boundary.
const (
	sizeIovec     = 16
	sizeGetMR     = sizeIovec + 8 + 8
	sizeGetMRDest = 128 + sizeGetMR
	sizeFreeMR    = 8 + 8
	sizeRDMAArgs  = 8 + sizeIovec + 8 + 8 + 8 + 8
	sizeStatus    = 8 + 4 + 4 // a 32-bit status and padding to 8 bytes
	sizeCookie    = 8
	sizeCongMask  = 8
)

// MaxMessage is the largest payload of a message and the largest RDMA
// operation, in bytes. The kernel refuses more with EMSGSIZE.
const MaxMessage = 1 << 20

// maxSegments is the kernel's limit on local segments in one RDMA operation.
const maxSegments = 1024

// Flags modify registrations and RDMA operations.
type Flags uint64

// The flags of the RDS user API. ReadWrite, Fence, NotifyMe and Silent apply to
// RDMA operations, ReadWrite, Invalidate and UseOnce to registrations,
// Invalidate also to [Socket.FreeMR].
const (
	// ReadWrite makes an RDMA operation a write to the peer's memory (without
	// it, a read), and a registration writable for the peer.
	ReadWrite Flags = 0x01
	// Fence holds the message of an RDMA read back until the read has finished.
	Fence Flags = 0x02
	// Invalidate makes the kernel kill the key when the region is released,
	// and not only when its pool is flushed. Expensive.
	Invalidate Flags = 0x04
	// UseOnce releases the region when a message that names its key arrives.
	UseOnce Flags = 0x08
	// DontWait is accepted for completeness; Linux ignores it.
	DontWait Flags = 0x10
	// NotifyMe asks for a [Completion] whatever becomes of the operation.
	NotifyMe Flags = 0x20
	// Silent sends no message along with an RDMA operation that has no payload.
	Silent Flags = 0x40

	allFlags = ReadWrite | Fence | Invalidate | UseOnce | DontWait | NotifyMe | Silent
)
