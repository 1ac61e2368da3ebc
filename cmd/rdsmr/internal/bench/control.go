// SPDX-License-Identifier: MIT

package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"time"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/engine"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
	"github.com/rds-ext/rds_ext/gonl"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// Control is what the bench needs of rds_ext.ko; *gonl.Client is one.
type Control interface {
	Conns(ctx context.Context, f gonl.Filter) ([]gonl.Conn, error)
	Settings(ctx context.Context) (gonl.Settings, error)
	SetSettings(ctx context.Context, change gonl.SettingsChange) error
	Pools(ctx context.Context) ([]gonl.Pool, error)
	ResetPeaks(ctx context.Context) error
}

// unsupported is why a mode cannot run here. It is a result and no failure.
type unsupported struct{ why string }

func (e unsupported) Error() string { return e.why }

func unsupportedf(format string, args ...any) error {
	return unsupported{fmt.Sprintf(format, args...)}
}

// tosLimit is how many types of service are tried. RDS makes service levels of
// them, of which there are 16.
const tosLimit = 16

// connector finds or makes the connection that a mode needs.
type connector struct {
	host    engine.Host
	control Control // nil without rds_ext.ko
	local   netip.Addr
	peer    netip.AddrPort
	limit   time.Duration
}

// choose returns the type of service of a connection on which remote
// invalidation is agreed, or is not. What is agreed holds for as long as the
// connection is up, so where the existing ones do not fit, one of another type of
// service is made, with this host's announcement changed meanwhile.
func (c *connector) choose(ctx context.Context, want bool) (uint8, error) {
	if c.control == nil {
		if want {
			return 0, unsupportedf("remote invalidation needs rds_ext.ko on both hosts, and it is not loaded on this one")
		}
		return 0, nil
	}
	settings, err := c.control.Settings(ctx)
	if err != nil {
		return 0, err
	}
	for tos := range uint8(tosLimit) {
		conns, err := c.conns(ctx)
		if err != nil {
			return 0, err
		}
		conn, made := conns[tos], false
		if conn.State == gonl.ConnStateUp {
			conn, err = c.await(ctx, tos, settings.VersionHeader)
		} else {
			conn, err = c.connect(ctx, tos, settings, want)
			made = true
		}
		switch {
		case err != nil:
			return 0, err
		case remoteInv(conn) == want:
			return tos, nil
		case made && want:
			return 0, c.whyNot(conn)
		}
	}
	return 0, fmt.Errorf("no connection with %v: none of %d types of service is free", c.peer.Addr(), tosLimit)
}

func remoteInv(c gonl.Conn) bool { return c.AgreedFeatures&gonl.FeatureRemoteInvalidate != 0 }

func (c *connector) whyNot(conn gonl.Conn) error {
	if conn.PeerKind == gonl.PeerKindRDSExt {
		return unsupportedf("remote invalidation is not offered by %v: see `rdsinfo config` there, feature-mask", conn.Peer)
	}
	return unsupportedf("remote invalidation needs rds_ext.ko on both hosts, and %v does not say that it has it", conn.Peer)
}

// conns returns the connections with the peer, by type of service.
func (c *connector) conns(ctx context.Context) (map[uint8]gonl.Conn, error) {
	ib := gonl.TransportIB
	list, err := c.control.Conns(ctx, gonl.Filter{Transport: &ib, Local: c.local, Peer: c.peer.Addr()})
	if err != nil {
		return nil, err
	}
	m := map[uint8]gonl.Conn{}
	for _, conn := range list {
		m[conn.TOS] = conn
	}
	return m, nil
}

// features returns what is agreed on a connection, 0 for one that is not up.
func (c *connector) features(ctx context.Context, tos uint8) (gonl.Feature, error) {
	conns, err := c.conns(ctx)
	if err != nil || conns[tos].State != gonl.ConnStateUp {
		return 0, err
	}
	return conns[tos].AgreedFeatures, nil
}

// connect makes a connection on which this host offers remote invalidation, or
// does not, and returns it when both sides have announced what they offer.
func (c *connector) connect(ctx context.Context, tos uint8, settings gonl.Settings, offer bool) (conn gonl.Conn, err error) {
	mask := settings.FeatureMask &^ gonl.FeatureRemoteInvalidate
	if offer {
		mask |= gonl.FeatureRemoteInvalidate
	}
	switch {
	case offer && settings.SupportedFeatures&gonl.FeatureRemoteInvalidate == 0:
		return conn, unsupportedf("the rds_ext.ko that is loaded on this host has no remote invalidation")
	case offer && !settings.VersionHeader:
		return conn, unsupportedf("this host announces no features to its peers: allow it with `rdsinfo config set version-header=on`")
	}
	if mask != settings.FeatureMask {
		if err := c.setMask(ctx, mask); err != nil {
			return conn, err
		}
		defer func() {
			// Also when the user wants to stop.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.limit)
			defer cancel()
			err = errors.Join(err, c.setMask(ctx, settings.FeatureMask))
		}()
	}
	sock, err := c.host.Listen(netip.AddrPortFrom(c.local, 0), rds.Config{TOS: tos})
	if err != nil {
		return conn, err
	}
	defer func() { err = errors.Join(err, sock.Close()) }()
	limit, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	if err := poke(limit, sock, c.peer); err != nil {
		return conn, err
	}
	return c.await(ctx, tos, settings.VersionHeader)
}

// poke sends a message, so that the kernel makes the connection for it. The peer has
// no answer to this one.
func poke(ctx context.Context, sock engine.Conn, peer netip.AddrPort) error {
	_, err := sock.Send(ctx, rds.Message{To: peer, Payload: wire.Header{Type: wire.Closed}.Append(nil)})
	return err
}

func (c *connector) setMask(ctx context.Context, mask gonl.Feature) error {
	err := c.control.SetSettings(ctx, gonl.SettingsChange{FeatureMask: &mask})
	if errors.Is(err, fs.ErrPermission) {
		return unsupportedf("this host's offer of remote invalidation has to be changed for a moment, which needs CAP_NET_ADMIN: run as root")
	}
	return err
}

// await waits until a connection is up and both sides have announced themselves,
// as far as they will.
func (c *connector) await(ctx context.Context, tos uint8, announces bool) (gonl.Conn, error) {
	limit, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	t := time.NewTicker(10 * time.Millisecond)
	defer t.Stop()
	for {
		conns, err := c.conns(ctx)
		if err != nil {
			return gonl.Conn{}, err
		}
		conn := conns[tos]
		said := conn.Features != nil || !announces
		heard := conn.PeerFeatures != nil || conn.PeerKind == gonl.PeerKindStock
		if conn.State == gonl.ConnStateUp && said && heard {
			return conn, nil
		}
		select {
		case <-t.C:
		case <-limit.Done():
			if ctx.Err() != nil {
				return conn, ctx.Err()
			}
			if conn.State == gonl.ConnStateUp {
				return conn, nil // what has not been said by now is not agreed
			}
			return conn, fmt.Errorf("no RDS connection with %v within %v (type of service %d): is the host reachable from %v, and rds_rdma loaded there?",
				c.peer.Addr(), c.limit, tos, c.local)
		}
	}
}
