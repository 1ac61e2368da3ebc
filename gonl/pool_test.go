// SPDX-License-Identifier: MIT

package gonl

import (
	"errors"
	"io/fs"
	"reflect"
	"testing"
)

// poolAttrs is a pool with every attribute, numbered as in the YAML file; the
// values are 100 and the number.
func poolAttrs(device string) []byte {
	b := at(1, append([]byte(device), 0))
	for n := uint16(2); n <= 9; n++ {
		b = cat(b, at(n, u32(100+uint32(n))))
	}
	for n := uint16(10); n <= 20; n++ {
		b = cat(b, at(21, nil), at(n, u64(100+uint64(n))))
	}
	return b
}

func TestPools(t *testing.T) {
	k := newFakeKernel(t, func(r request) [][]byte {
		if r.cmd != 11 || !r.dump() || len(r.attrs) != 0 {
			t.Errorf("unexpected request %x", r.raw)
		}
		return [][]byte{
			r.reply(fMulti, genl(11, poolAttrs("rxe0"))),
			r.reply(fMulti, genl(11, at(1, []byte("mlx5_0\x00")), at(3, u32(5)), at(77, nil))),
			r.done(0, 0),
		}
	})
	got, err := k.client().Pools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []Pool{
		{
			Device: "rxe0", Limit: 102, MRs: 103, MRsPeak: 104, InUse: 105, InUsePeak: 106, Invalidating: 107, Free: 108,
			Quarantined: 109, PinnedPages: 110, PinnedPagesPeak: 111, Allocated: 112, Deallocated: 113, Registrations: 114,
			LocalInvalidations: 115, InvalidationChains: 116, RemoteInvalidations: 117, Recoveries: 118, StaleReplaced: 119,
			Exhausted: 120,
		},
		{Device: "mlx5_0", MRs: 5, Unknown: []Attribute{{77, []byte{}}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestPoolWithoutDevice(t *testing.T) {
	k := newFakeKernel(t, func(r request) [][]byte { return [][]byte{r.reply(fMulti, genl(11, at(2, u32(1)))), r.done(0, 0)} })
	if got, err := k.client().Pools(t.Context()); !errors.Is(err, ErrMalformed) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestResetPeaks(t *testing.T) {
	refuse := false
	k := newFakeKernel(t, func(r request) [][]byte {
		if r.cmd != 12 || r.flags != 0x5 || len(r.attrs) != 0 {
			t.Errorf("unexpected request %x", r.raw)
		}
		if refuse {
			return [][]byte{r.refuse(1, extMsg("needs CAP_NET_ADMIN"))}
		}
		return [][]byte{msg(tError, fCapped, r.seq, cat(u32(0), r.raw[:16]))}
	})
	c := k.client()
	if err := c.ResetPeaks(t.Context()); err != nil {
		t.Error(err)
	}
	refuse = true
	if err := c.ResetPeaks(t.Context()); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v", err)
	}
}

// mrStatsAttrs has every counter, numbered as in the YAML file, with powers of 2
// so that a sum tells what is in it.
func mrStatsAttrs() []byte {
	var b []byte
	for n := uint16(1); n <= 18; n++ {
		b = cat(b, at(19, nil), at(n, u64(1<<n)))
	}
	return b
}

func TestMRStats(t *testing.T) {
	attrs := mrStatsAttrs()
	k := newFakeKernel(t, func(r request) [][]byte {
		if r.cmd != 10 || r.dump() || len(r.attrs) != 0 {
			t.Errorf("unexpected request %x", r.raw)
		}
		return [][]byte{r.reply(0, genl(10, attrs))}
	})
	c := k.client()
	got, err := c.MRStats(t.Context())
	want := MRStats{
		Mapped: 1 << 1, Live: 1 << 2, Advertised: 1 << 3, Released: 1 << 4, RemotelyInvalidated: 1 << 5, Freed: 1 << 6,
		Orphaned: 1 << 7, Unsent: 1 << 8, Expired: 1 << 9, Revoked: 1 << 10, DeviceRemoved: 1 << 11, Failed: 1 << 12,
		Aged: 1 << 13, LimitedSocket: 1 << 14, LimitedUser: 1 << 15, LimitedPool: 1 << 16, ReleaseRefused: 1 << 17,
		InvalidateForeign: 1 << 18,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if ends := got.Ends(); ends != 0xff0 {
		t.Errorf("ends %#x, want %#x", ends, 0xff0)
	}
	attrs = at(1, u64(1))
	if got, err := c.MRStats(t.Context()); !errors.Is(err, ErrMalformed) {
		t.Errorf("without the number of live ones: %+v, %v", got, err)
	}
}
