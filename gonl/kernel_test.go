// SPDX-License-Identifier: MIT

package gonl

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// These tests run against the kernel of this machine. Its generic netlink
// controller is always there, whether rds_ext is or not.

func kernelLink(t *testing.T) *sysLink {
	t.Helper()
	l, err := newSysLink(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func TestKernelController(t *testing.T) {
	l := kernelLink(t)
	pid, err := l.portID()
	if err != nil {
		t.Fatal(err)
	}
	s := &session{link: l, ctx: t.Context()}
	c := genetlink.NewConn(netlink.NewConn(s, pid))
	list, err := c.ListFamilies()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, f := range list {
		found = found || f.Name == ctrlFamily && f.ID == unix.GENL_ID_CTRL
	}
	if !found || s.open || s.interrupted {
		t.Errorf("open %v, interrupted %v, families %+v", s.open, s.interrupted, list)
	}
	// An operation that the controller does not have; a real refusal.
	_, err = c.Execute(genetlink.Message{Header: genetlink.Header{Command: 200, Version: 1}}, unix.GENL_ID_CTRL, netlink.Request)
	var ack *ackError
	if !errors.As(err, &ack) || ack.errno != syscall.EOPNOTSUPP {
		t.Errorf("unknown operation: %v", err)
	}
	// The name of the family is missing.
	_, err = c.Execute(genetlink.Message{Header: genetlink.Header{Command: unix.CTRL_CMD_GETFAMILY, Version: 1}}, unix.GENL_ID_CTRL, netlink.Request)
	if !errors.As(err, &ack) || ack.errno != syscall.EINVAL {
		t.Errorf("nothing asked for: %v", err)
	}
	// A name that is too long: refused with a text and the place.
	attrs := at(unix.CTRL_ATTR_FAMILY_NAME, make([]byte, 99))
	_, err = c.Execute(genetlink.Message{
		Header: genetlink.Header{Command: unix.CTRL_CMD_GETFAMILY, Version: 1}, Data: attrs,
	}, unix.GENL_ID_CTRL, netlink.Request)
	if !errors.As(err, &ack) || ack.message == "" {
		t.Fatalf("name too long: %v", err)
	}
	if n, ok := attrAt(attrs, ack.offset); !ok || n != unix.CTRL_ATTR_FAMILY_NAME {
		t.Errorf("name too long: attribute %d at offset %d is named as the bad one", n, ack.offset)
	}
	if _, err := c.GetFamily(ctrlFamily); err != nil {
		t.Errorf("after refusals: %v", err)
	}
}

func TestKernelDial(t *testing.T) {
	c, err := Dial()
	if errors.Is(err, ErrNotLoaded) {
		return // what a machine without the module has to say
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestKernelContext(t *testing.T) {
	l := kernelLink(t)
	// With a deadline far away, so that only the cancellation can end it.
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	time.AfterFunc(5*time.Millisecond, cancel)
	if _, err := l.recv(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if _, err := l.recv(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("deadline: %v", err)
	}
	if _, err := l.recv(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended before: %v", err)
	}
	// A cancellation just as the call succeeds must not hurt the next call.
	pid, err := l.portID()
	if err != nil {
		t.Fatal(err)
	}
	s := &session{link: l}
	c := genetlink.NewConn(netlink.NewConn(s, pid))
	for range 300 {
		ctx, cancel := context.WithCancel(t.Context())
		s.ctx = ctx
		var wg sync.WaitGroup
		wg.Go(cancel)
		if _, err := c.GetFamily(ctrlFamily); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled at any time: %v", err)
		}
		wg.Wait()
		s.ctx = t.Context()
		if _, err := c.GetFamily(ctrlFamily); err != nil {
			t.Fatalf("call after a cancelled one: %v", err)
		}
	}
}

// TestKernelNamespace: the client stays in the namespace of the thread that
// dialled, and so do its event streams.
func TestKernelNamespace(t *testing.T) {
	home := kernelLink(t)
	type result struct {
		l   *sysLink
		err error
	}
	done := make(chan result)
	go func() {
		// Never unlocked: the thread, whose namespace is not the others', ends
		// with the goroutine.
		runtime.LockOSThread()
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			done <- result{nil, err}
			return
		}
		l, err := newSysLink(0)
		done <- result{l, err}
	}()
	r := <-done
	if errors.Is(r.err, unix.EPERM) {
		t.Skip("making a network namespace needs root")
	}
	if r.err != nil {
		t.Fatal(r.err)
	}
	if same, err := r.l.sameNetns(home); same || err != nil {
		t.Errorf("the socket is in the namespace of the other threads: %v, %v", same, err)
	}
	away, err := r.l.sibling()
	if err != nil {
		t.Fatal(err)
	}
	if same, err := r.l.sameNetns(away.(*sysLink)); !same || err != nil {
		t.Errorf("the event socket is in another namespace than the client: %v, %v", same, err)
	}
	near, err := home.sibling()
	if err != nil {
		t.Fatal(err)
	}
	if same, err := home.sameNetns(near.(*sysLink)); !same || err != nil {
		t.Errorf("the event socket is in another namespace than the client at home: %v, %v", same, err)
	}
	if err := errors.Join(near.close(), away.close(), r.l.close()); err != nil {
		t.Error(err)
	}
}
