/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine without net/rds: what that has made of an RDMA device, a socket,
 * and pinned pages, as the hooks would pass them on.
 */
#ifndef RDS_EXT_KUNIT_ENGINE_H
#define RDS_EXT_KUNIT_ENGINE_H

#include <kunit/test.h>
#include <linux/types.h>

#include "settings.h"

struct page;
struct rds_ib_device;
struct rds_sock;
struct rext_mr;
struct rext_mrdev;

/* Pages that a test can have registered at a time. */
#define ENGINE_PAGES	64

/**
 * struct engine - the engine of a test
 * @settings: as they were before
 * @up: the engine is set up
 * @ibdev: what RDS has made of the device
 * @rs: a socket that is bound to an address of the device
 * @pages: pages; which of them are in use is the test's affair
 */
struct engine {
	struct rext_mr_settings settings;
	bool up;
	struct rds_ib_device *ibdev;
	struct rds_sock *rs;
	struct page *pages[ENGINE_PAGES];
};

int engine_init(struct kunit *test);
void engine_exit(struct kunit *test);

struct rext_mr *engine_get(struct kunit *test, unsigned int first,
			   unsigned int n, bool use_once);
struct rext_mrdev *engine_dev(struct kunit *test);
bool engine_pinned(struct kunit *test, unsigned int first, unsigned int n);
u64 engine_ended(u32 state);
void engine_settle(struct kunit *test);

#endif /* RDS_EXT_KUNIT_ENGINE_H */
