// SPDX-License-Identifier: MIT

// Package vm runs tests in virtual machines.
package vm
