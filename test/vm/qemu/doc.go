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
// The machine type is q35. The microvm type is no faster here (5.3 s against
// 5.3 s for a Debian 6.1 kernel under emulation to its power-off), and 4 of 13
// boots of it hung early.
package qemu
