// SPDX-License-Identifier: GPL-2.0
#include <net/genetlink.h>
#include <net/netlink.h>

#include "netlink_attr.h"
#include "rds_ext_uapi.h"

/**
 * rext_nl_refuse_repeated() - refuse several attributes of one type
 * @nlh: the request, checked against its policy
 * @extack: filled where it is refused
 *
 * The parser of the kernel takes the last of them. Which one the sender meant
 * is anybody's guess.
 *
 * Context: process.
 * Return: 0 or -EINVAL.
 */
int rext_nl_refuse_repeated(const struct nlmsghdr *nlh,
			    struct netlink_ext_ack *extack)
{
	const struct nlattr *nla;
	unsigned long seen = 0;
	int rem;

	BUILD_BUG_ON(RDS_EXT_A_CONN_MAX >= BITS_PER_LONG);
	BUILD_BUG_ON(RDS_EXT_A_EXTHDR_MAX >= BITS_PER_LONG);
	BUILD_BUG_ON(RDS_EXT_A_SETTINGS_MAX >= BITS_PER_LONG);
	BUILD_BUG_ON(RDS_EXT_A_MR_MAX >= BITS_PER_LONG);
	BUILD_BUG_ON(RDS_EXT_A_POOL_MAX >= BITS_PER_LONG);
	BUILD_BUG_ON(RDS_EXT_A_MR_STATS_MAX >= BITS_PER_LONG);

	nlmsg_for_each_attr(nla, nlh, GENL_HDRLEN, rem) {
		/* Larger ones have been refused by then. */
		unsigned int type = nla_type(nla) % BITS_PER_LONG;

		if (seen & BIT(type)) {
			NL_SET_ERR_MSG_ATTR(extack, nla,
					    "rds_ext: attribute given twice");
			return -EINVAL;
		}
		seen |= BIT(type);
	}
	return 0;
}

/**
 * rext_nl_refuse() - refuse what the policy allows only in another request
 * @attrs: attributes of the request
 * @types: those to refuse
 * @n: their number
 * @message: what to say; a constant
 * @extack: filled where one is refused
 *
 * Context: process.
 * Return: 0 or -EINVAL.
 */
int rext_nl_refuse(struct nlattr **attrs, const u8 *types, unsigned int n,
		   const char *message, struct netlink_ext_ack *extack)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (attrs[types[i]]) {
			NL_SET_BAD_ATTR(extack, attrs[types[i]]);
			extack->_msg = message;
			return -EINVAL;
		}
	}
	return 0;
}

/**
 * rext_nl_dump_start() - begin a dump
 * @cb: the dump
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int rext_nl_dump_start(struct netlink_callback *cb)
{
	struct rext_nl_dump *dump = kzalloc(sizeof(*dump), GFP_KERNEL);

	if (!dump)
		return -ENOMEM;
	dump->keys = netlink_capable(cb->skb, CAP_NET_ADMIN);
	cb->args[0] = (long)dump;
	return 0;
}

/**
 * rext_nl_dump_parse() - parse the request of a dump
 * @cb: the dump
 * @maxattr: highest attribute of the request, up to REXT_NL_DUMP_MAX
 * @policy: its policy
 * @ids: attributes that name one object and so filter nothing
 * @n: their number
 *
 * To be called for the first message, and not in the start: Linux 6.1 takes no
 * words from there.
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int rext_nl_dump_parse(struct netlink_callback *cb, unsigned int maxattr,
		       const struct nla_policy *policy, const u8 *ids,
		       unsigned int n)
{
	struct rext_nl_dump *dump = (struct rext_nl_dump *)cb->args[0];
	int ret;

	BUILD_BUG_ON(RDS_EXT_A_CONN_MAX > REXT_NL_DUMP_MAX);
	BUILD_BUG_ON(RDS_EXT_A_MR_MAX > REXT_NL_DUMP_MAX);

	ret = rext_nl_refuse_repeated(cb->nlh, cb->extack);
	if (ret)
		return ret;
	ret = nlmsg_parse(cb->nlh, GENL_HDRLEN, dump->attrs, maxattr, policy,
			  cb->extack);
	if (ret)
		return ret;
	ret = rext_nl_refuse(dump->attrs, ids, n,
			     "rds_ext: a dump cannot be filtered by this",
			     cb->extack);
	if (ret)
		return ret;
	dump->parsed = true;
	return 0;
}

/**
 * rext_nl_dump_done() - end a dump
 * @cb: the dump
 *
 * Context: process.
 * Return: 0.
 */
int rext_nl_dump_done(struct netlink_callback *cb)
{
	kfree((void *)cb->args[0]);
	return 0;
}

/**
 * rext_nl_admin() - refuse whoever does not administer this host
 * @skb: the request
 * @message: what to say; a constant
 * @extack: filled where it is refused
 *
 * Not by GENL_ADMIN_PERM, which says no word on what is missing. What is
 * protected here is the whole host's: root of a container has no say.
 *
 * Context: process.
 * Return: 0 or -EPERM.
 */
int rext_nl_admin(const struct sk_buff *skb, const char *message,
		  struct netlink_ext_ack *extack)
{
	if (netlink_capable(skb, CAP_NET_ADMIN))
		return 0;
	extack->_msg = message;
	return -EPERM;
}

/**
 * rext_nl_net_admin() - refuse whoever does not administer a network namespace
 * @skb: the request
 * @net: the namespace
 * @message: what to say; a constant
 * @extack: filled where it is refused
 *
 * For what touches nothing but that namespace.
 *
 * Context: process.
 * Return: 0 or -EPERM.
 */
int rext_nl_net_admin(const struct sk_buff *skb, const struct net *net,
		      const char *message, struct netlink_ext_ack *extack)
{
	if (netlink_ns_capable(skb, net->user_ns, CAP_NET_ADMIN))
		return 0;
	extack->_msg = message;
	return -EPERM;
}
