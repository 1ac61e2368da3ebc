// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>

#include "rds.h"
#include "rds_hooks.h"

#include "announce.h"
#include "conn.h"
#include "counters.h"
#include "netlink.h"
#include "settings.h"

static void rx_header(struct rds_connection *rds, const struct rds_header *hdr)
{
	rext_counters_rx(hdr);
	rext_announce_rx(rds, hdr);
}

/* What came over IB has been counted when its first fragment came in. */
static void rx_incoming(struct rds_connection *rds,
			const struct rds_header *hdr)
{
	if (rds->c_trans->t_type != RDS_TRANS_IB)
		rext_counters_rx(hdr);
}

static const struct rds_hooks_ops hooks = {
	.conn_created = rext_conn_created,
	.conn_destroyed = rext_conn_destroyed,
	.path_up = rext_conn_path_up,
	.path_down = rext_conn_path_down,
	.tx_header = rext_announce_tx,
	.rx_header = rx_header,
	.rx_incoming = rx_incoming,
	.ext_add = rext_ext_add,
	.ext_next = rext_ext_next,
};

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
	ret = rds_hooks_register(&hooks);
	if (ret)
		goto err_hooks;
	rds_hooks_walk_conns(rext_conn_seen);
	ret = rext_netlink_init();
	if (ret)
		goto err_netlink;
	return 0;

err_netlink:
	rds_hooks_unregister(&hooks);
	rext_conn_exit();
err_hooks:
	rext_counters_exit();
	return ret;
}

/*
 * Netlink goes first: once the hooks have stopped, nobody tells the table any
 * more that a connection is gone, and nobody may look at it.
 */
static void __exit rds_ext_exit(void)
{
	rext_netlink_exit();
	rds_hooks_unregister(&hooks);
	rext_conn_exit();
	rext_counters_exit();
}

module_init(rds_ext_init);
module_exit(rds_ext_exit);

MODULE_DESCRIPTION("RDS extension headers, protocol version and control plane");
MODULE_AUTHOR("The rds_ext developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(REXT_MODULE_VERSION);
