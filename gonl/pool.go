// SPDX-License-Identifier: MIT

package gonl

import (
	"context"

	"github.com/rds-ext/rds_ext/gonl/spec"
)

// Pool has the MRs that the MR engine keeps for one RDMA device, and what the
// queue pair that registers and invalidates them has done. Counters run since
// the engine knows the device.
type Pool struct {
	// Device is the name of the RDMA device, such as "rxe0".
	Device string
	// Limit is how many MRs may be allocated.
	Limit uint32
	// MRs is how many are allocated, MRsPeak the most at one time since the
	// engine knows the device, or since ResetPeaks.
	MRs, MRsPeak uint32
	// InUse is how many are registered or about to be, InUsePeak the most of
	// them at one time.
	InUse, InUsePeak uint32
	// Invalidating is how many have come to their end and are not invalidated yet.
	Invalidating uint32
	// Free is how many are ready for use.
	Free uint32
	// Quarantined is how many are invalid and keep their key for now, since a
	// peer may still name it in a message that invalidates.
	Quarantined uint32
	// PinnedPages is how many pages are pinned, PinnedPagesPeak the most at
	// one time.
	PinnedPages, PinnedPagesPeak uint64
	// Allocated and Deallocated count how often an MR was made and destroyed.
	Allocated, Deallocated uint64
	// Registrations counts those that were posted.
	Registrations uint64
	// LocalInvalidations counts those that were posted.
	LocalInvalidations uint64
	// InvalidationChains counts the chains that they were posted in; each has
	// one completion.
	InvalidationChains uint64
	// RemoteInvalidations counts MRs that a peer's message has invalidated.
	RemoteInvalidations uint64
	// Recoveries counts how often the queue pair was brought back from an error.
	Recoveries uint64
	// StaleReplaced counts MRs that were destroyed since an error left their
	// state unknown.
	StaleReplaced uint64
	// Exhausted counts how often the pool was at its limit.
	Exhausted uint64
	// Unknown are attributes of a newer module; nil with one that this package
	// knows all of.
	Unknown []Attribute `json:",omitempty"`
}

// Pools lists the pools, one for each RDMA device that the engine has used.
func (c *Client) Pools(ctx context.Context) ([]Pool, error) {
	return dump(ctx, c, spec.CmdPoolGet, nil, parsePool)
}

// ResetPeaks sets the peaks of all pools to what they hold now. It needs
// CAP_NET_ADMIN in the initial user namespace; without it the error is
// fs.ErrPermission to errors.Is.
func (c *Client) ResetPeaks(ctx context.Context) error {
	return c.do(ctx, spec.CmdPoolResetPeaks, nil)
}

// parsePool reads the attributes of a pool.
func parsePool(b []byte) (Pool, error) {
	d := newDecoder(spec.SetPool, b)
	var p Pool
	for d.next() {
		switch d.typ {
		case spec.AttrPoolDevice:
			p.Device = d.string()
		case spec.AttrPoolLimit:
			p.Limit = d.uint32()
		case spec.AttrPoolMRs:
			p.MRs = d.uint32()
		case spec.AttrPoolMRsPeak:
			p.MRsPeak = d.uint32()
		case spec.AttrPoolInUse:
			p.InUse = d.uint32()
		case spec.AttrPoolInUsePeak:
			p.InUsePeak = d.uint32()
		case spec.AttrPoolInvalidating:
			p.Invalidating = d.uint32()
		case spec.AttrPoolFree:
			p.Free = d.uint32()
		case spec.AttrPoolQuarantined:
			p.Quarantined = d.uint32()
		case spec.AttrPoolPinnedPages:
			p.PinnedPages = d.uint64()
		case spec.AttrPoolPinnedPagesPeak:
			p.PinnedPagesPeak = d.uint64()
		case spec.AttrPoolAllocated:
			p.Allocated = d.uint64()
		case spec.AttrPoolDeallocated:
			p.Deallocated = d.uint64()
		case spec.AttrPoolRegistrations:
			p.Registrations = d.uint64()
		case spec.AttrPoolLocalInvalidations:
			p.LocalInvalidations = d.uint64()
		case spec.AttrPoolInvalidationChains:
			p.InvalidationChains = d.uint64()
		case spec.AttrPoolRemoteInvalidations:
			p.RemoteInvalidations = d.uint64()
		case spec.AttrPoolRecoveries:
			p.Recoveries = d.uint64()
		case spec.AttrPoolStaleReplaced:
			p.StaleReplaced = d.uint64()
		case spec.AttrPoolExhausted:
			p.Exhausted = d.uint64()
		}
	}
	if err := d.finish(spec.AttrPoolDevice); err != nil {
		return Pool{}, err
	}
	p.Unknown = d.unknown
	return p, nil
}
