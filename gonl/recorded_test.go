// SPDX-License-Identifier: MIT

package gonl

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// testdata/recorded has, for each kernel, what it answered to record_test.go,
// a datagram a line, and in want.json what that means.

var updateRecorded = flag.Bool("update", false, "write want.json of the recordings")

// recorded reads a recording and makes it the answer to the request with seq.
func recorded(t *testing.T, dir, name string, seq uint32) [][]byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name+".hex"))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for _, line := range strings.Fields(string(text)) {
		b, err := hex.DecodeString(line)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for rest := b; len(rest) >= nlHeaderLen; {
			n := int(binary.LittleEndian.Uint32(rest))
			binary.LittleEndian.PutUint32(rest[8:], seq)
			rest = rest[min((n+3)&^3, len(rest)):]
		}
		out = append(out, b)
	}
	return out
}

// meaning is what the recordings of one kernel say.
type meaning struct {
	Conns    []Conn
	ExtHdrs  []ExtHdr
	Settings Settings
	Events   []Event
	MRs      []MR
	MR       MR
	Pools    []Pool
	MRStats  MRStats
	MREvents []Event
}

func TestRecordings(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the recordings are of little-endian machines")
	}
	dirs, err := filepath.Glob(filepath.Join("testdata", "recorded", "[0-9]*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) { replay(t, dir) })
	}
}

func replay(t *testing.T, dir string) {
	var name string
	k := newFakeKernel(t, func(r request) [][]byte { return recorded(t, dir, name, r.seq) })
	c := k.client()
	var got meaning
	var err error
	name = "conns"
	if got.Conns, err = c.Conns(t.Context(), Filter{}); err != nil {
		t.Error(err)
	}
	name = "exthdrs"
	if got.ExtHdrs, err = c.ExtHdrs(t.Context()); err != nil {
		t.Error(err)
	}
	name = "settings"
	if got.Settings, err = c.Settings(t.Context()); err != nil {
		t.Error(err)
	}
	name = "mrs"
	if got.MRs, err = c.MRs(t.Context(), MRFilter{}); err != nil {
		t.Error(err)
	}
	name = "mr"
	if got.MR, err = c.MR(t.Context(), 1); err != nil {
		t.Error(err)
	}
	name = "pools"
	if got.Pools, err = c.Pools(t.Context()); err != nil {
		t.Error(err)
	}
	name = "mr-stats"
	if got.MRStats, err = c.MRStats(t.Context()); err != nil {
		t.Error(err)
	}
	if s := got.MRStats; s.Mapped != s.Live+s.Ends() || s.Live != uint64(len(got.MRs)) {
		t.Errorf("%d MRs mapped, %d live, %d ended, %d in the list", s.Mapped, s.Live, s.Ends(), len(got.MRs))
	}
	for _, tt := range []struct {
		name string
		call func() error
		want syscall.Errno
		attr string
	}{
		{"refused-id", func() error { _, err := c.Conn(t.Context(), 0); return err }, syscall.ERANGE, "id"},
		{"refused-range", func() error { return c.SetSettings(t.Context(), SettingsChange{FeatureMask: ptr(^Feature(0))}) }, syscall.EINVAL, "feature-mask"},
		{"refused-empty", func() error { return c.SetSettings(t.Context(), SettingsChange{}) }, syscall.EINVAL, ""},
		{"refused-mr", func() error { _, err := c.MR(t.Context(), ^uint32(0)); return err }, syscall.ENOENT, "id"},
		{"refused-revoke", func() error { return c.RevokeMR(t.Context(), 0) }, syscall.ERANGE, "id"},
	} {
		name = tt.name
		err := tt.call()
		var oe *OpError
		if !errors.As(err, &oe) || oe.Errno != tt.want || oe.Attr != tt.attr || oe.Message == "" {
			t.Errorf("%s: %#v", tt.name, err)
		}
	}
	got.Events = replayEvents(t, dir, "events")
	got.MREvents = replayEvents(t, dir, "mr-events")
	compare(t, filepath.Join(dir, "want.json"), got)
}

func replayEvents(t *testing.T, dir, name string) []Event {
	datagrams := recorded(t, dir, name, 0)
	k, s := stream(t, t.Context())
	// The family has whatever number it had on that machine.
	s.family = binary.LittleEndian.Uint16(datagrams[0][4:])
	s.now = func() time.Time { return time.Unix(0, 0).UTC() }
	var out []Event
	for _, d := range datagrams {
		k.out <- d
		ev, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, ev)
	}
	return out
}

func compare(t *testing.T, path string, got meaning) {
	b, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, '\n')
	if *updateRecorded {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run the test with -update and look at what it wrote", err)
	}
	if !bytes.Equal(b, want) {
		t.Errorf("the recordings say\n%s\nand not, as in %s,\n%s", b, path, want)
	}
}
