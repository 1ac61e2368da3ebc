// SPDX-License-Identifier: MIT

// Package selftest tests the harness itself, in VMs: that commands, files and
// the network work, and above all that a VM which fails in whatever way fails
// the test.
package selftest
