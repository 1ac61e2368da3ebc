// SPDX-License-Identifier: MIT

// Nlfuzz sends malformed requests to the rds_ext netlink family: for each
// operation, each mode of it and each attribute, one request a fault. It
// prints a JSON line for each with what the kernel said, and fails unless the
// kernel refused all of them, each with a fitting error number and a text.
//
// Valid requests go in between (kind "valid"): they must be accepted, or the
// refusals of the others would prove nothing. They change no setting, and revoke
// an MR that does not exist; the peaks of the pools are set back.
//
// It needs CAP_NET_ADMIN for the requests to change something. Exit codes: 0 all
// as expected, 1 not so, 2 wrong usage or the requests could not be made.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// result is one line of the output.
type result struct {
	Op   string `json:"op"`
	Mode string `json:"mode"` // "do" or "dump"
	Attr string `json:"attr"` // empty where the fault is in no attribute
	Kind string `json:"kind"`
	// Errno is the name of the error number, empty where accepted.
	Errno  string `json:"errno"`
	Extack string `json:"extack"`
	// BadAttrOffset is 0 where the kernel named no attribute.
	BadAttrOffset uint32 `json:"bad_attr_offset"`
	// MissingAttr is the number of the attribute that the kernel misses, or 0.
	MissingAttr uint32 `json:"missing_attr"`
	Accepted    bool   `json:"accepted"`
	// OK tells whether it is what it should be; Why, if not, what is wrong.
	OK  bool   `json:"ok"`
	Why string `json:"why,omitempty"`
}

func main() {
	if len(os.Args) != 1 {
		fmt.Fprintln(os.Stderr, "nlfuzz: takes no arguments")
		os.Exit(2)
	}
	k, err := dial()
	if err != nil {
		fmt.Fprintln(os.Stderr, "nlfuzz:", err)
		os.Exit(2)
	}
	bad, err := runAll(k, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "nlfuzz:", err)
		os.Exit(2)
	}
	if bad > 0 {
		fmt.Fprintf(os.Stderr, "nlfuzz: %d requests were not treated as they should be\n", bad)
		os.Exit(1)
	}
}

// exchanger sends a request and says what became of it.
type exchanger interface {
	// current reads the settings that can be changed, by name, so that valid
	// requests can repeat them.
	current() (map[string][]byte, error)
	exchange(c testCase) (answer, error)
}

// runAll goes through all cases and counts those that went wrong.
func runAll(k exchanger, out io.Writer) (bad int, err error) {
	before, err := k.current()
	if err != nil {
		return 0, fmt.Errorf("read the settings: %w", err)
	}
	enc := json.NewEncoder(out)
	for _, c := range cases(before) {
		a, err := k.exchange(c)
		if err != nil {
			return bad, fmt.Errorf("%s %s, attribute %q, %s: %w", c.op.Name, c.mode(), c.attr, c.kind, err)
		}
		r := judge(c, a)
		if !r.OK {
			bad++
		}
		if err := enc.Encode(r); err != nil {
			return bad, err
		}
	}
	// A refused request must leave no trace.
	after, err := k.current()
	if err != nil {
		return bad, fmt.Errorf("read the settings again: %w", err)
	}
	if !reflect.DeepEqual(before, after) {
		return bad + 1, fmt.Errorf("the settings changed from %x to %x", before, after)
	}
	return bad, nil
}

// judge compares the answer with what the case wants.
func judge(c testCase, a answer) result {
	r := result{
		Op: c.op.Name, Mode: c.mode(), Attr: c.attr, Kind: c.kind,
		Extack: a.text, BadAttrOffset: a.offset, MissingAttr: a.missing, Accepted: a.errno == 0,
	}
	if a.errno != 0 {
		if r.Errno = unix.ErrnoName(a.errno); r.Errno == "" {
			r.Errno = fmt.Sprint(int(a.errno))
		}
	}
	switch {
	case !slices.Contains(c.want, a.errno):
		r.Why = fmt.Sprintf("wanted one of %v", errnoNames(c.want))
	case c.kind != kindNotThere && a.errno != 0 && a.text == "" && a.missing == 0:
		// The core of generic netlink refuses operations that do not exist, and
		// has no words for it.
		r.Why = "refused without a text"
	case c.kind != kindValid && c.offset != 0 && a.offset != 0 && a.offset != c.offset:
		r.Why = fmt.Sprintf("the fault is at offset %d", c.offset)
	default:
		r.OK = true
	}
	return r
}

func errnoNames(list []syscall.Errno) []string {
	var out []string
	for _, e := range list {
		if e == 0 {
			out = append(out, "accepted")
		} else {
			out = append(out, unix.ErrnoName(e))
		}
	}
	return out
}
