// SPDX-License-Identifier: MIT

// Package rds uses AF_RDS sockets: reliable datagrams over InfiniBand, RoCE or
// TCP, with RDMA by control message.
//
// A [Socket] is bound to one address of this host and sends to any number of
// peers. [Socket.Send] takes a [Message]: a destination, a payload, and at most
// one of
//
//   - Map: register a part of a [Buffer] and announce its [Cookie] to the peer,
//     all in the same system call;
//   - Dest: announce a memory region that is registered already;
//   - RDMA: read or write memory that the peer has announced.
//
// [Socket.Receive] returns either a message of a peer, with the cookie that
// came along with it, or what the kernel has to say: completions of RDMA
// operations and ports that are no longer congested.
//
// # Waiting
//
// Sockets are non-blocking inside and wait in the Go runtime's poller, so a
// blocked call costs a goroutine and no thread, and ends with its context. Two
// conditions have no poll event and are waited for by bounded back-off
// instead: a connection that is not up yet while a registration needs it, and
// a congested destination. The latter is cut short as soon as somebody
// receives the congestion update, so a program that sends should always have
// a goroutine in Receive.
//
// # Memory
//
// The kernel pins the pages of a buffer and a remote host reads and writes
// them at any time until the region is released. Go's heap is no place for
// that; [NewBuffer] allocates page-aligned memory of its own.
//
// # Kernel facts worth knowing
//
// The socket options GET_MR and GET_MR_FOR_DEST fail over InfiniBand on Linux
// 5.8 and later with EOPNOTSUPP: fast registration needs a queue pair and these
// calls name no connection. With rds_ext.ko they work. Registration in a message
// (Map) works everywhere.
//
// A message that carries an RDMA operation is never sent again after a
// reconnect. It is dropped whole and its sender gets [StatusDropped]; a
// use-once region at the peer then stays until the peer frees it.
//
// Nobody is told about a message to a port where nobody listens.
package rds
