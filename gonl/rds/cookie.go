// SPDX-License-Identifier: MIT

package rds

import "fmt"

// Cookie names a registered memory region of some host: the R_Key in the low 32
// bits and the offset of the first byte into the first page in the high 32.
// Zero is no cookie.
type Cookie uint64

// NewCookie makes a cookie of a key and an offset in bytes.
func NewCookie(key, offset uint32) Cookie {
	return Cookie(uint64(offset)<<32 | uint64(key))
}

// Key returns the R_Key.
func (c Cookie) Key() uint32 { return uint32(c) }

// Offset returns the offset in bytes into the region's first page.
func (c Cookie) Offset() uint32 { return uint32(c >> 32) }

// String returns key and offset in hexadecimal.
func (c Cookie) String() string {
	return fmt.Sprintf("%#08x+%#x", c.Key(), c.Offset())
}
