// SPDX-License-Identifier: MIT

package gonl

import (
	"errors"
	"io/fs"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

func TestMRs(t *testing.T) {
	k := newFakeKernel(t, func(r request) [][]byte {
		if r.cmd != 8 || !r.dump() || len(r.attrs) != 0 {
			t.Errorf("unexpected request %x", r.raw)
		}
		return [][]byte{
			cat(r.reply(fMulti, genl(8, mrAttrs(1))), r.reply(fMulti, genl(8, bareMR(2)))),
			r.reply(fMulti, genl(8, mrAttrs(9), at(77, []byte("of a newer kernel")))),
			r.done(0, 0),
		}
	})
	got, err := k.client().MRs(t.Context(), MRFilter{})
	if err != nil {
		t.Fatal(err)
	}
	want := []MR{fullMR(1), bareMRWant(2), fullMR(9)}
	want[2].Unknown = []Attribute{{77, []byte("of a newer kernel")}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got[1].State.String() != "unknown(77)" || got[0].Flags.String() != "use-once,in-sendmsg,bit-24" {
		t.Errorf("of a newer kernel: state %v, flags %v", got[1].State, got[0].Flags)
	}
}

// TestManyMRs: values that share an allocation are still each MR's own.
func TestManyMRs(t *testing.T) {
	const n = 3*blockSize + 1
	k := newFakeKernel(t, func(r request) [][]byte {
		var out [][]byte
		for i := range uint32(n) {
			out = append(out, r.reply(fMulti, genl(8, bareMR(i+1), at(9, u32(i)), at(15, u32(i+n)))))
		}
		return append(out, r.done(0, 0))
	})
	got, err := k.client().MRs(t.Context(), MRFilter{})
	if err != nil || len(got) != n {
		t.Fatalf("%d MRs, %v", len(got), err)
	}
	for i, m := range got {
		if m.ID != uint32(i)+1 || *m.RKey != uint32(i) || *m.ConnID != uint32(i)+n || m.Peer != nil {
			t.Fatalf("MR %d is %+v", i, m)
		}
	}
}

func TestMRsFilter(t *testing.T) {
	for _, tt := range []struct {
		f    MRFilter
		want []byte
	}{
		{MRFilter{}, nil},
		{MRFilter{Device: "rxe0"}, at(2, []byte("rxe0\x00"))},
		{MRFilter{PID: ptr(uint32(7)), Socket: ptr(uint64(1 << 40)), State: ptr(MRStateRegistering), ConnID: ptr(uint32(3))},
			cat(at(3, u32(7)), at(6, u64(1<<40)), at(13, u32(0)), at(15, u32(3)))},
	} {
		var req request
		k := newFakeKernel(t, func(r request) [][]byte {
			req = r
			return [][]byte{r.done(0, 0)}
		})
		if got, err := k.client().MRs(t.Context(), tt.f); err != nil || len(got) != 0 {
			t.Errorf("%+v: got %+v, %v", tt.f, got, err)
		}
		if string(req.attrs) != string(tt.want) {
			t.Errorf("%+v: request has %x, want %x", tt.f, req.attrs, tt.want)
		}
	}
}

func TestMRFilterMatch(t *testing.T) {
	full, bare := fullMR(1), bareMRWant(2)
	for _, tt := range []struct {
		name       string
		f          MRFilter
		full, bare bool
	}{
		{"zero", MRFilter{}, true, true},
		{"device", MRFilter{Device: "rxe0"}, true, false},
		{"pid", MRFilter{PID: ptr(uint32(1))}, false, true},
		{"socket", MRFilter{Socket: ptr(uint64(0))}, false, true},
		{"state", MRFilter{State: ptr(MRStateAdvertised)}, true, false},
		{"connection", MRFilter{ConnID: ptr(uint32(12))}, true, false},
		{"all", MRFilter{"rxe0", ptr(uint32(4711)), ptr(uint64(1 << 33)), ptr(MRStateAdvertised), ptr(uint32(12)), full.RKey, full.Age}, true, false},
		{"R_Key", MRFilter{RKey: ptr(*full.RKey)}, true, false},
		{"other R_Key", MRFilter{RKey: ptr(*full.RKey + 1)}, false, false},
		{"age", MRFilter{OlderThan: full.Age}, true, false},
		{"more age", MRFilter{OlderThan: full.Age + 1}, false, false},
	} {
		if got := tt.f.Match(full); got != tt.full {
			t.Errorf("%s: full MR: %v", tt.name, got)
		}
		if got := tt.f.Match(bare); got != tt.bare {
			t.Errorf("%s: bare MR: %v", tt.name, got)
		}
	}
}

func TestMR(t *testing.T) {
	var req request
	k := newFakeKernel(t, func(r request) [][]byte {
		req = r
		if r.dump() {
			t.Error("asked for a list")
		}
		return [][]byte{r.reply(0, genl(8, mrAttrs(7)))}
	})
	got, err := k.client().MR(t.Context(), 7)
	if err != nil || !reflect.DeepEqual(got, fullMR(7)) {
		t.Errorf("got %+v, %v", got, err)
	}
	if want := at(1, u32(7)); req.cmd != 8 || string(req.attrs) != string(want) {
		t.Errorf("request %x, want attributes %x", req.raw, want)
	}
}

func TestRevokeMR(t *testing.T) {
	var req request
	var refusal []byte
	k := newFakeKernel(t, func(r request) [][]byte {
		req = r
		switch {
		case r.attr(1)[0]|r.attr(1)[3] == 9: // either byte order
			refusal = r.refuse(2, extMsg("no such MR"), extOff(r.offsetOf(t, 1)))
			return [][]byte{refusal}
		case r.attr(1)[0]|r.attr(1)[3] == 8:
			return [][]byte{r.refuse(1, extMsg("needs CAP_NET_ADMIN"))}
		}
		return [][]byte{msg(tError, fCapped, r.seq, cat(u32(0), r.raw[:16]))}
	})
	c := k.client()
	if err := c.RevokeMR(t.Context(), 7); err != nil {
		t.Error(err)
	}
	if req.cmd != 9 || req.flags != 0x5 || string(req.attrs) != string(at(1, u32(7))) {
		t.Errorf("request %x", req.raw)
	}
	err := c.RevokeMR(t.Context(), 9)
	want := OpError{Op: "mr-revoke", Errno: syscall.ENOENT, Message: "no such MR", Attr: "id", Offset: 20}
	var oe *OpError
	if !errors.As(err, &oe) || *oe != want || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %#v", err)
	}
	if err := c.RevokeMR(t.Context(), 8); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v", err)
	}
}

// TestObjectInsteadOfAcknowledgement: what is no acknowledgement does not count
// as one.
func TestObjectInsteadOfAcknowledgement(t *testing.T) {
	k := newFakeKernel(t, func(r request) [][]byte { return [][]byte{r.reply(0, genl(9, mrAttrs(1)))} })
	if err := k.client().RevokeMR(t.Context(), 1); !errors.Is(err, ErrMalformed) {
		t.Errorf("got %v", err)
	}
}

func TestInterruptedMRDump(t *testing.T) {
	for _, tt := range []struct {
		name  string
		bad   int // so many dumps are interrupted
		want  error
		asked int
	}{
		{"settles", 2, nil, 3},
		{"never settles", 1000, ErrPartial, dumpAttempts},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := 0
			k := newFakeKernel(t, func(r request) [][]byte {
				asked++
				var d uint16
				out := [][]byte{r.reply(fMulti, genl(8, mrAttrs(uint32(asked))))}
				if asked <= tt.bad {
					// More than the last reading has, none of which may stay.
					out = append(out, r.reply(fMulti, genl(8, bareMR(99))), r.reply(fMulti, genl(8, bareMR(98))))
					d = fIntr
				}
				return append(out, r.done(d, 0))
			})
			got, err := k.client().MRs(t.Context(), MRFilter{})
			if !errors.Is(err, tt.want) || asked != tt.asked {
				t.Errorf("asked %d times, %v; want %d, %v", asked, err, tt.asked, tt.want)
			}
			n := 1
			if tt.want != nil {
				n = 3
			}
			if len(got) != n || !reflect.DeepEqual(got[0], fullMR(uint32(tt.asked))) {
				t.Errorf("got %+v, not the last reading", got)
			}
		})
	}
}

// TestRefusalBehindObjects: a dump that fails after it has given something, with
// the error of a family that is not there, is not begun anew.
func TestRefusalBehindObjects(t *testing.T) {
	asked := 0
	k := newFakeKernel(t, func(r request) [][]byte {
		asked++
		return [][]byte{r.reply(fMulti, genl(8, mrAttrs(1))), r.done(0, 2)}
	})
	if got, err := k.client().MRs(t.Context(), MRFilter{}); !errors.Is(err, syscall.ENOENT) || got != nil || asked != 1 {
		t.Errorf("asked %d times, got %+v, %v", asked, got, err)
	}
}

func TestMalformedMRs(t *testing.T) {
	for name, payload := range map[string][]byte{
		"no id":          cat(at(2, []byte("rxe0\x00")), at(10, u64(1)), at(13, u32(1))),
		"no device":      cat(at(1, u32(1)), at(10, u64(1)), at(13, u32(1))),
		"no length":      cat(at(1, u32(1)), at(2, []byte("rxe0\x00")), at(13, u32(1))),
		"no state":       cat(at(1, u32(1)), at(2, []byte("rxe0\x00")), at(10, u64(1))),
		"port too large": cat(mrAttrs(1), at(8, u32(1<<16))),
		"age too large":  cat(mrAttrs(1), at(14, u64(1<<63))),
		"short length":   cat(mrAttrs(1), at(10, u32(1))),
		"short key":      cat(mrAttrs(1), at(9, u16(1))),
		"short peer":     cat(mrAttrs(1), at(16, u32(1))),
	} {
		k := newFakeKernel(t, func(r request) [][]byte {
			return [][]byte{cat(r.reply(fMulti, genl(8, mrAttrs(1))), r.reply(fMulti, genl(8, payload)), r.done(0, 0))}
		})
		c := k.client()
		if m, err := c.MRs(t.Context(), MRFilter{}); !errors.Is(err, ErrMalformed) || m != nil || strings.Count(err.Error(), "gonl:") != 1 {
			t.Errorf("%s: got %+v, %v", name, m, err)
		}
		// What is left of the reply is not taken for that of the next call.
		if _, err := c.MRs(t.Context(), MRFilter{}); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s again: %v", name, err)
		}
	}
}
