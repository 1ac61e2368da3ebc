// SPDX-License-Identifier: MIT

package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/rds-ext/rds_ext/gonl/rds"
)

// Registration says how a requester registers the memory of an operation and how
// it is released. The zero value registers it in the sendmsg that carries the
// request (RDMA_MAP) and has the peer's message release it (use once).
type Registration struct {
	// GetMR registers it with GET_MR, and sends the key with the request
	// (RDMA_DEST).
	GetMR bool
	// FreeMR registers it for any number of uses and releases it with FREE_MR.
	FreeMR bool
}

// Flags returns the flags of the registration.
func (g Registration) Flags() rds.Flags {
	if g.FreeMR {
		return rds.ReadWrite
	}
	return rds.ReadWrite | rds.UseOnce
}

// getMR registers the slot's buffer in a call of its own. It stays registered if
// the request cannot be sent at once.
func (r *requester) getMR(s *slot) error {
	c, err := r.conn.GetMR(s.segment(), r.registration.Flags())
	if err != nil {
		return err
	}
	r.times.GetMR.Record(r.calls.Last(rds.CallGetMR))
	s.cookie, s.registered = c, true
	r.ledger.mapped(c)
	return nil
}

// message makes the request's message, with the memory that it announces.
func (r *requester) message(s *slot) rds.Message {
	m := rds.Message{Payload: r.msg}
	if s.registered {
		m.Dest = s.cookie
	} else {
		m.Map = &rds.Map{Segment: s.segment(), Flags: r.registration.Flags()}
	}
	return m
}

// release ends the registration of a slot whose operation is done, and returns
// when that was; at is when the answer came.
func (r *requester) release(s *slot, at time.Time) (time.Time, error) {
	s.registered = false
	if !r.registration.FreeMR {
		return at, r.ledger.used(s.cookie)
	}
	if err := r.ledger.free(s.cookie); err != nil {
		return at, err
	}
	r.times.FreeMR.Record(r.calls.Last(rds.CallFreeMR))
	return time.Now(), nil
}

// free releases a region that nobody but its owner may release.
func (l *ledger) free(c rds.Cookie) error {
	delete(l.live, c.Key())
	err := l.conn.FreeMR(c, 0)
	if errors.Is(err, rds.ErrNoMR) {
		return fmt.Errorf("memory region %v is not for one use only, and was released all the same: %w", c, err)
	}
	return err
}
