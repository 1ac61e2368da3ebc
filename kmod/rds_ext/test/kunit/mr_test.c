// SPDX-License-Identifier: GPL-2.0
/*
 * The life of MRs: how they come to be, end, and go.
 */
#include <linux/completion.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "rds.h"
#include "ib.h"

#include "engine.h"
#include "mr.h"
#include "mrage.h"
#include "mrdev.h"
#include "mrstats.h"
#include "mrtable.h"
#include "outside.h"
#include "suites.h"
#include "verbs.h"

#define STATE(name)	RDS_EXT_MR_STATE_##name

static struct rext_mr *get(struct kunit *test, unsigned int first,
			   unsigned int n, bool use_once)
{
	struct rext_mr *m = engine_get(test, first, n, use_once);

	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(m));
	return m;
}

static bool findable(struct rext_mr *m, const struct rds_sock *rs, u32 key)
{
	bool found;

	rcu_read_lock();
	found = rext_mrtable_of_socket(rs, key) == m;
	rcu_read_unlock();
	return found;
}

/* An MR is found by its key; freed, its pages are unpinned, and were dirtied. */
static void mapped_and_freed(struct kunit *test)
{
	struct engine *e = test->priv;
	struct rext_mr *m = get(test, 0, 3, false);
	struct rext_mrdev *dev = engine_dev(test);
	u64 freed = engine_ended(STATE(FREED));
	u32 key = m->key;

	KUNIT_EXPECT_TRUE(test, m->valid);
	KUNIT_EXPECT_EQ(test, m->state, STATE(MAPPED));
	KUNIT_EXPECT_TRUE(test, findable(m, e->rs, key));
	KUNIT_EXPECT_TRUE(test, engine_pinned(test, 0, 3));
	KUNIT_EXPECT_EQ(test, dev->gauge.pinned, 3);
	KUNIT_EXPECT_EQ(test, dev->gauge.in_use, 1);
	rext_mr_free(m);
	engine_settle(test);
	KUNIT_EXPECT_FALSE(test, engine_pinned(test, 0, 3));
	KUNIT_EXPECT_TRUE(test, PageDirty(e->pages[0]));
	KUNIT_EXPECT_FALSE(test, findable(m, e->rs, key));
	KUNIT_EXPECT_EQ(test, engine_ended(STATE(FREED)), freed + 1);
}

/* An MR of the device is used again, and each time under another key. */
static void used_again(struct kunit *test)
{
	struct rext_mrdev *dev;
	u32 last = 0;
	int i;

	for (i = 0; i < 20; i++) {
		struct rext_mr *m = get(test, 0, 1, true);

		KUNIT_EXPECT_NE(test, m->key, last);
		last = m->key;
		rext_mr_free(m);
		engine_settle(test);
	}
	dev = engine_dev(test);
	KUNIT_EXPECT_EQ(test, dev->count.allocated, 1);
	KUNIT_EXPECT_EQ(test, dev->count.registrations, 20);
	KUNIT_EXPECT_EQ(test, dev->count.local_inv, 20);
}

/* Whatever comes first ends an MR, and what comes later changes nothing. */
static void ends_once(struct kunit *test)
{
	struct rext_mr *m = get(test, 0, 1, true);
	u64 orphaned = engine_ended(STATE(ORPHANED));
	u64 freed = engine_ended(STATE(FREED));
	u64 revoked = engine_ended(STATE(REVOKED));

	rext_mr_orphaned(m);
	KUNIT_EXPECT_FALSE(test, rext_mr_end(m, STATE(REVOKED)));
	rext_mr_freed(m);
	rext_mrdev_flush();
	KUNIT_EXPECT_EQ(test, m->state, STATE(ORPHANED));
	KUNIT_EXPECT_FALSE(test, m->valid);
	KUNIT_EXPECT_FALSE(test, engine_pinned(test, 0, 1));
	rext_mr_free(m);
	engine_settle(test);
	KUNIT_EXPECT_EQ(test, engine_ended(STATE(ORPHANED)), orphaned + 1);
	KUNIT_EXPECT_EQ(test, engine_ended(STATE(FREED)), freed);
	KUNIT_EXPECT_EQ(test, engine_ended(STATE(REVOKED)), revoked);
}

/*
 * Revoked, an MR is unpinned while its owner still has it; its key stays taken
 * until that frees it.
 */
static void shell(struct kunit *test)
{
	struct engine *e = test->priv;
	struct rext_mr *m = get(test, 0, 1, false);
	struct rext_mrdev *dev = engine_dev(test);
	struct rext_mr *other;
	u32 key = m->key;

	KUNIT_EXPECT_TRUE(test, rext_mr_end(m, STATE(REVOKED)));
	rext_mrdev_flush();
	KUNIT_EXPECT_FALSE(test, engine_pinned(test, 0, 1));
	KUNIT_EXPECT_TRUE(test, findable(m, e->rs, key));
	KUNIT_EXPECT_EQ(test, dev->gauge.free, 0);
	other = get(test, 1, 1, false);
	KUNIT_EXPECT_NE(test, other->key >> 8, key >> 8);
	rext_mr_free(m);
	KUNIT_EXPECT_FALSE(test, findable(m, e->rs, key));
	KUNIT_EXPECT_EQ(test, dev->gauge.free, 1);
	rext_mr_free(other);
	engine_settle(test);
}

/* A failed sendmsg() ends what it has mapped. */
static void unsent(struct kunit *test)
{
	struct engine *e = test->priv;
	struct rext_mr *m = get(test, 0, 1, true);

	rcu_read_lock();
	rext_mr_unsent(e->rs, m->key ^ 1);
	KUNIT_EXPECT_EQ(test, m->state, STATE(MAPPED));
	rext_mr_unsent(e->rs, m->key);
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, m->state, STATE(UNSENT));
	rext_mr_free(m);
	engine_settle(test);
}

/* Ends of more MRs than a chain has are chained, and all are brought about. */
static void many_ends(struct kunit *test)
{
	struct rext_mr *m[REXT_PROXY_CHAIN + 5];
	struct rext_mrdev *dev;
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(m); i++)
		m[i] = get(test, i, 1, false);
	dev = engine_dev(test);
	/* All at once, so that the worker finds all of them. */
	spin_lock_irqsave(&dev->lock, flags);
	for (i = 0; i < ARRAY_SIZE(m); i++)
		KUNIT_EXPECT_TRUE(test, rext_mr_end_locked(m[i],
							   STATE(REVOKED)));
	spin_unlock_irqrestore(&dev->lock, flags);
	rext_mrdev_flush();
	KUNIT_EXPECT_FALSE(test, engine_pinned(test, 0, ARRAY_SIZE(m)));
	KUNIT_EXPECT_EQ(test, dev->count.local_inv, ARRAY_SIZE(m));
	KUNIT_EXPECT_EQ(test, dev->count.chains, 2);
	for (i = 0; i < ARRAY_SIZE(m); i++)
		rext_mr_free(m[i]);
	engine_settle(test);
}

/* The pool grows to its limit, and says so; a limit that is lowered shrinks it. */
static void pool_limit(struct kunit *test)
{
	struct engine *e = test->priv;
	struct rext_mr_settings set = e->settings;
	struct rext_mr *m[REXT_POOL_MAX_MIN + 1];
	struct rext_mrdev *dev;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(m); i++)
		m[i] = get(test, i, 1, false);
	dev = engine_dev(test);
	for (i = 0; i < ARRAY_SIZE(m); i++)
		rext_mr_free(m[i]);
	engine_settle(test);
	KUNIT_EXPECT_EQ(test, dev->gauge.mrs, ARRAY_SIZE(m));

	set.pool_max = REXT_POOL_MAX_MIN;
	rext_settings_set_mr(&set);
	rext_mrdev_trim();
	engine_settle(test);
	KUNIT_EXPECT_EQ(test, dev->gauge.mrs, REXT_POOL_MAX_MIN);
	for (i = 0; i < REXT_POOL_MAX_MIN; i++)
		m[i] = get(test, i, 1, false);
	KUNIT_EXPECT_EQ(test, PTR_ERR(engine_get(test, i, 1, false)),
			-ENOBUFS);
	KUNIT_EXPECT_FALSE(test, engine_pinned(test, i, 1));
	KUNIT_EXPECT_EQ(test, dev->count.exhausted, 1);
	rext_mr_free(m[0]);
	/* Waits for what is on its way back. */
	m[0] = get(test, 0, 1, false);
	for (i = 0; i < REXT_POOL_MAX_MIN; i++)
		rext_mr_free(m[i]);
	engine_settle(test);
}

/* A full pool gives up a free MR of one size for one of the other. */
static void pool_sizes(struct kunit *test)
{
	struct engine *e = test->priv;
	struct rext_mr_settings set = e->settings;
	struct rext_mr *m[REXT_POOL_MAX_MIN];
	struct rext_mr *large;
	unsigned int i;

	set.pool_max = REXT_POOL_MAX_MIN;
	rext_settings_set_mr(&set);
	for (i = 0; i < ARRAY_SIZE(m); i++)
		m[i] = get(test, i, 1, false);
	rext_mr_free(m[0]);
	rext_mrdev_flush();
	large = get(test, ARRAY_SIZE(m), REXT_SMALL_PAGES + 1, false);
	KUNIT_EXPECT_EQ(test, large->slot->size, REXT_LARGE);
	KUNIT_EXPECT_EQ(test, engine_dev(test)->gauge.mrs, REXT_POOL_MAX_MIN);
	for (i = 1; i < ARRAY_SIZE(m); i++)
		rext_mr_free(m[i]);
	rext_mr_free(large);
	engine_settle(test);
}

/* Where a limit of the socket refuses an MR, nothing of it is left. */
static void refused(struct kunit *test)
{
	struct engine *e = test->priv;
	struct rext_mr_settings set = e->settings;
	u64 failed = rext_mrstats_read(REXT_MRSTAT_FAILED);
	struct rext_mr *m;

	set.sock_max = 1;
	rext_settings_set_mr(&set);
	m = get(test, 0, 1, false);
	KUNIT_EXPECT_EQ(test, PTR_ERR(engine_get(test, 1, 1, false)),
			-ENOBUFS);
	KUNIT_EXPECT_EQ(test, rext_mrstats_read(REXT_MRSTAT_FAILED),
			failed + 1);
	rext_mr_free(m);
	engine_settle(test);
	m = get(test, 1, 1, false);
	rext_mr_free(m);
	engine_settle(test);
}

/* Switched off, the engine leaves MRs to net/rds. */
static void switched_off(struct kunit *test)
{
	struct engine *e = test->priv;
	struct rext_mr_settings set = e->settings;

	set.engine = false;
	rext_settings_set_mr(&set);
	KUNIT_EXPECT_PTR_EQ(test, engine_get(test, 0, 1, false),
			    (struct rext_mr *)NULL);
}

/* An address that belongs to no device has none. */
static void no_device(struct kunit *test)
{
	struct engine *e = test->priv;

	e->rs->rs_bound_addr_v4 = htonl(0xc0000201);	/* 192.0.2.1 */
	KUNIT_EXPECT_EQ(test, PTR_ERR(engine_get(test, 0, 1, false)), -ENODEV);
}

/*
 * A registration that is hit when the queue pair breaks is tried again with
 * another MR; the one that it has cost is deallocated and counted.
 */
static void registration_hit(struct kunit *test)
{
	struct rext_mr *m = get(test, 0, 1, false);
	struct rext_mrdev *dev = engine_dev(test);
	struct rext_mr *other;

	KUNIT_ASSERT_TRUE(test, verbs_break(&dev->proxy));
	other = get(test, 1, 1, false);
	KUNIT_EXPECT_EQ(test, dev->count.stale, 1);
	KUNIT_EXPECT_EQ(test, dev->proxy.recoveries, 1);
	KUNIT_EXPECT_EQ(test, dev->gauge.mrs, 2);
	rext_mr_free(m);
	rext_mr_free(other);
	engine_settle(test);
	KUNIT_EXPECT_EQ(test, dev->proxy.recoveries, 1);
}

/* An MR whose invalidation is hit ends like any other; its slot goes. */
static void invalidation_hit(struct kunit *test)
{
	struct rext_mr *m = get(test, 0, 1, false);
	struct rext_mr *other = get(test, 1, 1, false);
	struct rext_mrdev *dev = engine_dev(test);

	KUNIT_ASSERT_TRUE(test, verbs_break(&dev->proxy));
	rext_mr_free(m);
	rext_mrdev_flush();
	KUNIT_EXPECT_FALSE(test, engine_pinned(test, 0, 1));
	KUNIT_EXPECT_EQ(test, dev->count.stale, 1);
	KUNIT_EXPECT_EQ(test, dev->gauge.mrs, 1);
	KUNIT_ASSERT_TRUE(test, verbs_recovered(&dev->proxy, 1));
	/* What was not under way is not touched. */
	KUNIT_EXPECT_TRUE(test, other->valid);
	rext_mr_free(other);
	engine_settle(test);
	KUNIT_EXPECT_EQ(test, dev->count.stale, 1);
}

/*
 * The device goes: its MRs end, and leave shells with those that hold them.
 * Nothing more is registered, and nothing of the device is held.
 */
static void device_goes(struct kunit *test)
{
	struct engine *e = test->priv;
	struct rext_mr *m = get(test, 0, 2, false);
	struct rext_mr *done = get(test, 2, 1, false);
	u64 before = engine_ended(STATE(DEVICE_REMOVED));
	u32 key = m->key;

	rext_mr_free(done);
	rext_mrdev_removed(e->ibdev);
	KUNIT_EXPECT_FALSE(test, engine_pinned(test, 0, 3));
	KUNIT_EXPECT_EQ(test, refcount_read(&e->ibdev->refcount), 1);
	KUNIT_EXPECT_EQ(test, engine_ended(STATE(DEVICE_REMOVED)), before + 1);
	KUNIT_EXPECT_EQ(test, m->state, STATE(DEVICE_REMOVED));
	KUNIT_EXPECT_TRUE(test, findable(m, e->rs, key));
	KUNIT_EXPECT_PTR_EQ(test, m->slot, (struct rext_slot *)NULL);
	/* One that comes back is another. */
	done = get(test, 2, 1, false);
	KUNIT_EXPECT_PTR_NE(test, done->dev, m->dev);
	rext_mr_free(done);
	rext_mr_free(m);
	engine_settle(test);
}

/* A use-once MR that nobody has used for too long is told of, and revoked. */
static void comes_of_age(struct kunit *test)
{
	struct engine *e = test->priv;
	struct rext_mr_settings set = e->settings;
	u64 aged = rext_mrstats_read(REXT_MRSTAT_AGED);
	struct rext_mr *m, *old;

	set.max_age_ms = 1;
	set.age_revoke = true;
	rext_settings_set_mr(&set);
	m = get(test, 0, 1, false);
	old = get(test, 1, 1, true);
	KUNIT_ASSERT_NE(test, 0, wait_for_completion_timeout(&outside.event,
							     30 * HZ));
	KUNIT_ASSERT_NE(test, 0, wait_for_completion_timeout(&outside.event,
							     30 * HZ));
	KUNIT_EXPECT_EQ(test, outside.cmd, RDS_EXT_CMD_MR_REVOKED);
	KUNIT_EXPECT_EQ(test, old->state, STATE(EXPIRED));
	KUNIT_EXPECT_EQ(test, m->state, STATE(MAPPED));
	KUNIT_EXPECT_EQ(test, rext_mrstats_read(REXT_MRSTAT_AGED), aged + 1);
	rext_mr_free(m);
	rext_mr_free(old);
	engine_settle(test);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(mapped_and_freed),
	KUNIT_CASE(used_again),
	KUNIT_CASE(ends_once),
	KUNIT_CASE(shell),
	KUNIT_CASE(unsent),
	KUNIT_CASE(many_ends),
	KUNIT_CASE(pool_limit),
	KUNIT_CASE(pool_sizes),
	KUNIT_CASE(refused),
	KUNIT_CASE(switched_off),
	KUNIT_CASE(no_device),
	KUNIT_CASE(registration_hit),
	KUNIT_CASE(invalidation_hit),
	KUNIT_CASE(device_goes),
	KUNIT_CASE(comes_of_age),
	{ }
};

struct kunit_suite rext_mr_suite = {
	.name = "rds_ext_mr",
	.init = engine_init,
	.exit = engine_exit,
	.test_cases = cases,
};
