// SPDX-License-Identifier: MIT

// Package ether is an Ethernet switch inside the test process, to which VMs are
// connected by pairs of datagram sockets, one frame a datagram.
//
// Each connection is a [Link] with two directions, [FromNode] and [ToNode].
// Rules on a direction drop, delay, duplicate, reorder or change frames; a link
// can be cut and restored. Which frames a rule picks follows from the switch's
// seed and from the order of the frames alone, never from time: the same frames
// meet the same fate in every run.
//
// The path of a frame: it is taken from the sender's link, meets the rules of
// FromNode, is switched by its addresses, meets the rules of ToNode on each
// link that it goes out on, and is delivered. A [Capture] sees it where it was
// taken and where it was delivered.
//
// The package knows Ethernet addresses and nothing above them. Predicates on
// what is inside come from package wire.
package ether
