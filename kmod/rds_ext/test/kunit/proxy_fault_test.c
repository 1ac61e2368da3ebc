// SPDX-License-Identifier: GPL-2.0
/*
 * The proxy on a device that refuses work requests, holds them back, forgets
 * them, or makes no queue pairs.
 */
#include <linux/jiffies.h>

#include "regions.h"
#include "suites.h"
#include "verbs.h"

/* Waits until the device holds @n chains back. */
static bool held(unsigned int n)
{
	return wait_event_timeout(verbs.wait, READ_ONCE(verbs.held) >= n,
				  30 * HZ);
}

/* Has an MR registered by somebody else, and held back. */
static struct region *register_held(struct kunit *test)
{
	struct regions *all = test->priv;
	struct region *r = region_make(test, region_work);
	unsigned int n = READ_ONCE(verbs.held);

	WRITE_ONCE(verbs.post, VERBS_HOLD);
	queue_work(all->wq, &r->work);
	KUNIT_ASSERT_TRUE(test, held(n + 1));
	return r;
}

/* A work request that the device refuses costs the MR and the queue pair. */
static void refused(struct kunit *test)
{
	struct region *r = region_make(test, region_work);

	WRITE_ONCE(verbs.post, VERBS_REFUSE);
	KUNIT_EXPECT_LT(test, region_register(r), 0);
	KUNIT_EXPECT_TRUE(test, r->stale);
	WRITE_ONCE(verbs.post, VERBS_POST);
	region_recovers(test, r);
}

/*
 * Of a chain that was taken in to a part, nobody hears: what comes back must
 * not come before the queue pair has gone, which may still write to it.
 */
static void refused_in_part(struct kunit *test)
{
	struct regions *all = test->priv;
	struct region *r = region_make(test, region_work);
	struct region *other = region_make(test, region_work);
	struct rext_proxy_op *ops[] = { &r->op, &other->op };
	unsigned int epoch = all->proxy.epoch;
	u32 keys[2];

	KUNIT_ASSERT_EQ(test, region_register(r), 0);
	KUNIT_ASSERT_EQ(test, region_register(other), 0);
	keys[0] = r->mr->rkey;
	keys[1] = other->mr->rkey;
	WRITE_ONCE(verbs.post, VERBS_PART);
	KUNIT_EXPECT_LT(test, rext_proxy_invalidate(&all->proxy, ops, keys, 2),
			0);
	KUNIT_EXPECT_NE(test, READ_ONCE(all->proxy.epoch), epoch);
	WRITE_ONCE(verbs.post, VERBS_POST);
	region_recovers(test, r);
}

/* What is in flight when the queue pair breaks comes back as stale. */
static void broken_in_flight(struct kunit *test)
{
	struct regions *all = test->priv;
	struct region *r[8];
	unsigned int room = all->proxy.room;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(r); i++)
		r[i] = register_held(test);
	KUNIT_EXPECT_EQ(test, all->proxy.room, room - ARRAY_SIZE(r));
	KUNIT_ASSERT_TRUE(test, verbs_break(&all->proxy));
	verbs_release(&all->proxy);
	flush_workqueue(all->wq);
	for (i = 0; i < ARRAY_SIZE(r); i++) {
		KUNIT_EXPECT_EQ(test, r[i]->ret, -EIO);
		KUNIT_EXPECT_TRUE(test, r[i]->stale);
	}
	KUNIT_ASSERT_TRUE(test, verbs_recovered(&all->proxy, 1));
	KUNIT_EXPECT_EQ(test, all->proxy.room, room);
	KUNIT_EXPECT_EQ(test, all->proxy.recoveries, 1);
}

/* An operation that the device forgets comes back with the queue pair. */
static void forgotten(struct kunit *test)
{
	struct regions *all = test->priv;
	struct region *lost = register_held(test);
	struct region *r = region_make(test, region_work);

	verbs_forget();
	KUNIT_ASSERT_TRUE(test, verbs_break(&all->proxy));
	KUNIT_EXPECT_EQ(test, region_register(r), -EIO);
	flush_workqueue(all->wq);
	KUNIT_EXPECT_EQ(test, lost->ret, -EIO);
	KUNIT_EXPECT_TRUE(test, lost->stale);
	region_recovers(test, r);
}

/*
 * However many register, the longest chain has room at once, and those that
 * had none go on as soon as the others are done.
 */
static void room_for_chains(struct kunit *test)
{
	struct regions *all = test->priv;
	struct region *valid[REXT_PROXY_CHAIN];
	struct rext_proxy_op *ops[REXT_PROXY_CHAIN];
	u32 keys[REXT_PROXY_CHAIN];
	unsigned int most = all->proxy.room - REXT_PROXY_CHAIN;
	struct region *r[10];
	struct region *any;
	unsigned int i;

	for (i = 0; i < REXT_PROXY_CHAIN; i++) {
		valid[i] = region_make(test, region_work);
		KUNIT_ASSERT_EQ(test, region_register(valid[i]), 0);
		ops[i] = &valid[i]->op;
		keys[i] = valid[i]->mr->rkey;
	}
	WRITE_ONCE(verbs.post, VERBS_HOLD);
	for (i = 0; i < most; i++)
		queue_work(all->wq, &region_make(test, region_work)->work);
	KUNIT_ASSERT_TRUE(test, held(most));
	for (i = 0; i < ARRAY_SIZE(r); i++) {
		r[i] = region_make(test, region_work);
		queue_work(all->wq, &r[i]->work);
	}
	KUNIT_EXPECT_EQ(test, all->proxy.room, REXT_PROXY_CHAIN);

	WRITE_ONCE(verbs.post, VERBS_POST);
	KUNIT_EXPECT_EQ(test,
			rext_proxy_invalidate(&all->proxy, ops, keys,
					      REXT_PROXY_CHAIN), 0);
	/* No registration has taken the place of one that is held back. */
	KUNIT_EXPECT_EQ(test, READ_ONCE(verbs.held), most);
	verbs_release(&all->proxy);
	flush_workqueue(all->wq);
	/* On a machine that is slow, these may have waited in vain. */
	for (i = 0; i < ARRAY_SIZE(r); i++) {
		KUNIT_EXPECT_FALSE(test, r[i]->stale);
		if (r[i]->ret == -EAGAIN)
			r[i]->ret = 0;
	}
	list_for_each_entry(any, &all->list, node)
		KUNIT_EXPECT_EQ(test, any->ret, 0);
	KUNIT_EXPECT_EQ(test, all->proxy.recoveries, 0);
}

/*
 * While no queue pair can be made, operations fail soon, say what to do, and
 * have not touched their MR. When one can be made again, all is well.
 */
static void no_new_qp(struct kunit *test)
{
	struct regions *all = test->priv;
	struct region *r = region_make(test, region_work);
	struct region *other = region_make(test, region_work);
	unsigned long begin;

	WRITE_ONCE(verbs.no_qp, true);
	KUNIT_ASSERT_TRUE(test, verbs_break(&all->proxy));
	KUNIT_EXPECT_EQ(test, region_register(r), -EIO);
	KUNIT_ASSERT_TRUE(test, wait_event_timeout(all->proxy.wait,
						   READ_ONCE(all->proxy.failing),
						   30 * HZ));
	begin = jiffies;
	KUNIT_EXPECT_EQ(test, region_register(other), -EAGAIN);
	KUNIT_EXPECT_FALSE(test, other->stale);
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, begin + 4 * HZ));
	KUNIT_EXPECT_EQ(test, all->proxy.recoveries, 0);

	verbs_let_qp();
	KUNIT_ASSERT_TRUE(test, verbs_recovered(&all->proxy, 1));
	KUNIT_EXPECT_EQ(test, region_register(other), 0);
}

/* A proxy that has no queue pair can be taken down, too. */
static void taken_down_without_qp(struct kunit *test)
{
	struct regions *all = test->priv;
	struct region *r = region_make(test, region_work);

	WRITE_ONCE(verbs.no_qp, true);
	KUNIT_ASSERT_TRUE(test, verbs_break(&all->proxy));
	KUNIT_EXPECT_EQ(test, region_register(r), -EIO);
	KUNIT_ASSERT_TRUE(test, wait_event_timeout(all->proxy.wait,
						   READ_ONCE(all->proxy.failing),
						   30 * HZ));
	all->up = false;
	rext_proxy_exit(&all->proxy);
	KUNIT_EXPECT_EQ(test, region_register(r), -ENODEV);
}

static void take_down(struct work_struct *work)
{
	struct region *r = container_of(work, struct region, work);

	rext_proxy_exit(&r->all->proxy);
}

/*
 * Taken down while its queue pair is being replaced, the proxy lets nothing
 * begin on the new one.
 */
static void taken_down_recovering(struct kunit *test)
{
	struct regions *all = test->priv;
	struct region *r = region_make(test, region_work);
	struct region *end = region_make(test, take_down);

	WRITE_ONCE(verbs.hold_qp, true);
	KUNIT_ASSERT_TRUE(test, verbs_break(&all->proxy));
	KUNIT_EXPECT_EQ(test, region_register(r), -EIO);
	KUNIT_ASSERT_TRUE(test, wait_event_timeout(verbs.wait,
						   READ_ONCE(verbs.qp_held),
						   30 * HZ));
	all->up = false;
	queue_work(all->wq, &end->work);
	KUNIT_ASSERT_TRUE(test, wait_event_timeout(all->proxy.wait,
						   READ_ONCE(all->proxy.closed),
						   30 * HZ));
	verbs_let_qp();
	flush_workqueue(all->wq);
	/* Else what follows would post to a queue pair that is gone. */
	KUNIT_ASSERT_TRUE(test, all->proxy.broken);
	KUNIT_EXPECT_EQ(test, region_register(r), -ENODEV);
	KUNIT_EXPECT_FALSE(test, r->stale);
}

/* Taking the proxy down waits for nothing that the device has forgotten. */
static void taken_down_in_flight(struct kunit *test)
{
	struct regions *all = test->priv;
	struct region *r = register_held(test);

	verbs_forget();
	all->up = false;
	rext_proxy_exit(&all->proxy);
	flush_workqueue(all->wq);
	KUNIT_EXPECT_EQ(test, r->ret, -EIO);
	KUNIT_EXPECT_TRUE(test, r->stale);
}

/* Where the device makes no queue pair at all, setting up fails and is undone. */
static void not_set_up(struct kunit *test)
{
	struct rext_proxy *proxy;

	proxy = kunit_kzalloc(test, sizeof(*proxy), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, proxy);
	WRITE_ONCE(verbs.no_qp, true);
	KUNIT_EXPECT_EQ(test, rext_proxy_init(proxy, verbs.device, verbs.pd),
			-ENOMEM);
	verbs_let_qp();
	KUNIT_ASSERT_EQ(test, rext_proxy_init(proxy, verbs.device, verbs.pd),
			0);
	rext_proxy_exit(proxy);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(refused),
	KUNIT_CASE(refused_in_part),
	KUNIT_CASE(broken_in_flight),
	KUNIT_CASE(forgotten),
	KUNIT_CASE(room_for_chains),
	KUNIT_CASE(no_new_qp),
	KUNIT_CASE(taken_down_without_qp),
	KUNIT_CASE(taken_down_recovering),
	KUNIT_CASE(taken_down_in_flight),
	KUNIT_CASE(not_set_up),
	{ }
};

struct kunit_suite rext_proxy_fault_suite = {
	.name = "rds_ext_proxy_fault",
	.init = regions_init,
	.exit = regions_exit,
	.test_cases = cases,
};
