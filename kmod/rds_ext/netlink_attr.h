/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks of requests that the policies cannot say.
 */
#ifndef RDS_EXT_NETLINK_ATTR_H
#define RDS_EXT_NETLINK_ATTR_H

#include <linux/types.h>

struct genl_info;
struct net;
struct netlink_callback;
struct netlink_ext_ack;
struct nla_policy;
struct nlattr;
struct nlmsghdr;
struct sk_buff;

/* Highest attribute that the request of a dump can have. */
#define REXT_NL_DUMP_MAX	47

/**
 * struct rext_nl_dump - a dump between two of its messages
 * @cursor: number of the object that was shown last
 * @parsed: @attrs are set
 * @keys: the reader may see R_Keys
 * @attrs: set in the request; they point into the request, which the socket
 *	keeps for as long as the dump goes on
 */
struct rext_nl_dump {
	unsigned long cursor;
	bool parsed;
	bool keys;
	struct nlattr *attrs[REXT_NL_DUMP_MAX + 1];
};

int rext_nl_refuse_repeated(const struct nlmsghdr *nlh,
			    struct netlink_ext_ack *extack);
int rext_nl_refuse(struct nlattr **attrs, const u8 *types, unsigned int n,
		   const char *message, struct netlink_ext_ack *extack);
int rext_nl_dump_start(struct netlink_callback *cb);
int rext_nl_dump_parse(struct netlink_callback *cb, unsigned int maxattr,
		       const struct nla_policy *policy, const u8 *ids,
		       unsigned int n);
int rext_nl_dump_done(struct netlink_callback *cb);
int rext_nl_admin(const struct sk_buff *skb, const char *message,
		  struct netlink_ext_ack *extack);
int rext_nl_net_admin(const struct sk_buff *skb, const struct net *net,
		      const char *message, struct netlink_ext_ack *extack);

#endif /* RDS_EXT_NETLINK_ATTR_H */
