// SPDX-License-Identifier: GPL-2.0
/*
 * Compiled into ib_cm.c.
 */
#include "fix_post.h"

/*
 * Waits until no memory region points to a connection that is to be freed. One
 * that nobody uses any more may be in a pool still. Called with irqs off for a
 * connection that has never had any.
 */
static void rds_fix_regions_gone(struct rds_ib_connection *ic)
{
	if (!atomic_read(&ic->i_fastreg_inuse_count))
		return;
	/* The last to let go gives its work request back afterwards. */
	do
		rds_ib_flush_mrs();
	while (!wait_event_timeout(rds_ib_ring_empty_wait,
				   !atomic_read(&ic->i_fastreg_inuse_count) &&
				   atomic_read(&ic->i_fastreg_wrs) ==
				   RDS_IB_DEFAULT_FR_WR,
				   msecs_to_jiffies(1000)));
}
