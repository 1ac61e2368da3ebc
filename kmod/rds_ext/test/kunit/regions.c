// SPDX-License-Identifier: GPL-2.0
#include <linux/mm.h>
#include <linux/slab.h>

#include "regions.h"
#include "verbs.h"

/**
 * regions_init() - set up a device, a proxy, and a list of MRs
 * @test: the test; @test->priv is set
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno, which fails the test.
 */
int regions_init(struct kunit *test)
{
	struct regions *all = kunit_kzalloc(test, sizeof(*all), GFP_KERNEL);
	int ret;

	if (!all)
		return -ENOMEM;
	INIT_LIST_HEAD(&all->list);
	test->priv = all;
	ret = verbs_get();
	if (ret)
		return ret;
	all->wq = alloc_workqueue("rext_regions", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!all->wq)
		return -ENOMEM;
	ret = rext_proxy_init(&all->proxy, verbs.device, verbs.pd);
	all->up = !ret;
	return ret;
}

static void region_free(struct region *r)
{
	ib_dereg_mr(r->mr);
	ib_dma_unmap_sg(verbs.device, &r->sg, 1, DMA_BIDIRECTIONAL);
	__free_page(r->page);
	kfree(r);
}

/**
 * regions_exit() - take down what regions_init() has set up, and the MRs
 * @test: the test, whatever has become of it
 *
 * Context: process, may sleep.
 */
void regions_exit(struct kunit *test)
{
	struct regions *all = test->priv;
	struct region *r, *next;

	if (!all)
		return;
	WRITE_ONCE(all->stop, true);
	if (verbs.device)
		verbs_let_qp();
	/* Whoever still waits, since the test has failed, goes on. */
	if (all->up)
		verbs_release(&all->proxy);
	if (all->wq)
		destroy_workqueue(all->wq);
	if (all->up)
		rext_proxy_exit(&all->proxy);
	list_for_each_entry_safe(r, next, &all->list, node)
		region_free(r);
	verbs_put();
}

/**
 * region_make() - make an MR
 * @test: the test, which ends where this fails
 * @work: what it does when it is queued
 *
 * Context: process, may sleep.
 * Return: the MR, never registered.
 */
struct region *region_make(struct kunit *test, work_func_t work)
{
	struct regions *all = test->priv;
	struct region *r = kzalloc(sizeof(*r), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, r);
	r->all = all;
	INIT_WORK(&r->work, work);
	r->page = alloc_page(GFP_KERNEL);
	r->mr = ib_alloc_mr(verbs.pd, IB_MR_TYPE_MEM_REG, 1);
	if (!r->page || IS_ERR(r->mr))
		goto fail;
	sg_init_table(&r->sg, 1);
	sg_set_page(&r->sg, r->page, PAGE_SIZE, 0);
	if (ib_dma_map_sg(verbs.device, &r->sg, 1, DMA_BIDIRECTIONAL) != 1)
		goto fail;
	list_add_tail(&r->node, &all->list);
	return r;

fail:
	if (!IS_ERR(r->mr))
		ib_dereg_mr(r->mr);
	if (r->page)
		__free_page(r->page);
	kfree(r);
	KUNIT_ASSERT_TRUE_MSG(test, false, "no MR");
	return NULL;
}

/**
 * region_register() - register an MR under another key
 * @r: the MR
 *
 * Context: process, may sleep.
 * Return: what rext_proxy_register() returns, and -EINVAL where the device does
 * not take the page.
 */
int region_register(struct region *r)
{
	/* What is not written must not be taken for an answer. */
	r->stale = true;
	if (ib_map_mr_sg_zbva(r->mr, &r->sg, 1, NULL, PAGE_SIZE) != 1)
		return -EINVAL;
	ib_update_fast_reg_key(r->mr, ++r->variant);
	return rext_proxy_register(&r->all->proxy, &r->op, r->mr,
				   IB_ACCESS_LOCAL_WRITE |
				   IB_ACCESS_REMOTE_READ |
				   IB_ACCESS_REMOTE_WRITE, &r->stale);
}

/**
 * region_invalidate() - invalidate an MR
 * @r: the MR
 *
 * Context: process, may sleep.
 * Return: what rext_proxy_invalidate() returns.
 */
int region_invalidate(struct region *r)
{
	struct rext_proxy_op *op = &r->op;
	u32 key = r->mr->rkey;

	return rext_proxy_invalidate(&r->all->proxy, &op, &key, 1);
}

/**
 * region_replace() - deallocate an MR, whatever its state, and make a new one
 * @r: the MR
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno, after which the old one is still there.
 */
int region_replace(struct region *r)
{
	struct ib_mr *mr = ib_alloc_mr(verbs.pd, IB_MR_TYPE_MEM_REG, 1);
	int ret;

	if (IS_ERR(mr))
		return PTR_ERR(mr);
	ret = ib_dereg_mr(r->mr);
	r->mr = mr;
	return ret;
}

/**
 * region_recovers() - expect a stale MR to be replaced and registered again
 * @test: the test; the queue pair of its proxy has broken for the first time
 * @r: the MR
 *
 * Context: process, may sleep.
 */
void region_recovers(struct kunit *test, struct region *r)
{
	KUNIT_ASSERT_TRUE(test, verbs_recovered(&r->all->proxy, 1));
	KUNIT_ASSERT_EQ(test, region_replace(r), 0);
	KUNIT_EXPECT_EQ(test, region_register(r), 0);
}

/**
 * region_work() - register an MR
 * @work: that of a struct region
 *
 * Context: process, may sleep.
 */
void region_work(struct work_struct *work)
{
	struct region *r = container_of(work, struct region, work);

	r->ret = region_register(r);
}
