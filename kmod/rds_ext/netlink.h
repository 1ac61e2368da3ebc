/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generic netlink family rds_ext. rds_ext.yaml describes it.
 */
#ifndef RDS_EXT_NETLINK_H
#define RDS_EXT_NETLINK_H

#include <linux/types.h>

struct rext_conn;

int rext_netlink_init(void);
void rext_netlink_exit(void);
void rext_netlink_conn_event(struct rext_conn *c, u8 cmd);

#endif /* RDS_EXT_NETLINK_H */
