// SPDX-License-Identifier: MIT

package gonl

import (
	"errors"
	"io/fs"
	"net/netip"
	"syscall"
	"testing"
)

func TestResetConn(t *testing.T) {
	k := newFakeKernel(t, func(r request) [][]byte {
		if r.cmd != 15 || r.dump() {
			t.Errorf("unexpected request %x", r.raw)
		}
		switch id := r.attr(1); string(id) {
		case string(u32(7)):
			return [][]byte{r.reply(0, genl(15, at(31, u32(1))))}
		case string(u32(8)):
			return [][]byte{r.refuse(int32(syscall.EPERM), extMsg("needs CAP_NET_ADMIN"))}
		case string(u32(9)):
			return [][]byte{r.reply(0, genl(15, at(31, u32(2))))}
		default:
			return [][]byte{r.refuse(int32(syscall.ENOENT), extMsg("no such connection"), extOff(r.offsetOf(t, 1)))}
		}
	})
	c := k.client()
	if err := c.ResetConn(t.Context(), 7); err != nil {
		t.Error(err)
	}
	if err := c.ResetConn(t.Context(), 8); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("without privilege: %v", err)
	}
	if err := c.ResetConn(t.Context(), 9); !errors.Is(err, ErrMalformed) {
		t.Errorf("two were reset for one: %v", err)
	}
	err := c.ResetConn(t.Context(), 10)
	var op *OpError
	if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &op) || op.Op != "conn-reset" || op.Attr != "id" {
		t.Errorf("none there: %v", err)
	}
}

func TestResetConns(t *testing.T) {
	var req request
	k := newFakeKernel(t, func(r request) [][]byte {
		req = r
		if len(r.attrs) == 0 {
			return [][]byte{r.refuse(int32(syscall.EINVAL), extMsg("what?"))}
		}
		return [][]byte{r.reply(0, genl(15, at(31, u32(5))))}
	})
	c := k.client()
	n, err := c.ResetConns(t.Context(), Filter{Peer: netip.MustParseAddr("192.0.2.2"), TOS: ptr(uint8(4))})
	if n != 5 || err != nil {
		t.Errorf("%d were reset, %v; want 5", n, err)
	}
	if want := cat(at(4, mapped("192.0.2.2")), at(5, []byte{4})); string(req.attrs) != string(want) {
		t.Errorf("request has %x\nwant        %x", req.attrs, want)
	}
	if n, err := c.ResetConns(t.Context(), Filter{}); n != 0 || !errors.Is(err, syscall.EINVAL) {
		t.Errorf("all of them: %d were reset, %v", n, err)
	}
}

// A reply must have the number.
func TestResetMalformed(t *testing.T) {
	k := newFakeKernel(t, func(r request) [][]byte { return [][]byte{r.reply(0, genl(15))} })
	if _, err := k.client().ResetConns(t.Context(), Filter{TOS: ptr(uint8(0))}); !errors.Is(err, ErrMalformed) {
		t.Errorf("error %v", err)
	}
}

func TestEndString(t *testing.T) {
	for want, e := range map[string]End{
		"reset": {Reason: EndReasonReset},
		"send-error (status 12, transport retry counter exceeded)": {EndReasonSendError, ptr(uint32(12))},
		"receive-error (status 99)":                                {EndReasonReceiveError, ptr(uint32(99))},
		"rejected (reason 8, nobody listens)":                      {EndReasonRejected, ptr(uint32(8))},
		"unreachable (ETIMEDOUT)":                                  {EndReasonUnreachable, ptr(uint32(syscall.ETIMEDOUT))},
		"route-error (error 4000)":                                 {EndReasonRouteError, ptr(uint32(4000))},
		"unknown(77) (code 3)":                                     {EndReason(77), ptr(uint32(3))},
	} {
		if got := e.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
