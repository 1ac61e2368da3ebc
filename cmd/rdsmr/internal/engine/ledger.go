// SPDX-License-Identifier: MIT

package engine

import (
	"errors"
	"fmt"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/stats"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// ledger knows which memory regions a socket has had registered, to find out
// which of them are still held although they should not be.
//
// Two facts tell that a region was released: its key is given out again, which
// the kernel never does for a key in use, and FREE_MR does not find it.
type ledger struct {
	conn     Conn
	counters *stats.Counters
	open     map[uint32]rds.Cookie // should be released; not confirmed yet
	live     map[uint32]rds.Cookie // in use by a try
}

// ledgerLimit bounds the memory of a ledger in long runs.
const ledgerLimit = 1 << 16

func newLedger(conn Conn, c *stats.Counters) *ledger {
	return &ledger{conn: conn, counters: c, open: map[uint32]rds.Cookie{}, live: map[uint32]rds.Cookie{}}
}

// mapped notes a new region.
func (l *ledger) mapped(c rds.Cookie) {
	l.counters.Mapped.Add(1)
	delete(l.open, c.Key())
	l.live[c.Key()] = c
}

// used notes that the peer's message released the region, or should have.
func (l *ledger) used(c rds.Cookie) error {
	delete(l.live, c.Key())
	l.open[c.Key()] = c
	if len(l.open) < ledgerLimit {
		return nil
	}
	return l.audit()
}

// abort takes a region back from the peer. When it returns the key is dead.
func (l *ledger) abort(c rds.Cookie) error {
	delete(l.live, c.Key())
	if err := l.conn.FreeMR(c, rds.Invalidate); err != nil && !errors.Is(err, rds.ErrNoMR) {
		return fmt.Errorf("take a memory region back: %w", err)
	}
	return nil
}

// audit asks the kernel about every region that should be released, and frees
// and counts those that are not.
func (l *ledger) audit() error { return l.auditAll(l.open) }

// close audits everything, regions in use included.
func (l *ledger) close() error {
	return errors.Join(l.auditAll(l.open), l.auditAll(l.live))
}

func (l *ledger) auditAll(m map[uint32]rds.Cookie) error {
	for key, c := range m {
		switch err := l.conn.FreeMR(c, 0); {
		case err == nil:
			l.counters.Held.Add(1)
		case !errors.Is(err, rds.ErrNoMR):
			return fmt.Errorf("check memory region %v: %w", c, err)
		}
		delete(m, key)
	}
	return nil
}
