// SPDX-License-Identifier: MIT

package gonl

import (
	"context"

	"github.com/rds-ext/rds_ext/gonl/spec"
)

// MRStats says what became of all MRs of the MR engine since it was loaded.
// Mapped is the sum of Live and of the ways to an end, Released to
// DeviceRemoved; see Ends.
type MRStats struct {
	// Mapped counts MRs that were registered.
	Mapped uint64
	// Live is how many are not at their end yet.
	Live uint64
	// Advertised counts MRs whose key a message has carried, each once.
	Advertised uint64
	// Released counts use-once MRs that ended as the peer told, by an extension
	// header, that its RDMA was done.
	Released uint64
	// RemotelyInvalidated counts use-once MRs that ended as the message behind
	// the peer's RDMA invalidated their key.
	RemotelyInvalidated uint64
	// Freed counts MRs that the application freed.
	Freed uint64
	// Orphaned counts MRs that ended with their socket.
	Orphaned uint64
	// Unsent counts MRs that ended since the sendmsg that mapped them failed.
	Unsent uint64
	// Expired counts use-once MRs that were revoked for their age.
	Expired uint64
	// Revoked counts MRs that an operator revoked.
	Revoked uint64
	// DeviceRemoved counts MRs that ended with their RDMA device.
	DeviceRemoved uint64
	// Failed counts MRs that could not be registered; they are not in Mapped.
	Failed uint64
	// Aged counts use-once MRs that EventMRAged was sent for.
	Aged uint64
	// LimitedSocket counts MRs refused at a limit of the socket.
	LimitedSocket uint64
	// LimitedUser counts MRs refused at the user's RLIMIT_MEMLOCK.
	LimitedUser uint64
	// LimitedPool counts MRs refused at the limit of the pool.
	LimitedPool uint64
	// ReleaseRefused counts extension headers that named an MR which was not
	// advertised to their sender.
	ReleaseRefused uint64
	// InvalidateForeign counts messages that invalidated a key which was not
	// advertised to their sender for that.
	InvalidateForeign uint64
	// Unknown are attributes of a newer module; nil with one that this package
	// knows all of.
	Unknown []Attribute `json:",omitempty"`
}

// Ends counts MRs that have come to their end, whichever way.
func (s MRStats) Ends() uint64 {
	return s.Released + s.RemotelyInvalidated + s.Freed + s.Orphaned + s.Unsent +
		s.Expired + s.Revoked + s.DeviceRemoved
}

// MRStats reads the counters of the MR engine.
func (c *Client) MRStats(ctx context.Context) (MRStats, error) {
	return single(ctx, c, spec.CmdMRStatsGet, nil, parseMRStats)
}

// parseMRStats reads the attributes of the counters.
func parseMRStats(b []byte) (MRStats, error) {
	d := newDecoder(spec.SetMRStats, b)
	var s MRStats
	for d.next() {
		switch d.typ {
		case spec.AttrMRStatsMapped:
			s.Mapped = d.uint64()
		case spec.AttrMRStatsLive:
			s.Live = d.uint64()
		case spec.AttrMRStatsAdvertised:
			s.Advertised = d.uint64()
		case spec.AttrMRStatsReleased:
			s.Released = d.uint64()
		case spec.AttrMRStatsRemotelyInvalidated:
			s.RemotelyInvalidated = d.uint64()
		case spec.AttrMRStatsFreed:
			s.Freed = d.uint64()
		case spec.AttrMRStatsOrphaned:
			s.Orphaned = d.uint64()
		case spec.AttrMRStatsUnsent:
			s.Unsent = d.uint64()
		case spec.AttrMRStatsExpired:
			s.Expired = d.uint64()
		case spec.AttrMRStatsRevoked:
			s.Revoked = d.uint64()
		case spec.AttrMRStatsDeviceRemoved:
			s.DeviceRemoved = d.uint64()
		case spec.AttrMRStatsFailed:
			s.Failed = d.uint64()
		case spec.AttrMRStatsAged:
			s.Aged = d.uint64()
		case spec.AttrMRStatsLimitedSocket:
			s.LimitedSocket = d.uint64()
		case spec.AttrMRStatsLimitedUser:
			s.LimitedUser = d.uint64()
		case spec.AttrMRStatsLimitedPool:
			s.LimitedPool = d.uint64()
		case spec.AttrMRStatsReleaseRefused:
			s.ReleaseRefused = d.uint64()
		case spec.AttrMRStatsInvalidateForeign:
			s.InvalidateForeign = d.uint64()
		}
	}
	if err := d.finish(spec.AttrMRStatsMapped, spec.AttrMRStatsLive); err != nil {
		return MRStats{}, err
	}
	s.Unknown = d.unknown
	return s, nil
}
