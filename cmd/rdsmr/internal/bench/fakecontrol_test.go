// SPDX-License-Identifier: MIT

package bench

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/fakerds"
	"github.com/rds-ext/rds_ext/gonl"
)

const remoteInvalidate = gonl.FeatureRemoteInvalidate

// fakeControl is rds_ext.ko of a host on a fake network. A connection has the
// features of the moment in which it is first seen; the first looks at it find
// that nothing has been announced yet.
type fakeControl struct {
	net *fakerds.Net

	mu       sync.Mutex
	settings gonl.Settings
	peer     gonl.Feature // what the peer offers
	conns    map[uint8]gonl.Conn
	quiet    map[uint8]int
	resets   int

	refuse    unix.Errno // of settings-set
	keepPeaks unix.Errno // of pool-reset-peaks
	noPools   bool
	stockPeer bool
	mutePeer  bool
	unloaded  bool // the module is gone: every request fails
}

// unload takes the module away.
func (c *fakeControl) unload() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unloaded = true
}

// gone is the error of requests to a module that is not there; c.mu is held.
func (c *fakeControl) gone() error {
	if c.unloaded {
		return fmt.Errorf("gonl: %w", gonl.ErrNotLoaded)
	}
	return nil
}

func newFakeControl(net *fakerds.Net) *fakeControl {
	all := gonl.FeatureExtTypes | remoteInvalidate
	return &fakeControl{net: net, conns: map[uint8]gonl.Conn{}, quiet: map[uint8]int{}, peer: all, settings: gonl.Settings{
		VersionHeader: true, FeatureMask: all, SupportedFeatures: all, MREngine: true,
	}}
}

func opError(op string, errno unix.Errno) error { return &gonl.OpError{Op: op, Errno: errno} }

func (c *fakeControl) Conns(_ context.Context, f gonl.Filter) (list []gonl.Conn, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.gone(); err != nil {
		return nil, err
	}
	for _, p := range c.net.Pairs() {
		if _, ok := c.conns[p.TOS]; ok || p.From != f.Local || p.To != f.Peer {
			continue
		}
		conn := gonl.Conn{Local: p.From, Peer: p.To, TOS: p.TOS, State: gonl.ConnStateUp, PeerKind: gonl.PeerKindRDSExt}
		if c.settings.VersionHeader {
			mine := c.settings.FeatureMask
			conn.Features = &mine
		}
		switch {
		case c.mutePeer:
			conn.PeerKind = gonl.PeerKindUnknown
		case c.stockPeer:
			conn.PeerKind = gonl.PeerKindStock
		default:
			theirs := c.peer
			conn.PeerFeatures = &theirs
			if conn.Features != nil {
				conn.AgreedFeatures = *conn.Features & theirs
			}
		}
		c.conns[p.TOS] = conn
		c.quiet[p.TOS] = 3
	}
	for tos, conn := range c.conns {
		if c.quiet[tos] > 0 {
			c.quiet[tos]--
			conn.Features, conn.PeerFeatures, conn.AgreedFeatures, conn.PeerKind = nil, nil, 0, gonl.PeerKindUnknown
		}
		if f.Match(conn) {
			list = append(list, conn)
		}
	}
	return list, nil
}

// lose takes a feature away from all connections, as reconnecting can.
func (c *fakeControl) lose(f gonl.Feature) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for tos, conn := range c.conns {
		conn.AgreedFeatures &^= f
		c.conns[tos] = conn
	}
}

func (c *fakeControl) Settings(context.Context) (gonl.Settings, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settings, c.gone()
}

func (c *fakeControl) SetSettings(_ context.Context, change gonl.SettingsChange) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.gone(); err != nil {
		return err
	}
	if c.refuse != 0 {
		return opError("settings-set", c.refuse)
	}
	if change.FeatureMask != nil {
		c.settings.FeatureMask = *change.FeatureMask
	}
	time.Sleep(time.Millisecond) // it goes to the kernel and back
	return nil
}

// Pools tells of two devices, of which the engine posts one invalidation for each
// region. The peaks that it once had go when they are set back.
func (c *fakeControl) Pools(context.Context) ([]gonl.Pool, error) {
	if c.noPools {
		return nil, opError("pool-get", unix.EOPNOTSUPP)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.gone(); err != nil {
		return nil, err
	}
	used := gonl.Pool{
		Device: "rxe0", Allocated: min(c.net.Mapped(), 10), LocalInvalidations: c.net.Mapped(),
		MRsPeak: 10, PinnedPagesPeak: 9,
	}
	if c.resets == 0 {
		used.MRsPeak, used.PinnedPagesPeak = 5000, 6000
	}
	return []gonl.Pool{{Device: "rxe1"}, used}, nil
}

func (c *fakeControl) ResetPeaks(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.gone(); err != nil {
		return err
	}
	if c.keepPeaks != 0 {
		return opError("pool-reset-peaks", c.keepPeaks)
	}
	c.resets++
	return nil
}
