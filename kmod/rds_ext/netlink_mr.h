/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The operations of the netlink family that are about MRs and pools.
 */
#ifndef RDS_EXT_NETLINK_MR_H
#define RDS_EXT_NETLINK_MR_H

#include <linux/types.h>
#include <net/netlink.h>

#include "rds_ext_uapi.h"

struct genl_family;
struct genl_info;
struct netlink_callback;
struct rext_mr;
struct sk_buff;

extern const struct nla_policy rext_nl_mr_policy[RDS_EXT_A_MR_MAX + 1];
extern const struct nla_policy rext_nl_pool_policy[RDS_EXT_A_POOL_MAX + 1];
extern const struct nla_policy
	rext_nl_mr_stats_policy[RDS_EXT_A_MR_STATS_MAX + 1];

int rext_nl_mr_get_doit(struct sk_buff *skb, struct genl_info *info);
int rext_nl_mr_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int rext_nl_mr_revoke_doit(struct sk_buff *skb, struct genl_info *info);
int rext_nl_mr_stats_doit(struct sk_buff *skb, struct genl_info *info);
int rext_nl_pool_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int rext_nl_pool_reset_doit(struct sk_buff *skb, struct genl_info *info);

void rext_netlink_mr_event(struct rext_mr *m, u8 cmd);

#endif /* RDS_EXT_NETLINK_MR_H */
