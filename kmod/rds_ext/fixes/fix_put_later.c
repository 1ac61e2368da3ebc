// SPDX-License-Identifier: GPL-2.0
/*
 * Compiled into message.c, behind rds_message_purge().
 */
#include <linux/spinlock.h>
#include <linux/workqueue.h>

/* Messages without a reference, by m_sock_item. */
static LIST_HEAD(rds_fix_unused);
static DEFINE_SPINLOCK(rds_fix_unused_lock);

static void rds_fix_put_worker(struct work_struct *work)
{
	struct rds_message *rm, *next;
	LIST_HEAD(unused);

	spin_lock_irq(&rds_fix_unused_lock);
	list_splice_init(&rds_fix_unused, &unused);
	spin_unlock_irq(&rds_fix_unused_lock);

	list_for_each_entry_safe(rm, next, &unused, m_sock_item) {
		rds_message_purge(rm);
		kfree(rm);
	}
}

static DECLARE_WORK(rds_fix_put_work, rds_fix_put_worker);

/*
 * Takes over a message without a reference whose pages must not be given back
 * here. The queue is destroyed, and so drained, when the module is unloaded, after
 * the last socket and the last connection have gone.
 *
 * On-demand paging pins nothing, and what it has does not wait for us: it is the
 * transport's, which may be gone by the time.
 */
static bool rds_fix_put_later(struct rds_message *rm)
{
	unsigned long flags;
	bool dirty;

	dirty = rm->atomic.op_active ||
		(rm->rdma.op_active && !rm->rdma.op_odp_mr &&
		 !rm->rdma.op_write);
	if (in_task() || !dirty)
		return false;

	spin_lock_irqsave(&rds_fix_unused_lock, flags);
	list_add_tail(&rm->m_sock_item, &rds_fix_unused);
	spin_unlock_irqrestore(&rds_fix_unused_lock, flags);
	queue_work(rds_wq, &rds_fix_put_work);
	return true;
}
