// SPDX-License-Identifier: GPL-2.0
#include <linux/atomic.h>

#include "mrstats.h"

static atomic64_t stats[REXT_MRSTATS];

/**
 * rext_mrstats_inc() - count
 * @which: what
 *
 * Context: any.
 */
void rext_mrstats_inc(enum rext_mrstat which)
{
	atomic64_inc(&stats[which]);
}

/**
 * rext_mrstats_state() - count an MR that gets into a state
 * @state: RDS_EXT_MR_STATE_*
 *
 * Context: any.
 */
void rext_mrstats_state(u32 state)
{
	atomic64_inc(&stats[REXT_MRSTAT_STATE + state]);
}

/**
 * rext_mrstats_read() - read a counter
 * @which: which
 *
 * Context: any.
 * Return: its value.
 */
u64 rext_mrstats_read(enum rext_mrstat which)
{
	return atomic64_read(&stats[which]);
}

/**
 * rext_mrstats_live() - how many MRs have not ended yet
 *
 * The ends are read first: an MR counts as mapped before it can end, so the
 * number may be too large for a moment, and is never negative.
 *
 * Context: any.
 * Return: their number.
 */
u64 rext_mrstats_live(void)
{
	u64 ended = 0;
	u32 state;

	for (state = RDS_EXT_MR_STATE_RELEASED; state <= RDS_EXT_MR_STATE_MAX;
	     state++)
		ended += rext_mrstats_read(REXT_MRSTAT_STATE + state);
	smp_rmb();	/* pairs with the order of atomic increments */
	return rext_mrstats_read(REXT_MRSTAT_STATE + RDS_EXT_MR_STATE_MAPPED) -
	       ended;
}
