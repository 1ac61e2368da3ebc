/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generic netlink family rds_ext. rds_ext.yaml describes it.
 */
#ifndef RDS_EXT_NETLINK_H
#define RDS_EXT_NETLINK_H

#include <linux/types.h>

struct genl_family;
struct net;
struct sk_buff;

/* The multicast groups, by their place in the family. */
enum {
	REXT_NETLINK_GROUP_CONN,
	REXT_NETLINK_GROUP_MR,
};

extern struct genl_family rext_netlink_family;

int rext_netlink_init(void);
void rext_netlink_exit(void);
bool rext_netlink_heard(struct net *net, unsigned int group);
void rext_netlink_event(struct net *net, unsigned int group,
			struct sk_buff *skb);

#endif /* RDS_EXT_NETLINK_H */
