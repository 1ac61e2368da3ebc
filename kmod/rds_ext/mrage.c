// SPDX-License-Identifier: GPL-2.0
#include <linux/rcupdate.h>
#include <linux/workqueue.h>

#include "clock.h"
#include "mr.h"
#include "mrage.h"
#include "mrdev.h"
#include "mrstats.h"
#include "mrtable.h"
#include "netlink_mr.h"
#include "settings.h"

static void look_around(struct work_struct *work);
static DECLARE_DELAYED_WORK(work, look_around);
static bool stopped;

/* Returns true the first time that it is found to be too old. */
static bool comes_of_age(struct rext_mr *m, u32 max_age_ms, bool *old)
{
	u64 now = rext_now_ms();
	unsigned long flags;
	bool first = false;

	spin_lock_irqsave(&m->dev->lock, flags);
	*old = rext_mr_in_use(m) && (m->flags & RDS_EXT_MR_FLAG_USE_ONCE) &&
	       now - m->mapped_at >= max_age_ms;
	if (*old && !(m->flags & RDS_EXT_MR_FLAG_AGED)) {
		m->flags |= RDS_EXT_MR_FLAG_AGED;
		first = true;
	}
	spin_unlock_irqrestore(&m->dev->lock, flags);
	return first;
}

/* Called under rcu_read_lock(). */
static void look_at(struct rext_mr *m, const struct rext_mr_settings *set)
{
	bool old;

	if (comes_of_age(m, set->max_age_ms, &old)) {
		rext_mrstats_inc(REXT_MRSTAT_AGED);
		rext_netlink_mr_event(m, RDS_EXT_CMD_MR_AGED);
	}
	if (old && set->age_revoke &&
	    rext_mr_end(m, RDS_EXT_MR_STATE_EXPIRED))
		rext_netlink_mr_event(m, RDS_EXT_CMD_MR_REVOKED);
}

static void look_around(struct work_struct *unused)
{
	struct rext_mr_settings set;
	unsigned long id = 0;
	struct rext_mr *m;

	rext_settings_mr(&set);
	/* Without an age, only whether there are any: it may be set meanwhile. */
	do {
		rcu_read_lock();
		m = rext_mrtable_next(&id);
		if (m && set.max_age_ms)
			look_at(m, &set);
		rcu_read_unlock();
		cond_resched();
	} while (m && set.max_age_ms);
	/* Found one at least: there may be more to look at next time. */
	if (id)
		rext_mrage_watch();
}

/**
 * rext_mrage_watch() - there is an MR that may become old
 *
 * Context: any.
 */
void rext_mrage_watch(void)
{
	if (!READ_ONCE(stopped))
		schedule_delayed_work(&work, HZ);
}

/**
 * rext_mrage_exit() - watch no more
 *
 * Context: process, may sleep. No MR is mapped any more.
 */
void rext_mrage_exit(void)
{
	WRITE_ONCE(stopped, true);
	cancel_delayed_work_sync(&work);
}
