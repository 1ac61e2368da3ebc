// SPDX-License-Identifier: MIT

// Package agent is the protocol between a test and its agent inside a guest,
// and the test's side of it.
//
// It runs over one virtio-serial port, apart from the console, so that nothing
// a kernel prints can be taken for an answer. The port is a byte stream.
// Frames (see [Frame]) cut it up, and a stream number in each frame lets any
// number of commands run, print and be fed at the same time.
//
// The host opens a stream with a [KindCall] frame, and the guest ends it with
// exactly one [KindReply]. Between them the guest sends what a command prints
// ([KindStdout], [KindStderr]), and the host what it is to read ([KindInput],
// [KindInputEnd]) and the signals it gets ([KindSignal]).
//
// The first frame on the port is the guest's [Hello] with the token that the
// host put on the kernel command line. The last is the reply to [OpPowerOff],
// a [Bye] with the same token. A guest that ends without it has failed.
package agent
