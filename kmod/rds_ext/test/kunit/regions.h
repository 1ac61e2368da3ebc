/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A proxy of the tests' own, with MRs to register.
 */
#ifndef RDS_EXT_KUNIT_REGIONS_H
#define RDS_EXT_KUNIT_REGIONS_H

#include <kunit/test.h>
#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/scatterlist.h>
#include <linux/workqueue.h>

#include "proxy.h"

/**
 * struct regions - a proxy and the MRs of a test
 * @proxy: the proxy, where @up
 * @up: it is set up
 * @wq: runs what the MRs do at the same time
 * @list: the MRs, struct region
 * @stop: those that go round in circles are to end
 * @rounds: rounds that were done by all of them
 * @stale: MRs that they have replaced
 * @odd: results that they should not have had
 */
struct regions {
	struct rext_proxy proxy;
	bool up;
	struct workqueue_struct *wq;
	struct list_head list;
	bool stop;
	atomic_t rounds;
	atomic_t stale;
	atomic_t odd;
};

/**
 * struct region - an MR of one page
 * @node: in the list of its test
 * @all: the test
 * @mr: the MR
 * @page: the page
 * @sg: the page, mapped for the device
 * @variant: lowest byte of its key
 * @op: the operation on it
 * @work: registers it
 * @ret: what came of that
 * @stale: and whether its state is unknown
 */
struct region {
	struct list_head node;
	struct regions *all;
	struct ib_mr *mr;
	struct page *page;
	struct scatterlist sg;
	u8 variant;
	struct rext_proxy_op op;
	struct work_struct work;
	int ret;
	bool stale;
};

int regions_init(struct kunit *test);
void regions_exit(struct kunit *test);

struct region *region_make(struct kunit *test, work_func_t work);
int region_register(struct region *r);
int region_invalidate(struct region *r);
int region_replace(struct region *r);
void region_recovers(struct kunit *test, struct region *r);
void region_work(struct work_struct *work);

#endif /* RDS_EXT_KUNIT_REGIONS_H */
