// SPDX-License-Identifier: GPL-2.0
/*
 * Included into ib_rdma.c: what the engine calls back.
 */
#include "rds_hooks.h"

static const struct rds_hooks_ib rds_hooks_ib = {
	.get_device = rds_ib_get_device,
	.get_client_data = rds_ib_get_client_data,
	.dev_put = rds_ib_dev_put,
};
