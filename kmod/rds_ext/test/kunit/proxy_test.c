// SPDX-License-Identifier: GPL-2.0
/*
 * The proxy on a device that works, and whose queue pairs break.
 */
#include <linux/cpumask.h>
#include <linux/slab.h>

#include "regions.h"
#include "suites.h"
#include "verbs.h"

/* An MR can be registered and invalidated as often as one likes. */
static void in_turn(struct kunit *test)
{
	struct regions *all = test->priv;
	struct region *r = region_make(test, region_work);
	int i;

	/* More often than there are places in the queue, and keys. */
	for (i = 0; i < 300; i++) {
		KUNIT_ASSERT_EQ(test, region_register(r), 0);
		KUNIT_ASSERT_FALSE(test, r->stale);
		KUNIT_ASSERT_EQ(test, region_invalidate(r), 0);
	}
	KUNIT_EXPECT_EQ(test, all->proxy.recoveries, 0);
}

/* A key that is valid cannot be registered, so the tests below can tell. */
static void valid_twice(struct kunit *test)
{
	struct regions *all = test->priv;
	struct region *r = region_make(test, region_work);

	KUNIT_ASSERT_EQ(test, region_register(r), 0);
	KUNIT_EXPECT_EQ(test, region_register(r), -EIO);
	KUNIT_EXPECT_TRUE(test, r->stale);
	region_recovers(test, r);
	KUNIT_EXPECT_EQ(test, all->proxy.recoveries, 1);
}

static int invalidate_all(struct kunit *test, struct region **r,
			  unsigned int n, u32 flaw)
{
	struct regions *all = test->priv;
	struct rext_proxy_op *ops[REXT_PROXY_CHAIN];
	u32 keys[REXT_PROXY_CHAIN];
	unsigned int i;

	for (i = 0; i < n; i++) {
		ops[i] = &r[i]->op;
		keys[i] = r[i]->mr->rkey;
	}
	/* In the middle, so that some come before it and some behind. */
	keys[n / 2] ^= flaw;
	return rext_proxy_invalidate(&all->proxy, ops, keys, n);
}

/* A chain of any length invalidates all its keys, and gives its places back. */
static void chains(struct kunit *test)
{
	struct regions *all = test->priv;
	struct region *r[REXT_PROXY_CHAIN];
	unsigned int room = all->proxy.room;
	unsigned int i, n;

	for (n = 0; n < REXT_PROXY_CHAIN; n++)
		r[n] = region_make(test, region_work);
	for (n = 1; n <= REXT_PROXY_CHAIN; n++) {
		for (i = 0; i < n; i++)
			KUNIT_ASSERT_EQ(test, region_register(r[i]), 0);
		KUNIT_ASSERT_EQ(test, invalidate_all(test, r, n, 0), 0);
		KUNIT_EXPECT_EQ(test, all->proxy.room, room);
	}
	/* All are free, also those of the last chain. */
	for (i = 0; i < REXT_PROXY_CHAIN; i++)
		KUNIT_EXPECT_EQ(test, region_register(r[i]), 0);
	KUNIT_EXPECT_EQ(test, all->proxy.recoveries, 0);
}

/* One wrong key in a chain fails the chain, and the queue pair is replaced. */
static void chain_fails(struct kunit *test)
{
	struct regions *all = test->priv;
	struct region *r[5];
	unsigned int room = all->proxy.room;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(r); i++) {
		r[i] = region_make(test, region_work);
		KUNIT_ASSERT_EQ(test, region_register(r[i]), 0);
	}
	KUNIT_EXPECT_EQ(test, invalidate_all(test, r, ARRAY_SIZE(r), ~0xffU),
			-EIO);
	KUNIT_ASSERT_TRUE(test, verbs_recovered(&all->proxy, 1));
	for (i = 0; i < ARRAY_SIZE(r); i++) {
		KUNIT_ASSERT_EQ(test, region_replace(r[i]), 0);
		KUNIT_ASSERT_EQ(test, region_register(r[i]), 0);
	}
	KUNIT_EXPECT_EQ(test, invalidate_all(test, r, ARRAY_SIZE(r), 0), 0);
	KUNIT_EXPECT_EQ(test, all->proxy.room, room);
	KUNIT_EXPECT_EQ(test, all->proxy.recoveries, 1);
}

/*
 * That a queue pair has broken while it had nothing to do is found out by the
 * next operation, which fails; the one behind it does not.
 */
static void breaks_idle(struct kunit *test)
{
	struct regions *all = test->priv;
	struct region *r = region_make(test, region_work);
	struct region *other = region_make(test, region_work);

	KUNIT_ASSERT_EQ(test, region_register(other), 0);
	KUNIT_ASSERT_TRUE(test, verbs_break(&all->proxy));
	KUNIT_EXPECT_EQ(test, region_register(r), -EIO);
	KUNIT_EXPECT_TRUE(test, r->stale);
	/* At once: it waits for the new queue pair. */
	KUNIT_EXPECT_EQ(test, region_invalidate(other), 0);
	KUNIT_ASSERT_EQ(test, region_replace(r), 0);
	KUNIT_EXPECT_EQ(test, region_register(r), 0);
	KUNIT_EXPECT_EQ(test, all->proxy.recoveries, 1);
}

/* Registers and invalidates until it is told to stop or the proxy is gone. */
static void go_round(struct work_struct *work)
{
	struct region *r = container_of(work, struct region, work);
	struct regions *all = r->all;
	bool valid = false;
	int ret = 0;

	while (!READ_ONCE(all->stop)) {
		if (valid) {
			ret = region_invalidate(r);
			r->stale = true;
		} else {
			ret = region_register(r);
		}
		valid = !valid && !ret;
		if (ret == -ENODEV)
			break;
		if (ret && ret != -EIO && ret != -EAGAIN)
			atomic_inc(&all->odd);
		/*
		 * What is not said to be stale is used again: were it valid,
		 * registering it would break a queue pair that nobody broke.
		 */
		if (ret && r->stale) {
			atomic_inc(&all->stale);
			if (region_replace(r))
				atomic_inc(&all->odd);
		}
		atomic_inc(&all->rounds);
		wake_up_all(&verbs.wait);
	}
	r->ret = ret;
}

/* Has several MRs go round, and waits until all that takes off. */
static void start_rounds(struct kunit *test, unsigned int n)
{
	struct regions *all = test->priv;
	struct region *r;

	while (n--) {
		r = region_make(test, go_round);
		queue_work(all->wq, &r->work);
	}
}

static bool more_rounds(struct regions *all, int more)
{
	int from = atomic_read(&all->rounds);

	return wait_event_timeout(verbs.wait,
				  atomic_read(&all->rounds) - from >= more,
				  30 * HZ);
}

/*
 * Queue pairs break under load. Each is replaced, and no other is: what was
 * under way is either said to be stale, or it has not been executed.
 */
static void breaks_busy(struct kunit *test)
{
	struct regions *all = test->priv;
	struct region *r;
	u64 i;

	start_rounds(test, 6);
	for (i = 1; i <= 20; i++) {
		KUNIT_ASSERT_TRUE(test, more_rounds(all, 30));
		KUNIT_ASSERT_TRUE(test, verbs_break(&all->proxy));
		KUNIT_ASSERT_TRUE(test, verbs_recovered(&all->proxy, i));
	}
	KUNIT_ASSERT_TRUE(test, more_rounds(all, 30));
	WRITE_ONCE(all->stop, true);
	flush_workqueue(all->wq);
	KUNIT_EXPECT_EQ(test, all->proxy.recoveries, 20);
	KUNIT_EXPECT_GE(test, atomic_read(&all->stale), 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&all->odd), 0);
	list_for_each_entry(r, &all->list, node)
		KUNIT_EXPECT_EQ(test, r->ret, 0);
}

static void take_down_busy(struct kunit *test, bool broken)
{
	struct regions *all = test->priv;
	struct region *r;

	start_rounds(test, 6);
	KUNIT_ASSERT_TRUE(test, more_rounds(all, 30));
	if (broken)
		KUNIT_ASSERT_TRUE(test, verbs_break(&all->proxy));
	all->up = false;
	rext_proxy_exit(&all->proxy);
	flush_workqueue(all->wq);
	/* They have ended since there is no proxy, and not been told to. */
	list_for_each_entry(r, &all->list, node)
		KUNIT_EXPECT_EQ(test, r->ret, -ENODEV);
	KUNIT_EXPECT_EQ(test, atomic_read(&all->odd), 0);
}

/* Taking the proxy down ends what is under way, and lets nothing begin. */
static void taken_down_busy(struct kunit *test)
{
	take_down_busy(test, false);
}

/* Also where its queue pair has broken, and perhaps is being replaced. */
static void taken_down_broken(struct kunit *test)
{
	take_down_busy(test, true);
}

/* A proxy that was taken down refuses all, and touches no MR. */
static void taken_down(struct kunit *test)
{
	struct regions *all = test->priv;
	struct region *r = region_make(test, region_work);
	struct region *valid = region_make(test, region_work);

	KUNIT_ASSERT_EQ(test, region_register(valid), 0);
	all->up = false;
	rext_proxy_exit(&all->proxy);
	KUNIT_EXPECT_EQ(test, region_register(r), -ENODEV);
	KUNIT_EXPECT_FALSE(test, r->stale);
	KUNIT_EXPECT_EQ(test, region_invalidate(valid), -ENODEV);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(in_turn),
	KUNIT_CASE(valid_twice),
	KUNIT_CASE(chains),
	KUNIT_CASE(chain_fails),
	KUNIT_CASE(breaks_idle),
	KUNIT_CASE(breaks_busy),
	KUNIT_CASE(taken_down_busy),
	KUNIT_CASE(taken_down_broken),
	KUNIT_CASE(taken_down),
	{ }
};

struct kunit_suite rext_proxy_suite = {
	.name = "rds_ext_proxy",
	.init = regions_init,
	.exit = regions_exit,
	.test_cases = cases,
};
