// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>

#include "rds.h"
#include "rds_hooks.h"

#include "announce.h"
#include "conn.h"
#include "connend.h"
#include "counters.h"
#include "fence.h"
#include "lease.h"
#include "mr.h"
#include "mrage.h"
#include "mrdev.h"
#include "netlink.h"
#include "settings.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* The version header goes first: it is due once, and lives in little room. */
static bool tx_header(struct rds_connection *rds, struct rds_header *hdr)
{
	bool announced = rext_announce_tx(rds, hdr, false);

	return rext_lease_tx(rds, hdr) || announced;
}

static void tx_ack(struct rds_connection *rds, struct rds_header *hdr)
{
	rext_announce_tx(rds, hdr, true);
}

static void rx_header(struct rds_connection *rds, const struct rds_header *hdr)
{
	rext_counters_rx(hdr);
	rext_announce_rx(rds, hdr);
	rext_lease_rx(rds, hdr);
}

/* What came over IB has been counted when its first fragment came in. */
static void rx_incoming(struct rds_connection *rds,
			const struct rds_header *hdr)
{
	if (rds->c_trans->t_type != RDS_TRANS_IB)
		rext_counters_rx(hdr);
}

static const struct rds_hooks_ops hooks = {
	.owner = THIS_MODULE,
	.conn_created = rext_conn_created,
	.conn_destroyed = rext_conn_destroyed,
	.path_up = rext_conn_path_up,
	.path_down = rext_conn_path_down,
	.conn_error = rext_connend_error,
	.cm_event = rext_connend_cm_event,
	.tx_header = tx_header,
	.tx_ack = tx_ack,
	.rx_header = rx_header,
	.rx_incoming = rx_incoming,
	.ext_add = rext_ext_add,
	.ext_next = rext_ext_next,
	.rdma_last = rext_fence_rdma_last,
	.tx_wait = rext_fence_tx_wait,
	.tx_last = rext_lease_tx_last,
	.rx_invalidate = rext_lease_rx_invalidate,
	.mr_get = rext_mr_get,
	.mr_free = rext_mr_free,
	.mr_freed = rext_mr_freed,
	.mr_sync = rext_mr_sync,
	.mr_mapped = rext_mr_mapped,
	.mr_for_dest = rext_mr_for_dest,
	.mr_unsent = rext_mr_unsent,
	.mr_release = rext_mr_release,
	.mr_orphaned = rext_mr_orphaned,
	.mr_flush = rext_mrdev_flush,
	.ibdev_removed = rext_mrdev_removed,
};

/*
 * No application has an MR, and none gets one: each holds a reference to the
 * module. While the hooks still run, since a device may be removed meanwhile,
 * and whoever removes it has to wait until we have let go of it.
 */
static void mr_exit(void)
{
	rext_mrage_exit();
	rext_mrdev_end_all();
}

/*
 * Connections that are made while the older ones are walked come through the
 * hook; the table takes each but once. Netlink comes last: a module whose init
 * fails is gone at once, however many requests are under way.
 */
static int __init rds_ext_init(void)
{
	int ret;

	ret = rext_counters_init();
	if (ret)
		return ret;
	ret = rext_mrdev_init();
	if (ret)
		goto err_mrdev;
	ret = rds_hooks_register(&hooks);
	if (ret)
		goto err_hooks;
	rds_hooks_walk_conns(rext_conn_seen);
	ret = rext_netlink_init();
	if (ret)
		goto err_netlink;
	rext_mr_start();
	return 0;

err_netlink:
	mr_exit();
	rds_hooks_unregister(&hooks);
	rext_conn_exit();
	rext_mrdev_exit();
	goto err_mrdev;
err_hooks:
	rext_mrdev_exit();
err_mrdev:
	rext_counters_exit();
	return ret;
}

/*
 * Netlink goes first: once the hooks have stopped, nobody tells the tables any
 * more that something is gone, and nobody may look at them.
 */
static void __exit rds_ext_exit(void)
{
	rext_netlink_exit();
	mr_exit();
	rds_hooks_unregister(&hooks);
	rext_conn_exit();
	rext_mrdev_exit();
	rext_counters_exit();
}

module_init(rds_ext_init);
module_exit(rds_ext_exit);

MODULE_DESCRIPTION("RDS extension headers, protocol version and control plane");
MODULE_AUTHOR("The rds_ext developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(REXT_MODULE_VERSION);
