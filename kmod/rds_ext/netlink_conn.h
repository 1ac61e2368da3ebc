/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The operations of the netlink family that are about connections.
 */
#ifndef RDS_EXT_NETLINK_CONN_H
#define RDS_EXT_NETLINK_CONN_H

#include <linux/types.h>
#include <net/netlink.h>

#include "rds_ext_uapi.h"

struct genl_info;
struct netlink_callback;
struct rext_conn;
struct sk_buff;

extern const struct nla_policy rext_nl_conn_policy[RDS_EXT_A_CONN_MAX + 1];

int rext_nl_conn_get_doit(struct sk_buff *skb, struct genl_info *info);
int rext_nl_conn_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int rext_nl_conn_reset_doit(struct sk_buff *skb, struct genl_info *info);

void rext_netlink_conn_event(struct rext_conn *c, u8 cmd);

#endif /* RDS_EXT_NETLINK_CONN_H */
