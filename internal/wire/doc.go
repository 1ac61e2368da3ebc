// SPDX-License-Identifier: MIT

// Package wire decodes what a capture holds: RoCEv2 packets, the connection
// manager's datagrams, and the RDS messages on both transports.
//
// It shares no code with the kernel module or the Go client, so that a test
// that compares the two compares two readings of the protocol. Ethernet, IP,
// UDP and TCP are decoded by gopacket, which has nothing for InfiniBand.
//
// [Decode] looks at one frame; [Match] turns a predicate on its result into one
// for rules. [ReadCapture] reads files, a [Follower] follows the connections in
// them, and [Analyse] does so with all of a capture at once.
package wire
