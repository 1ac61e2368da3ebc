// SPDX-License-Identifier: MIT

// Package gonl is the Go client of the rds_ext generic netlink family, the
// control plane that rds_ext.ko adds to RDS (Reliable Datagram Sockets).
//
// It lists the RDS connections of the caller's network namespace with the
// protocol version and the features that each side announced, and the memory
// regions (MRs) of its sockets with their owners; reads the pools and counters
// of the MR engine and the counters of the extension headers; revokes an MR;
// reads and changes the settings of the module; and follows connections as they
// come and go and MRs as they grow old.
//
//	c, err := gonl.Dial()
//	if err != nil {
//		return err // errors.Is(err, gonl.ErrNotLoaded) without rds_ext.ko
//	}
//	defer c.Close()
//
//	conns, err := c.Conns(ctx, gonl.Filter{Peer: netip.MustParseAddr("192.0.2.7")})
//
// # Absent values
//
// The kernel leaves out what is not known (yet), such as the version of a peer
// that has not said it. Such fields are pointers, and nil then. In requests, a
// nil pointer means "any" in a [Filter] and "leave alone" in a [SettingsChange].
//
// # Errors
//
// What the kernel refuses comes back as [*OpError], with the error number, the
// kernel's own words and the name of the attribute that it objects to. It
// works with errors.Is: errors.Is(err, fs.ErrPermission) for a change without
// CAP_NET_ADMIN, errors.Is(err, fs.ErrNotExist) for a connection or MR that is
// not there. A list that changed while it was read is read again a few times;
// after that the result is returned together with [ErrPartial].
//
// # Contexts
//
// Every call ends when its context does, and the client stays usable.
//
// # Network namespaces
//
// A [Client] belongs to the network namespace of the thread that calls [Dial]
// and sees the connections and MRs of that namespace only; counters and settings
// are the host's. RDS over IB lives in the initial namespace, and so do its MRs
// and pools. A program that switches namespaces has to lock the goroutine to its
// thread around Dial (runtime.LockOSThread); afterwards the client works from any
// goroutine.
//
// # Compatibility
//
// Attributes and events of a newer kernel module are ignored; values of a
// newer enumeration print as "unknown(N)", feature bits as "bit-N".
package gonl

//go:generate go run ./internal/specgen
