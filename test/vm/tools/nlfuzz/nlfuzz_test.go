// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/gonl/spec"
)

// someSettings are those of a kernel, as current gives them.
func someSettings() map[string][]byte {
	u32 := func(v uint32) []byte { return binary.NativeEndian.AppendUint32(nil, v) }
	return map[string][]byte{
		"version-header": {1}, "feature-mask": u32(1), "mr-engine": {1}, "mr-pool-max": u32(32768), "mr-sock-max": u32(0),
		"mr-sock-bytes": make([]byte, 8), "mr-max-age-ms": u32(60000), "mr-age-revoke": {0},
	}
}

// TestCoverage: every operation and mode, and in it every attribute with every
// fault that it can have.
func TestCoverage(t *testing.T) {
	seen := map[string]int{}
	for _, c := range cases(someSettings()) {
		seen[c.op.Name+" "+c.mode()+" "+c.attr+" "+c.kind]++
	}
	need := func(parts ...string) {
		t.Helper()
		if key := strings.Join(parts, " "); seen[key] == 0 {
			t.Errorf("no case %q", key)
		}
	}
	for _, op := range spec.Ops {
		for mode, sub := range map[string]*spec.SubOp{"do": op.Do, "dump": op.Dump} {
			if sub == nil {
				need(op.Name, mode, "", kindNotThere)
				continue
			}
			need(op.Name, mode, "", kindValid)
			need(op.Name, mode, "", kindUnknown)
			need(op.Name, mode, "", kindTrailing)
			for _, a := range op.Set.Attrs {
				if !slices.Contains(sub.Request, a.Name) {
					need(op.Name, mode, a.Name, kindForeign)
					continue
				}
				for _, kind := range []string{kindEmpty, kindLong, kindMuchLonger, kindRepeated, kindNested, kindOverrun, kindUnderrun} {
					need(op.Name, mode, a.Name, kind)
				}
				if a.Type.Size() > 1 || a.ExactLen > 1 || a.Type == spec.TypeString {
					need(op.Name, mode, a.Name, kindShort)
				}
				if a.Name == "id" || len(a.Values) > 0 || a.Flags != 0 || a.Max > 0 {
					need(op.Name, mode, a.Name, kindRange)
				}
			}
		}
	}
	need("settings-set do version-header, feature-mask, mr-engine, mr-pool-max, mr-sock-max, mr-sock-bytes, mr-max-age-ms, mr-age-revoke", kindAbsent)
	need("settings-set do mr-pool-max", kindRange)
	need("mr-get do id", kindAbsent)
	need("mr-revoke do id", kindAbsent)
	need("mr-get dump state", kindRange)
	need("mr-get dump device", kindShort)
	need("conn-get do peer-addr", kindAbsent)
	need("settings-set do version-header", kindRange)
	need("conn-get dump transport", kindRange)
}

// TestFaultIsTheOnlyOne: taken apart, each request has the fault that it is
// named for at the offset that it says.
func TestFaultIsTheOnlyOne(t *testing.T) {
	for _, c := range cases(someSettings()) {
		b := encode(0x20, 5, 1, c.op.Number, c.attrs)
		if int(binary.NativeEndian.Uint32(b)) != len(b) {
			t.Errorf("%s %s: length %d of %d", c.op.Name, c.kind, binary.NativeEndian.Uint32(b), len(b))
		}
		if c.offset == 0 {
			continue
		}
		number := binary.NativeEndian.Uint16(b[c.offset+2:]) &^ nestedFlag
		a, ok := c.op.Set.ByNumber(number)
		if ok != (c.kind != kindUnknown) || ok && a.Name != c.attr {
			t.Errorf("%s %s %s: attribute %d at offset %d", c.op.Name, c.attr, c.kind, number, c.offset)
		}
		// What is in front of it is whole and does not have it, unless the
		// fault is that it does.
		err := eachAttr(b[headersLen:c.offset], func(n uint16, payload []byte) {
			have, known := c.op.Set.ByNumber(n)
			size := have.Type.Size()
			switch {
			case have.ExactLen > 0:
				size = have.ExactLen
			case have.Type == spec.TypeString:
				size = bytes.IndexByte(payload, 0) + 1
			}
			if !known || len(payload) != size || (n == number) != (c.kind == kindRepeated && n == number) {
				t.Errorf("%s %s %s: attribute %d in front of the fault", c.op.Name, c.attr, c.kind, n)
			}
		})
		if err != nil {
			t.Errorf("%s %s %s: %v", c.op.Name, c.attr, c.kind, err)
		}
	}
}

// TestRevokesNothing: whatever the kernel makes of a request to revoke, it names
// no MR that there can be, or none at all.
func TestRevokesNothing(t *testing.T) {
	n := 0
	for _, c := range cases(someSettings()) {
		if c.op.Number != spec.CmdMRRevoke {
			continue
		}
		n++
		for b := c.attrs; len(b) >= 4; {
			size := max(4, min(int(binary.NativeEndian.Uint16(b)), len(b)))
			payload := append(slices.Clone(b[4:size]), 0, 0, 0, 0)
			id := binary.NativeEndian.Uint32(payload)
			// Cut short it is 0xffffff, which only a very old host has reached.
			if binary.NativeEndian.Uint16(b[2:])&^nestedFlag == spec.AttrMRID && id != 0 && id < 0xffffff {
				t.Errorf("%s %s: MR %d could be revoked", c.attr, c.kind, id)
			}
			b = b[min((size+3)&^3, len(b)):]
		}
	}
	if n < 10 {
		t.Errorf("%d requests", n)
	}
}

// fakeKernel answers each case as told.
type fakeKernel struct {
	say    func(testCase) answer
	ages   []byte // of one setting, each time that they are read
	called int
}

func (k *fakeKernel) current() (map[string][]byte, error) {
	s := someSettings()
	s["mr-max-age-ms"][0] = k.ages[0]
	k.ages = k.ages[1:]
	return s, nil
}

func (k *fakeKernel) exchange(c testCase) (answer, error) { k.called++; return k.say(c), nil }

// right is what a kernel without faults says.
func right(c testCase) answer {
	if c.kind == kindNotThere || c.want[0] == 0 {
		return answer{errno: c.want[0]}
	}
	return answer{errno: c.want[0], text: "no", offset: c.offset}
}

func TestJudgement(t *testing.T) {
	for _, tt := range []struct {
		name string
		bend func(testCase, answer) answer
		bad  bool
	}{
		{"right", func(_ testCase, a answer) answer { return a }, false},
		{"accepts repeated", func(c testCase, a answer) answer {
			if c.kind == kindRepeated {
				return answer{}
			}
			return a
		}, true},
		{"refuses all", func(testCase, answer) answer { return answer{errno: syscall.EPERM, text: "no"} }, true},
		{"no text", func(c testCase, a answer) answer { a.text = ""; return a }, true},
		{"wrong offset", func(c testCase, a answer) answer {
			if a.offset != 0 {
				a.offset += 4
			}
			return a
		}, true},
	} {
		k := &fakeKernel{say: func(c testCase) answer { return tt.bend(c, right(c)) }, ages: []byte{1, 1}}
		var out bytes.Buffer
		bad, err := runAll(k, &out)
		if err != nil || (bad > 0) != tt.bad {
			t.Errorf("%s: %d bad, %v", tt.name, bad, err)
		}
		dec, lines, notOK := json.NewDecoder(&out), 0, 0
		for dec.More() {
			var r result
			if err := dec.Decode(&r); err != nil {
				t.Fatal(err)
			}
			lines++
			if !r.OK {
				notOK++
			}
		}
		if lines != k.called || notOK != bad {
			t.Errorf("%s: %d lines for %d requests, %d of them not ok, %d said", tt.name, lines, k.called, notOK, bad)
		}
	}
	k := &fakeKernel{say: right, ages: []byte{1, 0}}
	if _, err := runAll(k, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("settings changed behind the back: %v", err)
	}
}

// TestKernel sends to the controller of this machine's kernel: the format of
// requests and acknowledgements must be right.
func TestKernel(t *testing.T) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_GENERIC)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Close(fd); err != nil {
			t.Error(err)
		}
	}()
	for _, o := range []int{unix.NETLINK_EXT_ACK, unix.NETLINK_CAP_ACK} {
		if err := unix.SetsockoptInt(fd, unix.SOL_NETLINK, o, 1); err != nil {
			t.Fatal(err)
		}
	}
	k := &kernel{fd: fd, family: unix.GENL_ID_CTRL}
	getFamily := spec.Op{Name: "getfamily", Number: unix.CTRL_CMD_GETFAMILY}
	name := attribute(unix.CTRL_ATTR_FAMILY_NAME, []byte("nlctrl\x00"))
	a, err := k.exchange(testCase{op: getFamily, attrs: name})
	if err != nil || a.errno != 0 || !bytes.Contains(a.reply, []byte("nlctrl")) {
		t.Errorf("valid: %+v, %v", a, err)
	}
	a, err = k.exchange(testCase{op: getFamily, attrs: attribute(unix.CTRL_ATTR_FAMILY_NAME, bytes.Repeat([]byte("x"), 99))})
	if err != nil || a.errno == 0 || a.text == "" || a.offset != headersLen {
		t.Errorf("long name: %+v, %v", a, err)
	}
	a, err = k.exchange(testCase{op: getFamily, dump: true})
	if err != nil || a.errno != 0 || a.reply == nil {
		t.Errorf("dump: %+v, %v", a, err)
	}
}
