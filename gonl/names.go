// SPDX-License-Identifier: MIT

package gonl

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// nameTable maps the values of an enumeration to names and back.
type nameTable []struct {
	value uint32
	name  string
}

func (t nameTable) find(v uint32) (string, bool) {
	for _, e := range t {
		if e.value == v {
			return e.name, true
		}
	}
	return "", false
}

func (t nameTable) name(v uint32) string {
	if n, ok := t.find(v); ok {
		return n
	}
	return fmt.Sprintf("unknown(%d)", v)
}

// parse reads a name, or "unknown(N)", so that whatever was written can be
// read back.
func (t nameTable) parse(what, s string) (uint32, error) {
	var names []string
	for _, e := range t {
		if e.name == s {
			return e.value, nil
		}
		names = append(names, e.name)
	}
	if n, ok := enclosed(s, "unknown(", ")"); ok {
		return n, nil
	}
	return 0, fmt.Errorf("gonl: %s %q is none of %s", what, s, strings.Join(names, ", "))
}

// enclosed reads the number between prefix and suffix.
func enclosed(s, prefix, suffix string) (uint32, bool) {
	s, okP := strings.CutPrefix(s, prefix)
	s, okS := strings.CutSuffix(s, suffix)
	n, err := strconv.ParseUint(s, 10, 32)
	return uint32(n), okP && okS && err == nil
}

func (t nameTable) flagNames(v uint32) []string {
	names := []string{}
	for v != 0 {
		bit := uint32(1) << bits.TrailingZeros32(v)
		v &^= bit
		n, ok := t.find(bit)
		if !ok {
			n = fmt.Sprintf("bit-%d", bits.TrailingZeros32(bit))
		}
		names = append(names, n)
	}
	return names
}

func (t nameTable) flag(what, s string) (uint32, error) {
	if n, ok := enclosed(s, "bit-", ""); ok && n < 32 {
		return 1 << n, nil
	}
	var names []string
	for _, e := range t {
		if e.name == s {
			return e.value, nil
		}
		names = append(names, e.name)
	}
	return 0, fmt.Errorf("gonl: %s %q is none of %s, bit-0 to bit-31", what, s, strings.Join(names, ", "))
}

// parseFlags reads a list with commas; "none" and the empty text are no bits.
func (t nameTable) parseFlags(what, s string) (uint32, error) {
	if s == "" || s == noFlags {
		return 0, nil
	}
	return t.joinFlags(what, strings.Split(s, ","))
}

func (t nameTable) joinFlags(what string, names []string) (uint32, error) {
	var v uint32
	for _, n := range names {
		b, err := t.flag(what, strings.TrimSpace(n))
		if err != nil {
			return 0, err
		}
		v |= b
	}
	return v, nil
}

func (t nameTable) unmarshalFlags(what string, data []byte) (uint32, error) {
	var names []string
	if err := json.Unmarshal(data, &names); err != nil {
		return 0, fmt.Errorf("gonl: %s is not a list of names: %w", what, err)
	}
	return t.joinFlags(what, names)
}

func marshalFlags(names []string) ([]byte, error) { return json.Marshal(names) }

// noFlags stands for the empty set, which would be invisible otherwise.
const noFlags = "none"

func flagString(names []string) string {
	if len(names) == 0 {
		return noFlags
	}
	return strings.Join(names, ",")
}

// InUse tells whether an MR in this state may be used by a peer, or is about to:
// it is registering, mapped or advertised. In the other states it has come to its
// end.
func (s MRState) InUse() bool { return s <= MRStateAdvertised }
