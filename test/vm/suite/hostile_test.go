// SPDX-License-Identifier: MIT

package suite

import (
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/rds-ext/rds_ext/internal/wire"
	"github.com/rds-ext/rds_ext/test/vm/ether"
)

// hostileExt is an extension space that no honest peer sends.
func hostileExt(r *rand.Rand) (ext [wire.ExtSpace]byte) {
	switch r.IntN(4) {
	case 0: // anything at all
		for i := range ext {
			ext[i] = byte(r.Uint32())
		}
	case 1: // a type of unknown length
		ext[0] = []byte{7, 9, 15, 16, 255}[r.IntN(5)]
		ext[1] = byte(wire.ExtRDMA)
	case 2: // two versions that say different things
		ext[0], ext[5] = byte(wire.ExtVersion), byte(wire.ExtVersion)
		binary.BigEndian.PutUint32(ext[1:], r.Uint32())
		binary.BigEndian.PutUint32(ext[6:], r.Uint32())
	case 3: // the last one runs over the end
		ext[0], ext[9] = byte(wire.ExtRDMADest), byte(wire.ExtRDMADest)
	}
	return ext
}

// A peer that sends anything in the extension space, with all checksums right:
// messages still arrive, each kind of fault is counted, the connection stays, and
// a version that asks for an answer in each message does not make us send more.
func TestHostileExtensionSpace(t *testing.T) {
	p := boot(t, ours(), stock())
	p.serve(p.b)
	p.stress(p.a, p.b, "--mode", "msg", "--count", "5")
	before := p.ib(p.a)

	var failed atomic.Pointer[error]
	rule := p.add(p.env.Link(p.b), ether.FromNode, ether.Rule{
		Name: "hostile", Match: wire.Match(carriesHeader), Pick: ether.Rate(0.9),
		Do: ether.Edit(func(frame []byte, r *rand.Rand) []byte {
			if err := forge(frame, hostileExt(r)); err != nil {
				failed.Store(&err)
			}
			return frame
		}),
	})
	p.stress(p.a, p.b, "--mode", "msg", "--count", "500", "--duplex")
	rule.Remove()
	if err := failed.Load(); err != nil {
		t.Fatal(*err)
	}
	if rule.Picked() < 200 {
		t.Fatalf("only %d messages were forged", rule.Picked())
	}

	var unknown, truncated, duplicate uint64
	for _, c := range p.counters(p.a) {
		unknown += c.RXUnknown
		truncated += c.RXTruncated
		duplicate += c.RXDuplicate
	}
	if unknown == 0 || truncated == 0 || duplicate == 0 {
		t.Errorf("counted: %d unknown, %d truncated, %d duplicate; want some of each", unknown, truncated, duplicate)
	}
	after := p.ib(p.a)
	if after.Ups != before.Ups || after.State != "up" {
		t.Errorf("the connection was lost: %v, before: %v", after, before)
	}
	p.unload(p.a)
}
