// SPDX-License-Identifier: MIT

// Package qemu runs one QEMU process: its command line, its console, its end.
//
// hugelgupf/vmtest has a package for the same purpose and was tried for it.
// It did not fit: guests are joined by -netdev socket, which costs 40 ms a
// round trip where -netdev dgram on a pair of unix sockets costs under 1 ms;
// it takes KVM whenever /dev/kvm can be opened, although that device can be
// there and never boot a guest; the console is an expect script that a test
// must read, not a log that is watched; and nothing ends QEMU if the test
// binary is killed.
//
// The machine type is q35. The microvm type boots in 1.8 s where q35 needs 2.2 s
// (Debian 6.1, emulated, to its power-off), but is further from what RDS runs
// on, and 4 of 13 boots of it hung early before the kernel was told not to check
// the timer, against none of q35.
package qemu
