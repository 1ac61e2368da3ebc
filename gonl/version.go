// SPDX-License-Identifier: MIT

package gonl

import (
	"fmt"
	"strconv"
	"strings"
)

// Version is an RDS protocol version: the major number in the high byte, the
// minor number in the low byte. RDS over IB speaks 3.1 and 4.x.
type Version uint16

// Major is the number in front of the dot, 0 to 255.
func (v Version) Major() int { return int(v >> 8) }

// Minor is the number behind the dot, 0 to 255.
func (v Version) Minor() int { return int(v & 0xff) }

// String writes the version as "3.1".
func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major(), v.Minor()) }

// ParseVersion reads what String writes.
func ParseVersion(s string) (Version, error) {
	major, minor, ok := strings.Cut(s, ".")
	a, errA := strconv.ParseUint(major, 10, 8)
	b, errB := strconv.ParseUint(minor, 10, 8)
	if !ok || errA != nil || errB != nil {
		return 0, fmt.Errorf("gonl: version %q is not of the form MAJOR.MINOR, such as 3.1, with numbers from 0 to 255", s)
	}
	return Version(a<<8 | b), nil
}

// MarshalText encodes v as String does; JSON uses it too.
func (v Version) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText accepts what MarshalText makes.
func (v *Version) UnmarshalText(text []byte) error {
	n, err := ParseVersion(string(text))
	if err != nil {
		return err
	}
	*v = n
	return nil
}
