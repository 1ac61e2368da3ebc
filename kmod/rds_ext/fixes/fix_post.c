// SPDX-License-Identifier: GPL-2.0
/*
 * Compiled into ib_frmr.c, in front of what posts.
 */
#include <linux/spinlock.h>

#include "fix_post.h"

/*
 * One for all connections: it is held for no longer than it takes to post, and
 * only for registrations and invalidations.
 */
static DEFINE_SPINLOCK(rds_fix_post_lock);

/* Posts while the connection is up, which its queue pair is as long as. */
static int rds_fix_post(struct rds_ib_connection *ic,
			const struct ib_send_wr *wr)
{
	unsigned long flags;
	int ret = -ENODEV;

	spin_lock_irqsave(&rds_fix_post_lock, flags);
	if (rds_conn_up(ic->conn))
		ret = ib_post_send(ic->i_cm_id->qp, wr, NULL);
	spin_unlock_irqrestore(&rds_fix_post_lock, flags);
	return ret;
}

/* The key of a stale region may be valid: it goes before the pages do. */
static void rds_fix_drop_stale(struct rds_ib_frmr *frmr)
{
	if (frmr->fr_state != FRMR_IS_STALE || !frmr->mr)
		return;
	ib_dereg_mr(frmr->mr);
	frmr->mr = NULL;
}

/*
 * Waits for those who have seen a connection up that is not any more. What they
 * posted shows in its i_fastreg_wrs.
 */
void rds_fix_post_barrier(void)
{
	spin_lock_irq(&rds_fix_post_lock);
	spin_unlock_irq(&rds_fix_post_lock);
}
