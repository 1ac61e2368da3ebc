// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "announce.h"
#include "counters.h"
#include "exthdr.h"
#include "mrdev.h"
#include "netlink.h"
#include "netlink_attr.h"
#include "netlink_conn.h"
#include "netlink_mr.h"
#include "rds_ext_uapi.h"
#include "settings.h"

/* The family is there, so events may be sent; read under RCU. */
static bool events;

/* Policies. What they do not name is refused, as is what follows the last. */

static const struct nla_policy exthdr_policy[RDS_EXT_A_EXTHDR_MAX + 1] = { };

static struct netlink_range_validation pool_max_range = {
	.min = REXT_POOL_MAX_MIN, .max = REXT_POOL_MAX_MAX,
};

static const struct nla_policy get_policy[RDS_EXT_A_SETTINGS_MAX + 1] = { };

static const struct nla_policy set_policy[RDS_EXT_A_SETTINGS_MAX + 1] = {
	[RDS_EXT_A_SETTINGS_VERSION_HEADER] = NLA_POLICY_MAX(NLA_U8, 1),
	[RDS_EXT_A_SETTINGS_FEATURE_MASK] =
		NLA_POLICY_MASK(NLA_U32, REXT_FEATURES),
	[RDS_EXT_A_SETTINGS_MR_ENGINE] = NLA_POLICY_MAX(NLA_U8, 1),
	[RDS_EXT_A_SETTINGS_MR_POOL_MAX] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &pool_max_range),
	[RDS_EXT_A_SETTINGS_MR_SOCK_MAX] = { .type = NLA_U32 },
	[RDS_EXT_A_SETTINGS_MR_SOCK_BYTES] = { .type = NLA_U64 },
	[RDS_EXT_A_SETTINGS_MR_MAX_AGE_MS] = { .type = NLA_U32 },
	[RDS_EXT_A_SETTINGS_MR_AGE_REVOKE] = NLA_POLICY_MAX(NLA_U8, 1),
};

/* Extension headers: dump */

static int put_exthdr(struct sk_buff *skb, unsigned int type,
		      const u64 sum[REXT_COUNTERS])
{
	static const u8 attrs[REXT_COUNTERS] = {
		[REXT_TX] = RDS_EXT_A_EXTHDR_TX,
		[REXT_RX] = RDS_EXT_A_EXTHDR_RX,
		[REXT_TX_NO_ROOM] = RDS_EXT_A_EXTHDR_TX_NO_ROOM,
		[REXT_TX_DUPLICATE] = RDS_EXT_A_EXTHDR_TX_DUPLICATE,
		[REXT_TX_REJECTED] = RDS_EXT_A_EXTHDR_TX_REJECTED,
		[REXT_RX_UNKNOWN] = RDS_EXT_A_EXTHDR_RX_UNKNOWN,
		[REXT_RX_TRUNCATED] = RDS_EXT_A_EXTHDR_RX_TRUNCATED,
		[REXT_RX_DUPLICATE] = RDS_EXT_A_EXTHDR_RX_DUPLICATE,
	};
	const struct exthdr_desc *desc = exthdr_lookup(type);
	unsigned int i;

	if (nla_put_u32(skb, RDS_EXT_A_EXTHDR_TYPE, type))
		return -EMSGSIZE;
	if (desc &&
	    (nla_put_string(skb, RDS_EXT_A_EXTHDR_NAME, desc->name) ||
	     nla_put_u32(skb, RDS_EXT_A_EXTHDR_LENGTH, desc->len)))
		return -EMSGSIZE;
	for (i = 0; i < REXT_COUNTERS; i++)
		if (nla_put_u64_64bit(skb, attrs[i], sum[i],
				      RDS_EXT_A_EXTHDR_PAD))
			return -EMSGSIZE;
	return 0;
}

static int exthdr_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	u64 sum[REXT_COUNTERS];
	unsigned int type;
	void *hdr;

	/* 0, where a dump begins, is no type: it ends the list on the wire. */
	for (type = max(cb->args[0], 1L); type < REXT_TYPES; type++) {
		if (!rext_counters_read(type, sum) && !exthdr_lookup(type))
			continue;
		hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				  cb->nlh->nlmsg_seq, &rext_netlink_family, NLM_F_MULTI,
				  RDS_EXT_CMD_EXTHDR_GET);
		if (!hdr)
			break;
		if (put_exthdr(skb, type, sum)) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
	}
	cb->args[0] = type;
	return skb->len;
}

/* Settings */

static int put_mr_settings(struct sk_buff *skb,
			   const struct rext_mr_settings *set)
{
	if (nla_put_u8(skb, RDS_EXT_A_SETTINGS_MR_ENGINE, set->engine) ||
	    nla_put_u32(skb, RDS_EXT_A_SETTINGS_MR_POOL_MAX, set->pool_max) ||
	    nla_put_u32(skb, RDS_EXT_A_SETTINGS_MR_SOCK_MAX, set->sock_max) ||
	    nla_put_u64_64bit(skb, RDS_EXT_A_SETTINGS_MR_SOCK_BYTES,
			      set->sock_bytes, RDS_EXT_A_SETTINGS_PAD) ||
	    nla_put_u32(skb, RDS_EXT_A_SETTINGS_MR_MAX_AGE_MS,
			set->max_age_ms) ||
	    nla_put_u8(skb, RDS_EXT_A_SETTINGS_MR_AGE_REVOKE, set->age_revoke))
		return -EMSGSIZE;
	return 0;
}

static int settings_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rext_mr_settings mr;
	struct sk_buff *reply;
	void *hdr;
	int ret;

	ret = rext_nl_refuse_repeated(info->nlhdr, info->extack);
	if (ret)
		return ret;
	rext_settings_mr(&mr);
	reply = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	hdr = genlmsg_put_reply(reply, info, &rext_netlink_family, 0,
				RDS_EXT_CMD_SETTINGS_GET);
	if (!hdr ||
	    nla_put_u8(reply, RDS_EXT_A_SETTINGS_VERSION_HEADER,
		       rext_settings_version_header()) ||
	    nla_put_u32(reply, RDS_EXT_A_SETTINGS_FEATURE_MASK,
			rext_settings_feature_mask()) ||
	    nla_put_u32(reply, RDS_EXT_A_SETTINGS_SUPPORTED_FEATURES,
			REXT_FEATURES) ||
	    nla_put_u32(reply, RDS_EXT_A_SETTINGS_PROTOCOL_VERSION,
			RDS_EXT_PROTOCOL_VERSION) ||
	    nla_put_string(reply, RDS_EXT_A_SETTINGS_MODULE_VERSION,
			   REXT_MODULE_VERSION) ||
	    put_mr_settings(reply, &mr)) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	genlmsg_end(reply, hdr);
	return genlmsg_reply(reply, info);
}

static void set_mr_settings(struct nlattr **attrs)
{
	struct nlattr *engine = attrs[RDS_EXT_A_SETTINGS_MR_ENGINE];
	struct nlattr *pool_max = attrs[RDS_EXT_A_SETTINGS_MR_POOL_MAX];
	struct nlattr *sock_max = attrs[RDS_EXT_A_SETTINGS_MR_SOCK_MAX];
	struct nlattr *sock_bytes = attrs[RDS_EXT_A_SETTINGS_MR_SOCK_BYTES];
	struct nlattr *max_age = attrs[RDS_EXT_A_SETTINGS_MR_MAX_AGE_MS];
	struct nlattr *age_revoke = attrs[RDS_EXT_A_SETTINGS_MR_AGE_REVOKE];
	struct rext_mr_settings set;

	rext_settings_mr(&set);
	if (engine)
		set.engine = nla_get_u8(engine);
	if (pool_max)
		set.pool_max = nla_get_u32(pool_max);
	if (sock_max)
		set.sock_max = nla_get_u32(sock_max);
	if (sock_bytes)
		set.sock_bytes = nla_get_u64(sock_bytes);
	if (max_age)
		set.max_age_ms = nla_get_u32(max_age);
	if (age_revoke)
		set.age_revoke = nla_get_u8(age_revoke);
	rext_settings_set_mr(&set);
	if (pool_max)
		rext_mrdev_trim();
}

static bool any_setting(struct nlattr **attrs)
{
	unsigned int i;

	for (i = 0; i <= RDS_EXT_A_SETTINGS_MAX; i++)
		if (attrs[i])
			return true;
	return false;
}

/* Requests take turns, by the lock of generic netlink. */
static int settings_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *header = info->attrs[RDS_EXT_A_SETTINGS_VERSION_HEADER];
	struct nlattr *mask = info->attrs[RDS_EXT_A_SETTINGS_FEATURE_MASK];
	int ret;

	ret = rext_nl_admin(skb, "rds_ext: changing settings needs CAP_NET_ADMIN on the host",
			    info->extack);
	if (ret)
		return ret;
	ret = rext_nl_refuse_repeated(info->nlhdr, info->extack);
	if (ret)
		return ret;
	if (!any_setting(info->attrs)) {
		NL_SET_ERR_MSG(info->extack, "rds_ext: no setting given");
		return -EINVAL;
	}
	if (header || mask)
		rext_settings_set(header ? nla_get_u8(header) :
					   rext_settings_version_header(),
				  mask ? nla_get_u32(mask) :
					 rext_settings_feature_mask());
	set_mr_settings(info->attrs);
	return 0;
}

/* Family */

static const struct genl_ops ops[] = {
	{
		.cmd = RDS_EXT_CMD_CONN_GET,
		.doit = rext_nl_conn_get_doit,
		.start = rext_nl_dump_start,
		.dumpit = rext_nl_conn_dumpit,
		.done = rext_nl_dump_done,
		.policy = rext_nl_conn_policy,
		.maxattr = RDS_EXT_A_CONN_MAX,
	},
	{
		.cmd = RDS_EXT_CMD_EXTHDR_GET,
		.dumpit = exthdr_dumpit,
		.policy = exthdr_policy,
		.maxattr = RDS_EXT_A_EXTHDR_MAX,
	},
	{
		.cmd = RDS_EXT_CMD_SETTINGS_GET,
		.doit = settings_get_doit,
		.policy = get_policy,
		.maxattr = RDS_EXT_A_SETTINGS_MAX,
	},
	{
		.cmd = RDS_EXT_CMD_SETTINGS_SET,
		.doit = settings_set_doit,
		.policy = set_policy,
		.maxattr = RDS_EXT_A_SETTINGS_MAX,
	},
	{
		.cmd = RDS_EXT_CMD_MR_GET,
		.doit = rext_nl_mr_get_doit,
		.start = rext_nl_dump_start,
		.dumpit = rext_nl_mr_dumpit,
		.done = rext_nl_dump_done,
		.policy = rext_nl_mr_policy,
		.maxattr = RDS_EXT_A_MR_MAX,
	},
	{
		.cmd = RDS_EXT_CMD_MR_REVOKE,
		.doit = rext_nl_mr_revoke_doit,
		.policy = rext_nl_mr_policy,
		.maxattr = RDS_EXT_A_MR_MAX,
	},
	{
		.cmd = RDS_EXT_CMD_MR_STATS_GET,
		.doit = rext_nl_mr_stats_doit,
		.policy = rext_nl_mr_stats_policy,
		.maxattr = RDS_EXT_A_MR_STATS_MAX,
	},
	{
		.cmd = RDS_EXT_CMD_POOL_GET,
		.dumpit = rext_nl_pool_dumpit,
		.policy = rext_nl_pool_policy,
		.maxattr = RDS_EXT_A_POOL_MAX,
	},
	{
		.cmd = RDS_EXT_CMD_POOL_RESET_PEAKS,
		.doit = rext_nl_pool_reset_doit,
		.policy = rext_nl_pool_policy,
		.maxattr = RDS_EXT_A_POOL_MAX,
	},
	{
		.cmd = RDS_EXT_CMD_CONN_RESET,
		.doit = rext_nl_conn_reset_doit,
		.policy = rext_nl_conn_policy,
		.maxattr = RDS_EXT_A_CONN_MAX,
	},
};

static const struct genl_multicast_group groups[] = {
	[REXT_NETLINK_GROUP_CONN] = { .name = RDS_EXT_MCGRP_CONN },
	[REXT_NETLINK_GROUP_MR] = { .name = RDS_EXT_MCGRP_MR },
};

struct genl_family rext_netlink_family __ro_after_init = {
	.name = RDS_EXT_FAMILY_NAME,
	.version = RDS_EXT_FAMILY_VERSION,
	.module = THIS_MODULE,
	.netnsok = true,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
	.resv_start_op = RDS_EXT_CMD_CONN_GET,
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

/**
 * rext_netlink_heard() - does anybody listen?
 * @net: network namespace
 * @group: REXT_NETLINK_GROUP_*
 *
 * Context: process or softirq; under rcu_read_lock().
 * Return: true where an event would reach somebody.
 */
bool rext_netlink_heard(struct net *net, unsigned int group)
{
	return READ_ONCE(events) &&
	       genl_has_listeners(&rext_netlink_family, net, group);
}

/**
 * rext_netlink_event() - send an event
 * @net: network namespace whose listeners get it
 * @group: REXT_NETLINK_GROUP_*
 * @skb: the event, given away; NULL where there was no memory for it
 *
 * A listener that loses it is told so by netlink (ENOBUFS).
 *
 * Context: process or softirq; under rcu_read_lock().
 */
void rext_netlink_event(struct net *net, unsigned int group,
			struct sk_buff *skb)
{
	if (!READ_ONCE(events))
		nlmsg_free(skb);
	else if (skb)
		genlmsg_multicast_netns(&rext_netlink_family, net, skb, 0,
					group, GFP_ATOMIC);
	else
		genl_set_err(&rext_netlink_family, net, 0, group, -ENOBUFS);
}

/**
 * rext_netlink_init() - register the family
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int __init rext_netlink_init(void)
{
	int ret = genl_register_family(&rext_netlink_family);

	WRITE_ONCE(events, !ret);
	return ret;
}

/**
 * rext_netlink_exit() - unregister the family
 *
 * Hooks may still run; their events are dropped from here on.
 *
 * Context: process, may sleep; waits for events and operations under way.
 */
void rext_netlink_exit(void)
{
	WRITE_ONCE(events, false);
	synchronize_rcu();
	genl_unregister_family(&rext_netlink_family);
}
