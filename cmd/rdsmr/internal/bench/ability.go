// SPDX-License-Identifier: MIT

package bench

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/engine"
	"github.com/rds-ext/rds_ext/gonl"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// connect has the kernel make the usual connection with the peer. Before its first
// one, RDS does not know which device an address belongs to, and registers nothing
// for it; and no mode shall have the connecting among its own times.
func (b *bench) connect(ctx context.Context) error {
	limit, cancel := context.WithTimeout(ctx, b.cfg.Timing.Connect)
	defer cancel()
	if err := poke(limit, b.conn, b.cfg.Peer); err != nil {
		return err
	}
	t := time.NewTicker(10 * time.Millisecond)
	defer t.Stop()
	for {
		up, err := engine.Connected(b.conn, b.cfg.Local, b.cfg.Peer.Addr(), 0)
		if up || err != nil {
			return err
		}
		select {
		case <-t.C:
		case <-limit.Done():
			if ctx.Err() != nil {
				return errors.New("interrupted")
			}
			return fmt.Errorf("no RDS connection with %v within %v: is the host reachable from %v, and rds_rdma loaded there?",
				b.cfg.Peer.Addr(), b.cfg.Timing.Connect, b.cfg.Local)
		}
	}
}

// probe finds out whether the kernel can do what a mode is about.
func (b *bench) probe(m Mode) error {
	if !m.RDMA() {
		return nil
	}
	tr, err := b.conn.Transport()
	if err != nil {
		return err
	}
	if tr != rds.TransportIB {
		return unsupportedf("the RDS transport %q of %v has no RDMA: use an address of an InfiniBand or RoCE device", tr, b.cfg.Local)
	}
	if !m.registration().GetMR {
		return nil
	}
	buf, err := rds.NewBuffer(b.cfg.Params.Size)
	if err != nil {
		return err
	}
	// A socket of its own: closing it releases what was registered, whatever
	// becomes of the attempt.
	conn, err := b.host.Listen(netip.AddrPortFrom(b.cfg.Local, 0), rds.Config{})
	if err != nil {
		return errors.Join(err, buf.Close())
	}
	_, err = conn.GetMR(rds.Segment{Buffer: buf, Length: buf.Len()}, m.registration().Flags())
	if errors.Is(err, rds.ErrNoRDMA) {
		err = unsupportedf("this kernel has no GET_MR over InfiniBand: %v", unix.EOPNOTSUPP)
	}
	return errors.Join(err, conn.Close(), buf.Close())
}

// tos returns the type of service of the connection that the mode needs.
func (b *bench) tos(ctx context.Context, m Mode) (uint8, error) {
	switch m {
	case MapUseOnce:
		return b.conns.choose(ctx, false)
	case MapRemoteInv:
		return b.conns.choose(ctx, true)
	}
	return 0, nil
}

// checkConnection notes what is agreed on the connection, and fails if that is not
// what the mode is about: the connection was lost meanwhile.
func (b *bench) checkConnection(ctx context.Context, m Mode, n *Numbers) error {
	if b.control == nil {
		return nil
	}
	f, err := b.conns.features(ctx, n.TOS)
	if err != nil {
		return err
	}
	n.Features = f.Names()
	has := f&gonl.FeatureRemoteInvalidate != 0
	if m == MapUseOnce && has || m == MapRemoteInv && !has {
		return fmt.Errorf("the connection with %v was made again while the mode ran, and features other than before are agreed on it", b.cfg.Peer.Addr())
	}
	return nil
}
