// SPDX-License-Identifier: MIT

//go:build record

package gonl

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The recorder is a test program of its own, for a machine on which rds_ext.ko
// runs and has connections. It writes what the kernel answers. To record on VMs,
// with the modules of "make kmod", from the root of the source tree:
//
//	CGO_ENABLED=0 go test -c -tags record -o build/record.test ./gonl
//	go run ./test/vm/cmd/vmrun -kernel 6.1 -modules none -nodes 4 -put build/record.test gonl/testdata/recorded/record.vmrun
//	mv build/recorded/*.hex gonl/testdata/recorded/6.1/
//	go test ./gonl -run Recordings -update
//
// and read what changed in want.json.

var (
	recordDir    = flag.String("record.dir", "", "directory to write the recordings to")
	recordEvents = flag.Int("record.events", 0, "wait for so many events and record them")
)

// recorder keeps a copy of each datagram.
type recorder struct {
	link
	sys *sysLink // the same, nil for events
	got [][]byte
}

func (r *recorder) recv(ctx context.Context) ([]byte, error) {
	b, err := r.link.recv(ctx)
	if err == nil {
		r.got = append(r.got, bytes.Clone(b))
	}
	return b, err
}

func (r *recorder) write(name string) error {
	if len(r.got) == 0 {
		return fmt.Errorf("%s: nothing was received", name)
	}
	var b strings.Builder
	for _, d := range r.got {
		b.WriteString(hex.EncodeToString(d) + "\n")
	}
	r.got = nil
	return os.WriteFile(filepath.Join(*recordDir, name+".hex"), []byte(b.String()), 0o644)
}

// newRecorder opens a client that is recorded.
func newRecorder(t *testing.T) (*recorder, *Client) {
	t.Helper()
	if err := os.MkdirAll(*recordDir, 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := newSysLink(0)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := l.portID()
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{link: l, sys: l}
	c, err := newClient(r, pid)
	if err != nil {
		t.Fatal(err)
	}
	return r, c
}

// subscribeRecorder makes the client's next event stream one that is recorded.
func subscribeRecorder(t *testing.T, r *recorder, c *Client) *recorder {
	t.Helper()
	events, err := r.sys.sibling()
	if err != nil {
		t.Fatal(err)
	}
	e := &recorder{link: events}
	c.subscribe = func() (link, error) { return e, nil }
	return e
}

// step is a call to record, and the errno that it is to be refused with.
type step struct {
	name    string
	call    func() error
	refused syscall.Errno
}

func (r *recorder) steps(t *testing.T, list []step) {
	t.Helper()
	for _, s := range list {
		r.got = nil
		err := s.call()
		if s.refused == 0 && err != nil || s.refused != 0 && !errors.Is(err, s.refused) {
			// Recorded all the same: it shows what went wrong.
			t.Errorf("%s: %v", s.name, err)
		}
		t.Logf("%s: %v", s.name, err)
		if err := r.write(s.name); err != nil {
			t.Error(err)
		}
	}
}

func TestRecord(t *testing.T) {
	if *recordDir == "" {
		t.Fatal("say where to: -record.dir DIR")
	}
	r, c := newRecorder(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r.steps(t, []step{
		{"conns", func() error { _, err := c.Conns(ctx, Filter{}); return err }, 0},
		{"exthdrs", func() error { _, err := c.ExtHdrs(ctx); return err }, 0},
		{"settings", func() error { _, err := c.Settings(ctx); return err }, 0},
		{"refused-id", func() error { _, err := c.Conn(ctx, 0); return err }, syscall.ERANGE},
		{"refused-range", func() error { return c.SetSettings(ctx, SettingsChange{FeatureMask: ptr(^Feature(0))}) }, syscall.EINVAL},
		{"refused-empty", func() error { return c.SetSettings(ctx, SettingsChange{}) }, syscall.EINVAL},
	})
	if *recordEvents == 0 {
		return
	}
	e := subscribeRecorder(t, r, c)
	s, err := c.Events(ctx)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("ready")
	for range *recordEvents {
		ev, err := s.Next()
		if err != nil {
			t.Error(err)
			break
		}
		t.Logf("%v %+v", ev.Type, ev.Conn)
	}
	if err := e.write("events"); err != nil {
		t.Error(err)
	}
}
