// SPDX-License-Identifier: GPL-2.0
#include <net/genetlink.h>
#include <net/sock.h>

#include "conn.h"
#include "netlink.h"
#include "netlink_attr.h"
#include "netlink_conn.h"

/* By reference: the limits of NLA_POLICY_MAX() are s16, which 0xffff is not. */
static struct netlink_range_validation version_range = { .max = 0xffff };

const struct nla_policy rext_nl_conn_policy[RDS_EXT_A_CONN_MAX + 1] = {
	[RDS_EXT_A_CONN_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RDS_EXT_A_CONN_TRANSPORT] = NLA_POLICY_MAX(NLA_U32,
						    RDS_EXT_TRANSPORT_LOOP),
	[RDS_EXT_A_CONN_LOCAL_ADDR] =
		NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[RDS_EXT_A_CONN_PEER_ADDR] =
		NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[RDS_EXT_A_CONN_TOS] = { .type = NLA_U8 },
	[RDS_EXT_A_CONN_STATE] = NLA_POLICY_MAX(NLA_U32,
						RDS_EXT_CONN_STATE_ERROR),
	[RDS_EXT_A_CONN_VERSION] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &version_range),
	[RDS_EXT_A_CONN_PEER_VERSION] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &version_range),
	[RDS_EXT_A_CONN_PEER_KIND] = NLA_POLICY_MAX(NLA_U32,
						    RDS_EXT_PEER_KIND_RDS_EXT),
};

/*
 * The numbers have a hole, which the policy cannot say: a function in the policy
 * of a number makes the kernel warn when it describes the policy (6.1).
 */
static int check_transport(const struct nlattr *attr,
			   struct netlink_ext_ack *extack)
{
	if (!attr)
		return 0;
	switch (nla_get_u32(attr)) {
	case RDS_EXT_TRANSPORT_IB:
	case RDS_EXT_TRANSPORT_TCP:
	case RDS_EXT_TRANSPORT_LOOP:
		return 0;
	}
	NL_SET_ERR_MSG_ATTR(extack, attr, "rds_ext: no such transport");
	return -EINVAL;
}

/* Connections: encode */

static int put_end(struct sk_buff *skb, const struct rext_end *end,
		   u16 reason, u16 code)
{
	if (nla_put_u32(skb, reason, end->reason))
		return -EMSGSIZE;
	return end->has_code ? nla_put_u32(skb, code, end->code) : 0;
}

static int put_link(struct sk_buff *skb, const struct rext_conn_link *link)
{
	if (nla_put_string(skb, RDS_EXT_A_CONN_DEVICE, link->device) ||
	    nla_put_u32(skb, RDS_EXT_A_CONN_QP_NUM, link->qp_num) ||
	    nla_put_u8(skb, RDS_EXT_A_CONN_SL, link->sl))
		return -EMSGSIZE;
	if (link->flow_control)
		return nla_put_flag(skb, RDS_EXT_A_CONN_FLOW_CONTROL);
	return 0;
}

static int put_conn(struct sk_buff *skb, const struct rext_conn_info *info)
{
	if (nla_put_u32(skb, RDS_EXT_A_CONN_ID, info->id) ||
	    nla_put_u32(skb, RDS_EXT_A_CONN_TRANSPORT, info->transport) ||
	    nla_put_in6_addr(skb, RDS_EXT_A_CONN_LOCAL_ADDR, &info->local) ||
	    nla_put_in6_addr(skb, RDS_EXT_A_CONN_PEER_ADDR, &info->peer) ||
	    nla_put_u8(skb, RDS_EXT_A_CONN_TOS, info->tos) ||
	    nla_put_u32(skb, RDS_EXT_A_CONN_STATE, info->state) ||
	    nla_put_u32(skb, RDS_EXT_A_CONN_PATHS, info->paths) ||
	    nla_put_u32(skb, RDS_EXT_A_CONN_VERSION, info->version) ||
	    nla_put_u32(skb, RDS_EXT_A_CONN_AGREED_FEATURES, info->agreed) ||
	    nla_put_u32(skb, RDS_EXT_A_CONN_LEARNT_FROM, info->learnt_from) ||
	    nla_put_u32(skb, RDS_EXT_A_CONN_PEER_KIND, info->peer_kind) ||
	    nla_put_u64_64bit(skb, RDS_EXT_A_CONN_UPS, info->ups,
			      RDS_EXT_A_CONN_PAD) ||
	    nla_put_u64_64bit(skb, RDS_EXT_A_CONN_DOWNS, info->downs,
			      RDS_EXT_A_CONN_PAD) ||
	    nla_put_u32(skb, RDS_EXT_A_CONN_ATTEMPTS, info->attempts))
		return -EMSGSIZE;
	if (info->loopback && nla_put_flag(skb, RDS_EXT_A_CONN_LOOPBACK))
		return -EMSGSIZE;
	if (info->passive && nla_put_flag(skb, RDS_EXT_A_CONN_PASSIVE))
		return -EMSGSIZE;
	if (info->announced &&
	    nla_put_u32(skb, RDS_EXT_A_CONN_FEATURES, info->features))
		return -EMSGSIZE;
	if (info->learnt_from != RDS_EXT_LEARNT_FROM_NOTHING &&
	    nla_put_u32(skb, RDS_EXT_A_CONN_PEER_VERSION, info->peer_version))
		return -EMSGSIZE;
	if (info->learnt &&
	    nla_put_u32(skb, RDS_EXT_A_CONN_PEER_FEATURES,
			info->peer_features))
		return -EMSGSIZE;
	if (info->up &&
	    nla_put_u64_64bit(skb, RDS_EXT_A_CONN_UPTIME_MS, info->uptime_ms,
			      RDS_EXT_A_CONN_PAD))
		return -EMSGSIZE;
	if (info->down.set &&
	    (nla_put_u64_64bit(skb, RDS_EXT_A_CONN_DOWN_MS, info->down_ms,
			       RDS_EXT_A_CONN_PAD) ||
	     put_end(skb, &info->down, RDS_EXT_A_CONN_DOWN_REASON,
		     RDS_EXT_A_CONN_DOWN_CODE)))
		return -EMSGSIZE;
	if (info->attempt.set &&
	    put_end(skb, &info->attempt, RDS_EXT_A_CONN_ATTEMPT_REASON,
		    RDS_EXT_A_CONN_ATTEMPT_CODE))
		return -EMSGSIZE;
	if (info->link.device[0])
		return put_link(skb, &info->link);
	return 0;
}

/* Connections: get */

static bool matches(const struct rext_conn_info *info, struct nlattr **attrs)
{
	const struct nlattr *local = attrs[RDS_EXT_A_CONN_LOCAL_ADDR];
	const struct nlattr *peer = attrs[RDS_EXT_A_CONN_PEER_ADDR];
	const struct nlattr *tos = attrs[RDS_EXT_A_CONN_TOS];

	return nla_get_u32(attrs[RDS_EXT_A_CONN_TRANSPORT]) ==
		       info->transport &&
	       !nla_memcmp(local, &info->local, sizeof(info->local)) &&
	       !nla_memcmp(peer, &info->peer, sizeof(info->peer)) &&
	       (tos ? nla_get_u8(tos) : 0) == info->tos && !info->passive;
}

static int find_conn(struct genl_info *info, struct rext_conn_info *conn)
{
	static const u8 names[] = {
		RDS_EXT_A_CONN_TRANSPORT, RDS_EXT_A_CONN_LOCAL_ADDR,
		RDS_EXT_A_CONN_PEER_ADDR, RDS_EXT_A_CONN_TOS,
	};
	struct nlattr *id = info->attrs[RDS_EXT_A_CONN_ID];
	const struct net *net = genl_info_net(info);
	struct rext_conn_info candidate;
	unsigned long cursor = 0;
	unsigned int found = 0;
	unsigned int i;
	int ret;

	if (id) {
		ret = rext_nl_refuse(info->attrs, names, ARRAY_SIZE(names),
				     "rds_ext: give either the id or the addresses",
				     info->extack);
		if (ret)
			return ret;
		if (rext_conn_get(net, nla_get_u32(id), conn))
			return 0;
		NL_SET_ERR_MSG_ATTR(info->extack, id,
				    "rds_ext: no connection has this id");
		return -ENOENT;
	}

	/* The last one, tos, may be absent. */
	for (i = 0; i + 1 < ARRAY_SIZE(names); i++) {
		if (!info->attrs[names[i]]) {
			NL_SET_ERR_MSG_MOD(info->extack,
					   "the id is missing, or one of local-addr, peer-addr, transport");
			return -EINVAL;
		}
	}
	while (rext_conn_next(net, &cursor, &candidate)) {
		if (matches(&candidate, info->attrs)) {
			*conn = candidate;
			found++;
		}
	}
	switch (found) {
	case 0:
		NL_SET_ERR_MSG_MOD(info->extack,
				   "no connection between these addresses");
		return -ENOENT;
	case 1:
		return 0;
	default:
		/* Link-local addresses on several interfaces. */
		NL_SET_ERR_MSG_MOD(info->extack,
				   "several connections between these addresses, give the id");
		return -ENOTUNIQ;
	}
}

/**
 * rext_nl_conn_get_doit() - get one connection
 * @skb: the request
 * @info: the request, parsed
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int rext_nl_conn_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	static const u8 filters[] = {
		RDS_EXT_A_CONN_STATE, RDS_EXT_A_CONN_VERSION,
		RDS_EXT_A_CONN_PEER_VERSION, RDS_EXT_A_CONN_PEER_KIND,
	};
	struct rext_conn_info conn;
	struct sk_buff *reply;
	void *hdr;
	int ret;

	ret = rext_nl_refuse_repeated(info->nlhdr, info->extack);
	if (ret)
		return ret;
	ret = rext_nl_refuse(info->attrs, filters, ARRAY_SIZE(filters),
			     "rds_ext: only a dump can be filtered by this",
			     info->extack);
	if (ret)
		return ret;
	ret = check_transport(info->attrs[RDS_EXT_A_CONN_TRANSPORT],
			      info->extack);
	if (ret)
		return ret;
	ret = find_conn(info, &conn);
	if (ret)
		return ret;

	reply = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	hdr = genlmsg_put_reply(reply, info, &rext_netlink_family, 0, RDS_EXT_CMD_CONN_GET);
	if (!hdr || put_conn(reply, &conn)) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	genlmsg_end(reply, hdr);
	return genlmsg_reply(reply, info);
}

/* Connections: dump */

static int conn_dump_parse(struct netlink_callback *cb)
{
	static const u8 ids[] = { RDS_EXT_A_CONN_ID };
	struct rext_nl_dump *dump = (struct rext_nl_dump *)cb->args[0];
	int ret;

	ret = rext_nl_dump_parse(cb, RDS_EXT_A_CONN_MAX, rext_nl_conn_policy, ids,
				 ARRAY_SIZE(ids));
	if (ret)
		return ret;
	return check_transport(dump->attrs[RDS_EXT_A_CONN_TRANSPORT],
			       cb->extack);
}

static bool passes_u32(const struct nlattr *wanted, u32 value)
{
	return !wanted || nla_get_u32(wanted) == value;
}

static bool passes(const struct rext_conn_info *info, struct nlattr **attrs)
{
	const struct nlattr *local = attrs[RDS_EXT_A_CONN_LOCAL_ADDR];
	const struct nlattr *peer = attrs[RDS_EXT_A_CONN_PEER_ADDR];
	const struct nlattr *tos = attrs[RDS_EXT_A_CONN_TOS];

	if (local && nla_memcmp(local, &info->local, sizeof(info->local)))
		return false;
	if (peer && nla_memcmp(peer, &info->peer, sizeof(info->peer)))
		return false;
	if (tos && nla_get_u8(tos) != info->tos)
		return false;
	return passes_u32(attrs[RDS_EXT_A_CONN_TRANSPORT], info->transport) &&
	       passes_u32(attrs[RDS_EXT_A_CONN_STATE], info->state) &&
	       passes_u32(attrs[RDS_EXT_A_CONN_VERSION], info->version) &&
	       passes_u32(attrs[RDS_EXT_A_CONN_PEER_VERSION],
			  info->peer_version) &&
	       passes_u32(attrs[RDS_EXT_A_CONN_PEER_KIND], info->peer_kind);
}

/**
 * rext_nl_conn_dumpit() - fill a message of a dump
 * @skb: the message
 * @cb: the dump
 *
 * Context: process.
 * Return: bytes in the message, 0 at the end, or a negative errno.
 */
int rext_nl_conn_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct rext_nl_dump *dump = (struct rext_nl_dump *)cb->args[0];
	const struct net *net = sock_net(skb->sk);
	unsigned long cursor = dump->cursor;
	struct rext_conn_info conn;
	void *hdr;
	int ret;

	if (!dump->parsed) {
		ret = conn_dump_parse(cb);
		if (ret)
			return ret;
	}
	cb->seq = rext_conn_generation();
	while (rext_conn_next(net, &cursor, &conn)) {
		if (!passes(&conn, dump->attrs)) {
			dump->cursor = cursor;
			continue;
		}
		hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				  cb->nlh->nlmsg_seq, &rext_netlink_family,
				  NLM_F_MULTI, RDS_EXT_CMD_CONN_GET);
		if (!hdr)
			break;
		genl_dump_check_consistent(cb, hdr);
		if (put_conn(skb, &conn)) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
		dump->cursor = cursor;
	}
	return skb->len;
}

/* Connections: reset */

/* Returns the number of connections that were reset, or a negative errno. */
static int reset_matching(struct genl_info *info)
{
	const struct net *net = genl_info_net(info);
	struct rext_conn_info conn;
	unsigned long cursor = 0;
	int resets = 0;

	while (rext_conn_next(net, &cursor, &conn))
		if (passes(&conn, info->attrs) && rext_conn_reset(net, conn.id))
			resets++;
	if (!resets)
		NL_SET_ERR_MSG(info->extack,
			       "rds_ext: no connection matches");
	return resets ?: -ENOENT;
}

/* Like reset_matching(), for the one with the id. */
static int reset_one(struct genl_info *info, const struct nlattr *id)
{
	if (rext_conn_reset(genl_info_net(info), nla_get_u32(id)))
		return 1;
	NL_SET_ERR_MSG_ATTR(info->extack, id,
			    "rds_ext: no connection has this id");
	return -ENOENT;
}

/* Checks the request. Not one that names nothing: it might be a mistake. */
static int reset_check(struct genl_info *info)
{
	static const u8 filters[] = {
		RDS_EXT_A_CONN_TRANSPORT, RDS_EXT_A_CONN_LOCAL_ADDR,
		RDS_EXT_A_CONN_PEER_ADDR, RDS_EXT_A_CONN_TOS,
		RDS_EXT_A_CONN_STATE, RDS_EXT_A_CONN_VERSION,
		RDS_EXT_A_CONN_PEER_VERSION, RDS_EXT_A_CONN_PEER_KIND,
	};
	unsigned int i;
	int ret;

	ret = rext_nl_refuse_repeated(info->nlhdr, info->extack);
	if (ret)
		return ret;
	ret = check_transport(info->attrs[RDS_EXT_A_CONN_TRANSPORT],
			      info->extack);
	if (ret)
		return ret;
	if (info->attrs[RDS_EXT_A_CONN_ID])
		return rext_nl_refuse(info->attrs, filters, ARRAY_SIZE(filters),
				      "rds_ext: give either the id or what connections are to match",
				      info->extack);
	for (i = 0; i < ARRAY_SIZE(filters); i++)
		if (info->attrs[filters[i]])
			return 0;
	NL_SET_ERR_MSG(info->extack,
		       "rds_ext: the id is missing, or what connections are to match");
	return -EINVAL;
}

/**
 * rext_nl_conn_reset_doit() - reset connections
 * @skb: the request
 * @info: the request, parsed
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int rext_nl_conn_reset_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *id = info->attrs[RDS_EXT_A_CONN_ID];
	struct sk_buff *reply;
	void *hdr;
	int ret;

	ret = rext_nl_net_admin(skb, genl_info_net(info),
				"rds_ext: resetting connections needs CAP_NET_ADMIN",
				info->extack);
	if (ret)
		return ret;
	ret = reset_check(info);
	if (ret)
		return ret;

	/* First what can fail, so that nobody is told so of what was done. */
	reply = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	hdr = genlmsg_put_reply(reply, info, &rext_netlink_family, 0,
				RDS_EXT_CMD_CONN_RESET);
	ret = hdr ? 0 : -EMSGSIZE;
	if (!ret)
		ret = id ? reset_one(info, id) : reset_matching(info);
	if (ret >= 0)
		ret = nla_put_u32(reply, RDS_EXT_A_CONN_RESETS, ret);
	if (ret) {
		nlmsg_free(reply);
		return ret;
	}
	genlmsg_end(reply, hdr);
	return genlmsg_reply(reply, info);
}

/* Events */

static struct sk_buff *conn_event(const struct rext_conn_info *info, u8 cmd)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	void *hdr;

	if (!skb)
		return NULL;
	hdr = genlmsg_put(skb, 0, 0, &rext_netlink_family, 0, cmd);
	if (!hdr || put_conn(skb, info)) {
		nlmsg_free(skb);
		return NULL;
	}
	genlmsg_end(skb, hdr);
	return skb;
}

/**
 * rext_netlink_conn_event() - tell the listeners about a connection
 * @c: the connection, which the caller knows to live
 * @cmd: RDS_EXT_CMD_CONN_UP, _CONN_DOWN or _VERSION_LEARNT
 *
 * Context: process or softirq; under rcu_read_lock().
 */
void rext_netlink_conn_event(struct rext_conn *c, u8 cmd)
{
	struct rext_conn_info info;
	struct net *net;

	net = rext_conn_show(c, &info);
	if (rext_netlink_heard(net, REXT_NETLINK_GROUP_CONN))
		rext_netlink_event(net, REXT_NETLINK_GROUP_CONN,
				   conn_event(&info, cmd));
}

