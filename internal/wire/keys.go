// SPDX-License-Identifier: MIT

package wire

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
)

// A Key is the life of an R_Key on one connection, from the message that offers
// it to the next that offers the same number.
type Key struct {
	RKey  uint32
	Conn  *Conn
	Owner netip.Addr // whose memory it is
	// Offer is the message with the extension header [ExtRDMADest]; nil for a key
	// that was used and never offered in the capture.
	Offer *Message
	// MayInvalidate is whether the offer gave leave for a remote invalidation.
	MayInvalidate bool
	// RDMA are the operations on the key.
	RDMA []*RDMAOp
	// Releases are the messages that name it in an extension header [ExtRDMA].
	Releases []*Message
	// Invalidations are the SENDs with invalidate that name it.
	Invalidations []*Message

	order int
}

// keyName is what tells keys apart at one time.
type keyName struct {
	conn  *Conn
	owner netip.Addr
	rkey  uint32
}

// Keys follows the R_Keys of all connections, in the order in which they are
// first seen.
func (t *Trace) Keys() []*Key {
	ks := NewKeyFollower()
	ops := t.RDMA
	for _, m := range t.Messages {
		for len(ops) > 0 && ops[0].N < m.N {
			ks.Operation(ops[0])
			ops = ops[1:]
		}
		ks.Message(m)
	}
	for _, op := range ops {
		ks.Operation(op)
	}
	return ks.All
}

// A KeyFollower follows R_Keys as a [Follower] meets them.
type KeyFollower struct {
	// All are the keys in the order in which they were first seen; none where there
	// is OnDone.
	All []*Key
	// OnDone, where there is one, gets a key when its life is over: when its number
	// is offered anew, or at the End.
	OnDone func(*Key)

	now   map[keyName]*Key
	begun int
}

// NewKeyFollower makes one that has seen nothing.
func NewKeyFollower() *KeyFollower { return &KeyFollower{now: make(map[keyName]*Key)} }

// begin makes a new life for a key.
func (ks *KeyFollower) begin(n keyName) *Key {
	k := &Key{RKey: n.rkey, Conn: n.conn, Owner: n.owner}
	ks.begun++
	k.order = ks.begun
	if before := ks.now[n]; before != nil && ks.OnDone != nil {
		ks.OnDone(before)
	}
	ks.now[n] = k
	if ks.OnDone == nil {
		ks.All = append(ks.All, k)
	}
	return k
}

// End hands out the keys that are left, in the order in which they were first
// seen.
func (ks *KeyFollower) End() {
	if ks.OnDone == nil {
		return
	}
	left := slices.SortedFunc(maps.Values(ks.now), func(a, b *Key) int { return a.order - b.order })
	clear(ks.now)
	for _, k := range left {
		ks.OnDone(k)
	}
}

func (ks *KeyFollower) get(n keyName) *Key {
	if k := ks.now[n]; k != nil {
		return k
	}
	return ks.begin(n)
}

// Operation takes an operation.
func (ks *KeyFollower) Operation(op *RDMAOp) {
	k := ks.get(keyName{op.Conn, op.Dst, op.RKey})
	k.RDMA = append(k.RDMA, op)
}

// Message takes a message. It reads the extension headers of the first fragment alone, as the
// receiver does: each fragment has a copy.
func (ks *KeyFollower) Message(m *Message) {
	if e := m.Find(ExtRDMA); e != nil && m.Fragment == 0 {
		k := ks.get(keyName{m.Conn, m.Dst, e.RKey()})
		k.Releases = append(k.Releases, m)
	}
	if m.Invalidate != nil {
		k := ks.get(keyName{m.Conn, m.Dst, *m.Invalidate})
		k.Invalidations = append(k.Invalidations, m)
	}
	if e := m.Find(ExtRDMADest); e != nil && m.Fragment == 0 {
		k := ks.begin(keyName{m.Conn, m.Src, e.RKey()})
		k.Offer = m
		if f := m.Find(ExtRDMADestFlags); f != nil {
			k.MayInvalidate = f.DestFlags()&MayInvalidate != 0
		}
	}
}

// CheckInvalidation holds what was done with the key against the rules of remote
// invalidation in docs/protocol.md, and returns what breaks them. A key that was
// not invalidated remotely breaks none.
func (k *Key) CheckInvalidation() error {
	if len(k.Invalidations) == 0 {
		return nil
	}
	m := k.Invalidations[0]
	switch {
	case k.Offer == nil:
		return k.errorf("invalidated by message %d without having been offered on this connection", m.Sequence)
	case !k.MayInvalidate:
		return k.errorf("invalidated by message %d without leave", m.Sequence)
	case len(k.Invalidations) > 1:
		return k.errorf("invalidated %d times", len(k.Invalidations))
	case len(k.RDMA) == 0 || k.RDMA[0].N > m.N:
		return k.errorf("invalidated by message %d without an RDMA operation before", m.Sequence)
	case m.before+m.Bytes < int(m.Len):
		return k.errorf("invalidated by fragment %d of message %d, which is not the last", m.Fragment, m.Sequence)
	}
	if e := m.Find(ExtRDMA); e == nil || e.RKey() != k.RKey {
		return k.errorf("message %d invalidates it and does not name it in an extension header", m.Sequence)
	}
	for _, op := range k.RDMA {
		switch {
		case op.N > m.N:
			return k.errorf("used at frame %d, after message %d at frame %d has invalidated it", op.N, m.Sequence, m.N)
		case op.Read && m.Conn.PathMTU != 0 && (op.Answered == 0 || op.Answered > m.N):
			return k.errorf("message %d has invalidated it at frame %d, before the read at frame %d was answered (frame %d)",
				m.Sequence, m.N, op.N, op.Answered)
		}
	}
	return nil
}

func (k *Key) errorf(format string, args ...any) error {
	return fmt.Errorf("key %#08x of %v: %s", k.RKey, k.Owner, fmt.Sprintf(format, args...))
}
