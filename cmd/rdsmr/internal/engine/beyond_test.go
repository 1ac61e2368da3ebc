// SPDX-License-Identifier: MIT

package engine

import "unsafe"

// beyond returns the byte behind a buffer's data: its guard.
func beyond(b []byte) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&b[0]), len(b))), 1)
}
