// SPDX-License-Identifier: GPL-2.0
#include <linux/mm.h>
#include <linux/page_ref.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "rds.h"
#include "rds_hooks.h"
#include "ib.h"

#include "engine.h"
#include "mr.h"
#include "mrdev.h"
#include "mrstats.h"
#include "outside.h"
#include "verbs.h"

/* Of the test that runs; the functions below are called without it. */
static struct engine *now;

static struct rds_ib_device *ibdev_of(struct ib_device *device)
{
	if (!now || device != verbs.device)
		return NULL;
	refcount_inc(&now->ibdev->refcount);
	return now->ibdev;
}

static struct rds_ib_device *ibdev_by_address(__be32 addr)
{
	if (addr != verbs.address.s6_addr32[3])
		return NULL;
	return ibdev_of(verbs.device);
}

static void ibdev_put(struct rds_ib_device *ibdev)
{
	/* The test has one of its own. */
	refcount_dec(&ibdev->refcount);
}

static const struct rds_hooks_ib ib = {
	.get_device = ibdev_by_address,
	.get_client_data = ibdev_of,
	.dev_put = ibdev_put,
};

static int make_socket(struct kunit *test, struct engine *e)
{
	e->rs = kunit_kzalloc(test, sizeof(*e->rs), GFP_KERNEL);
	if (!e->rs)
		return -ENOMEM;
	sock_net_set(rds_rs_to_sk(e->rs), &init_net);
	e->rs->rs_bound_addr = verbs.address;
	e->rs->rs_bound_port = htons(4000);
	return 0;
}

/**
 * engine_init() - set up a device and the engine
 * @test: the test; @test->priv is set
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno, which fails the test.
 */
int engine_init(struct kunit *test)
{
	struct engine *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);
	unsigned int i;
	int ret;

	if (!e)
		return -ENOMEM;
	test->priv = e;
	outside_reset();
	rext_settings_mr(&e->settings);
	e->ibdev = kunit_kzalloc(test, sizeof(*e->ibdev), GFP_KERNEL);
	if (!e->ibdev)
		return -ENOMEM;
	ret = verbs_get();
	if (ret)
		return ret;
	refcount_set(&e->ibdev->refcount, 1);
	e->ibdev->dev = verbs.device;
	e->ibdev->pd = verbs.pd;
	ret = make_socket(test, e);
	if (ret)
		return ret;
	for (i = 0; i < ENGINE_PAGES; i++) {
		e->pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!e->pages[i])
			return -ENOMEM;
	}
	ret = rext_mrdev_init();
	if (ret)
		return ret;
	e->up = true;
	now = e;
	rext_mr_start();
	return 0;
}

/**
 * engine_exit() - take down what engine_init() has set up
 * @test: the test, which has freed its MRs
 *
 * Context: process, may sleep.
 */
void engine_exit(struct kunit *test)
{
	struct engine *e = test->priv;
	unsigned int i;

	if (!e)
		return;
	if (verbs.device)
		verbs_let_qp();
	if (e->up) {
		rext_mrdev_end_all();
		rext_mrdev_exit();
	}
	now = NULL;
	rext_settings_set_mr(&e->settings);
	for (i = 0; i < ENGINE_PAGES; i++)
		if (e->pages[i])
			__free_page(e->pages[i]);
	if (e->up)
		KUNIT_EXPECT_EQ(test, refcount_read(&e->ibdev->refcount), 1);
	verbs_put();
	/* The engine's references to the device go behind readers. */
	synchronize_rcu();
}

/* As pin_user_pages() does with a page of its own. */
static void pin(struct page *page)
{
	page_ref_add(page, GUP_PIN_COUNTING_BIAS);
	mod_node_page_state(page_pgdat(page), NR_FOLL_PIN_ACQUIRED, 1);
}

static void unpin(struct page *page)
{
	unpin_user_page(page);
}

/**
 * engine_get() - have pages registered
 * @test: the test
 * @first: the first page, 0 to ENGINE_PAGES - 1
 * @n: how many
 * @use_once: the MR is mapped by sendmsg() for one use
 *
 * Context: process, may sleep.
 * Return: what rext_mr_get() returns. Where it fails, nothing is pinned.
 */
struct rext_mr *engine_get(struct kunit *test, unsigned int first,
			   unsigned int n, bool use_once)
{
	struct engine *e = test->priv;
	struct rds_hooks_region region = {
		.nents = n, .rs = e->rs, .length = n * PAGE_SIZE,
	};
	struct rds_mr rds = { .r_use_once = use_once };
	struct rext_mr *m;
	unsigned int i;
	u32 key = 0;

	region.key = &key;
	region.sg = kmalloc_array(n, sizeof(*region.sg), GFP_KERNEL);
	if (!region.sg)
		return ERR_PTR(-ENOMEM);
	sg_init_table(region.sg, n);
	for (i = 0; i < n; i++) {
		pin(e->pages[first + i]);
		sg_set_page(&region.sg[i], e->pages[first + i], PAGE_SIZE, 0);
	}
	m = rext_mr_get(&ib, &region);
	if (IS_ERR_OR_NULL(m)) {
		for (i = 0; i < n; i++)
			unpin(e->pages[first + i]);
		kfree(region.sg);
		return m;
	}
	KUNIT_EXPECT_NE(test, key, 0);
	KUNIT_EXPECT_EQ(test, key, m->key);
	/* The connection is only looked at for being there. */
	rext_mr_mapped(m, &rds, use_once ? (void *)e : NULL);
	return m;
}

/**
 * engine_dev() - the device of the engine
 * @test: the test, which has registered an MR
 *
 * Context: process, may sleep.
 * Return: the device, which stays until it is removed or the test is over.
 */
struct rext_mrdev *engine_dev(struct kunit *test)
{
	struct engine *e = test->priv;
	struct rext_mrdev *dev = rext_mrdev_enter(&ib, e->rs);

	KUNIT_ASSERT_FALSE(test, IS_ERR(dev));
	rext_mrdev_leave(dev);
	return dev;
}

/**
 * engine_pinned() - whether pages are pinned
 * @test: the test
 * @first: the first page
 * @n: how many
 *
 * Context: any.
 * Return: true where all are, false where none is; a mixture fails the test.
 */
bool engine_pinned(struct kunit *test, unsigned int first, unsigned int n)
{
	struct engine *e = test->priv;
	unsigned int pinned = 0;
	unsigned int i;

	for (i = first; i < first + n; i++)
		pinned += page_count(e->pages[i]) > 1;
	KUNIT_EXPECT_TRUE(test, !pinned || pinned == n);
	return pinned;
}

/**
 * engine_ended() - how many MRs have got into a state
 * @state: RDS_EXT_MR_STATE_*
 *
 * Context: any.
 * Return: their number, over all tests.
 */
u64 engine_ended(u32 state)
{
	return rext_mrstats_read(REXT_MRSTAT_STATE + state);
}

/**
 * engine_settle() - wait until what has ended is unpinned, and check the books
 * @test: the test, which holds no MR any more
 *
 * Context: process, may sleep.
 */
void engine_settle(struct kunit *test)
{
	struct rext_mrdev *dev = engine_dev(test);

	rext_mrdev_flush();
	KUNIT_EXPECT_EQ(test, dev->gauge.in_use, 0);
	KUNIT_EXPECT_EQ(test, dev->gauge.invalidating, 0);
	KUNIT_EXPECT_EQ(test, dev->gauge.quarantined, 0);
	KUNIT_EXPECT_EQ(test, dev->gauge.pinned, 0);
	KUNIT_EXPECT_EQ(test, dev->gauge.free, dev->gauge.mrs);
	KUNIT_EXPECT_EQ(test, dev->count.allocated - dev->count.deallocated,
			dev->gauge.mrs);
	KUNIT_EXPECT_EQ(test, rext_mrstats_live(), 0);
}
