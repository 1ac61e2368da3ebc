/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks of requests that the policies cannot say.
 */
#ifndef RDS_EXT_NETLINK_ATTR_H
#define RDS_EXT_NETLINK_ATTR_H

#include <linux/types.h>

struct genl_info;
struct netlink_ext_ack;
struct nlattr;
struct nlmsghdr;
struct sk_buff;

int rext_nl_refuse_repeated(const struct nlmsghdr *nlh,
			    struct netlink_ext_ack *extack);
int rext_nl_refuse(struct nlattr **attrs, const u8 *types, unsigned int n,
		   const char *message, struct netlink_ext_ack *extack);
int rext_nl_admin(const struct sk_buff *skb, const char *message,
		  struct netlink_ext_ack *extack);

#endif /* RDS_EXT_NETLINK_ATTR_H */
