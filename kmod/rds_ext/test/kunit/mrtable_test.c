// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of MRs. Sockets and devices are pointers to compare here.
 */
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "mr.h"
#include "mrdev.h"
#include "mrtable.h"
#include "suites.h"

#define MRS	3

/**
 * struct tables - what a test has
 * @dev: a device of the engine that does nothing
 * @mrs: MRs on it, in no table when the test is over
 * @things: stand for sockets and the like, never looked into
 */
struct tables {
	struct rext_mrdev dev;
	struct rext_mr mrs[MRS];
	char things[4];
};

#define SOCKET(t, i)	((const struct rds_sock *)&(t)->things[i])
#define IBDEV(t, i)	((struct rds_ib_device *)&(t)->things[2 + (i)])

/* An MR is found by its number from when it gets it until it is removed. */
static void by_number(struct kunit *test)
{
	struct tables *t = test->priv;
	u32 generation = rext_mrtable_generation();
	unsigned long id = 0;
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < MRS; i++) {
		KUNIT_EXPECT_PTR_EQ(test, rext_mrtable_next(&id),
				    i ? &t->mrs[i - 1] : NULL);
		rcu_read_unlock();
		KUNIT_ASSERT_EQ(test, rext_mrtable_number(&t->mrs[i]), 0);
		rcu_read_lock();
		KUNIT_EXPECT_NE(test, t->mrs[i].id, 0);
		KUNIT_EXPECT_PTR_EQ(test, rext_mrtable_get(t->mrs[i].id),
				    &t->mrs[i]);
		KUNIT_EXPECT_NE(test, rext_mrtable_generation(), generation);
		generation = rext_mrtable_generation();
		id = i ? t->mrs[i - 1].id : 0;
	}
	rcu_read_unlock();

	rext_mrtable_remove(&t->mrs[1]);
	KUNIT_EXPECT_NE(test, rext_mrtable_generation(), generation);
	rcu_read_lock();
	KUNIT_EXPECT_PTR_EQ(test, rext_mrtable_get(t->mrs[1].id),
			    (struct rext_mr *)NULL);
	id = t->mrs[0].id;
	KUNIT_EXPECT_PTR_EQ(test, rext_mrtable_next(&id), &t->mrs[2]);
	KUNIT_EXPECT_EQ(test, id, t->mrs[2].id);
	KUNIT_EXPECT_PTR_EQ(test, rext_mrtable_next(&id),
			    (struct rext_mr *)NULL);
	rcu_read_unlock();
	/* Numbers are not used again soon. */
	id = t->mrs[1].id;
	t->mrs[1].id = 0;
	KUNIT_ASSERT_EQ(test, rext_mrtable_number(&t->mrs[1]), 0);
	KUNIT_EXPECT_NE(test, t->mrs[1].id, id);
}

/* MRs with the same key are told apart by their socket. */
static void by_socket(struct kunit *test)
{
	struct tables *t = test->priv;

	t->mrs[0].key = 0x4711;
	t->mrs[0].rs = SOCKET(t, 0);
	t->mrs[1].key = 0x4711;
	t->mrs[1].rs = SOCKET(t, 1);
	rext_mrtable_add(&t->mrs[0]);
	rext_mrtable_add(&t->mrs[1]);
	rcu_read_lock();
	KUNIT_EXPECT_PTR_EQ(test, rext_mrtable_of_socket(SOCKET(t, 0), 0x4711),
			    &t->mrs[0]);
	KUNIT_EXPECT_PTR_EQ(test, rext_mrtable_of_socket(SOCKET(t, 1), 0x4711),
			    &t->mrs[1]);
	KUNIT_EXPECT_PTR_EQ(test, rext_mrtable_of_socket(SOCKET(t, 0), 0x4712),
			    (struct rext_mr *)NULL);
	rcu_read_unlock();
	rext_mrtable_remove(&t->mrs[0]);
	rcu_read_lock();
	KUNIT_EXPECT_PTR_EQ(test, rext_mrtable_of_socket(SOCKET(t, 0), 0x4711),
			    (struct rext_mr *)NULL);
	KUNIT_EXPECT_PTR_EQ(test, rext_mrtable_of_socket(SOCKET(t, 1), 0x4711),
			    &t->mrs[1]);
	rcu_read_unlock();
}

/* And by their device, which may have gone. */
static void by_device(struct kunit *test)
{
	struct tables *t = test->priv;

	t->dev.rds_ibdev = IBDEV(t, 0);
	t->mrs[0].key = 0x815;
	rext_mrtable_add(&t->mrs[0]);
	rcu_read_lock();
	KUNIT_EXPECT_PTR_EQ(test, rext_mrtable_of_device(IBDEV(t, 0), 0x815),
			    &t->mrs[0]);
	KUNIT_EXPECT_PTR_EQ(test, rext_mrtable_of_device(IBDEV(t, 1), 0x815),
			    (struct rext_mr *)NULL);
	t->dev.rds_ibdev = NULL;
	KUNIT_EXPECT_PTR_EQ(test, rext_mrtable_of_device(IBDEV(t, 0), 0x815),
			    (struct rext_mr *)NULL);
	rcu_read_unlock();
}

/* What is in one table, or in none, can be removed, and more than once. */
static void removed(struct kunit *test)
{
	struct tables *t = test->priv;
	u32 generation = rext_mrtable_generation();

	rext_mrtable_remove(&t->mrs[0]);
	KUNIT_EXPECT_EQ(test, rext_mrtable_generation(), generation);
	t->mrs[0].key = 1;
	t->mrs[0].rs = SOCKET(t, 0);
	rext_mrtable_add(&t->mrs[0]);
	rext_mrtable_remove(&t->mrs[0]);
	rext_mrtable_remove(&t->mrs[0]);
	rcu_read_lock();
	KUNIT_EXPECT_PTR_EQ(test, rext_mrtable_of_socket(SOCKET(t, 0), 1),
			    (struct rext_mr *)NULL);
	rcu_read_unlock();
}

/* An MR is shown in the network namespace of its socket, and in no other. */
static void shown(struct kunit *test)
{
	struct tables *t = test->priv;
	const struct net *other = (const struct net *)&t->things[0];
	struct rext_mr_info info = { };
	unsigned long id = 0;
	unsigned int i;

	for (i = 0; i < MRS; i++) {
		t->mrs[i].net = i == 1 ? other : &init_net;
		t->mrs[i].length = 1000 + i;
		KUNIT_ASSERT_EQ(test, rext_mrtable_number(&t->mrs[i]), 0);
	}
	KUNIT_EXPECT_TRUE(test, rext_mrtable_show(&init_net, t->mrs[0].id,
						  &info));
	KUNIT_EXPECT_EQ(test, info.id, t->mrs[0].id);
	KUNIT_EXPECT_EQ(test, info.length, 1000);
	KUNIT_EXPECT_FALSE(test, rext_mrtable_show(&init_net, t->mrs[1].id,
						   &info));
	KUNIT_EXPECT_TRUE(test, rext_mrtable_show(other, t->mrs[1].id, &info));

	KUNIT_EXPECT_TRUE(test, rext_mrtable_show_next(&init_net, &id, &info));
	KUNIT_EXPECT_EQ(test, info.length, 1000);
	KUNIT_EXPECT_TRUE(test, rext_mrtable_show_next(&init_net, &id, &info));
	KUNIT_EXPECT_EQ(test, info.length, 1002);
	KUNIT_EXPECT_FALSE(test, rext_mrtable_show_next(&init_net, &id,
							&info));
}

static int begin(struct kunit *test)
{
	struct tables *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	unsigned int i;

	if (!t)
		return -ENOMEM;
	spin_lock_init(&t->dev.lock);
	for (i = 0; i < MRS; i++) {
		INIT_HLIST_NODE(&t->mrs[i].by_key);
		t->mrs[i].dev = &t->dev;
	}
	test->priv = t;
	return 0;
}

static void end(struct kunit *test)
{
	struct tables *t = test->priv;
	unsigned int i;

	if (!t)
		return;
	for (i = 0; i < MRS; i++)
		rext_mrtable_remove(&t->mrs[i]);
	synchronize_rcu();
}

static struct kunit_case cases[] = {
	KUNIT_CASE(by_number),
	KUNIT_CASE(by_socket),
	KUNIT_CASE(by_device),
	KUNIT_CASE(removed),
	KUNIT_CASE(shown),
	{ }
};

struct kunit_suite rext_mrtable_suite = {
	.name = "rds_ext_mrtable",
	.init = begin,
	.exit = end,
	.test_cases = cases,
};
