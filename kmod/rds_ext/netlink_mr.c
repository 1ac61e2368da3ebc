// SPDX-License-Identifier: GPL-2.0
#include <net/genetlink.h>
#include <net/sock.h>

#include "mr.h"
#include "mrdev.h"
#include "mrstats.h"
#include "mrtable.h"
#include "netlink.h"
#include "netlink_attr.h"
#include "netlink_mr.h"

const struct nla_policy rext_nl_mr_policy[RDS_EXT_A_MR_MAX + 1] = {
	[RDS_EXT_A_MR_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RDS_EXT_A_MR_DEVICE] = { .type = NLA_NUL_STRING,
				  .len = IB_DEVICE_NAME_MAX - 1 },
	[RDS_EXT_A_MR_PID] = { .type = NLA_U32 },
	[RDS_EXT_A_MR_SOCKET] = { .type = NLA_U64 },
	[RDS_EXT_A_MR_STATE] = NLA_POLICY_MAX(NLA_U32, RDS_EXT_MR_STATE_MAX),
	[RDS_EXT_A_MR_CONN_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

const struct nla_policy rext_nl_pool_policy[RDS_EXT_A_POOL_MAX + 1] = { };
const struct nla_policy
	rext_nl_mr_stats_policy[RDS_EXT_A_MR_STATS_MAX + 1] = { };

/* MRs: encode */

static int put_mr(struct sk_buff *skb, const struct rext_mr_info *info,
		  bool keys)
{
	if (nla_put_u32(skb, RDS_EXT_A_MR_ID, info->id) ||
	    nla_put_string(skb, RDS_EXT_A_MR_DEVICE, info->device) ||
	    nla_put_u32(skb, RDS_EXT_A_MR_PID, info->pid) ||
	    nla_put_string(skb, RDS_EXT_A_MR_COMMAND, info->command) ||
	    nla_put_u32(skb, RDS_EXT_A_MR_UID, info->uid) ||
	    nla_put_u64_64bit(skb, RDS_EXT_A_MR_SOCKET, info->socket,
			      RDS_EXT_A_MR_PAD) ||
	    nla_put_in6_addr(skb, RDS_EXT_A_MR_BOUND_ADDR, &info->local) ||
	    nla_put_u32(skb, RDS_EXT_A_MR_BOUND_PORT, info->port) ||
	    nla_put_u64_64bit(skb, RDS_EXT_A_MR_LENGTH, info->length,
			      RDS_EXT_A_MR_PAD) ||
	    nla_put_u32(skb, RDS_EXT_A_MR_PAGES, info->pages) ||
	    nla_put_u32(skb, RDS_EXT_A_MR_FLAGS, info->flags) ||
	    nla_put_u32(skb, RDS_EXT_A_MR_STATE, info->state) ||
	    nla_put_u64_64bit(skb, RDS_EXT_A_MR_AGE_MS, info->age_ms,
			      RDS_EXT_A_MR_PAD))
		return -EMSGSIZE;
	if (keys && info->valid &&
	    nla_put_u32(skb, RDS_EXT_A_MR_RKEY, info->key))
		return -EMSGSIZE;
	if (info->conn_id &&
	    nla_put_u32(skb, RDS_EXT_A_MR_CONN_ID, info->conn_id))
		return -EMSGSIZE;
	if (info->has_peer &&
	    nla_put_in6_addr(skb, RDS_EXT_A_MR_PEER_ADDR, &info->peer))
		return -EMSGSIZE;
	return 0;
}

/* MRs: get */

/* What a dump can be filtered by, and a request for one MR cannot hold. */
static const u8 filters[] = {
	RDS_EXT_A_MR_DEVICE, RDS_EXT_A_MR_PID, RDS_EXT_A_MR_SOCKET,
	RDS_EXT_A_MR_STATE, RDS_EXT_A_MR_CONN_ID,
};

/* Returns the number of the MR, or a negative errno. */
static int named_mr(struct genl_info *info, u32 *id)
{
	int ret;

	ret = rext_nl_refuse_repeated(info->nlhdr, info->extack);
	if (ret)
		return ret;
	ret = rext_nl_refuse(info->attrs, filters, ARRAY_SIZE(filters),
			     "rds_ext: only a dump can be filtered by this",
			     info->extack);
	if (ret)
		return ret;
	if (!info->attrs[RDS_EXT_A_MR_ID]) {
		NL_SET_ERR_MSG(info->extack, "rds_ext: the id is missing");
		return -EINVAL;
	}
	*id = nla_get_u32(info->attrs[RDS_EXT_A_MR_ID]);
	return 0;
}

static int no_mr(struct genl_info *info)
{
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[RDS_EXT_A_MR_ID],
			    "rds_ext: no MR has this id");
	return -ENOENT;
}

/**
 * rext_nl_mr_get_doit() - get one MR
 * @skb: the request
 * @info: the request, parsed
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int rext_nl_mr_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rext_mr_info mr;
	struct sk_buff *reply;
	void *hdr;
	u32 id;
	int ret;

	ret = named_mr(info, &id);
	if (ret)
		return ret;
	if (!rext_mrtable_show(genl_info_net(info), id, &mr))
		return no_mr(info);
	reply = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	hdr = genlmsg_put_reply(reply, info, &rext_netlink_family, 0,
				RDS_EXT_CMD_MR_GET);
	if (!hdr || put_mr(reply, &mr, netlink_capable(skb, CAP_NET_ADMIN))) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	genlmsg_end(reply, hdr);
	return genlmsg_reply(reply, info);
}

/* MRs: dump */

static bool passes(const struct rext_mr_info *info, struct nlattr **attrs)
{
	const struct nlattr *device = attrs[RDS_EXT_A_MR_DEVICE];
	const struct nlattr *pid = attrs[RDS_EXT_A_MR_PID];
	const struct nlattr *sock = attrs[RDS_EXT_A_MR_SOCKET];
	const struct nlattr *state = attrs[RDS_EXT_A_MR_STATE];
	const struct nlattr *conn = attrs[RDS_EXT_A_MR_CONN_ID];

	return (!device || !nla_strcmp(device, info->device)) &&
	       (!pid || nla_get_u32(pid) == info->pid) &&
	       (!sock || nla_get_u64(sock) == info->socket) &&
	       (!state || nla_get_u32(state) == info->state) &&
	       (!conn || nla_get_u32(conn) == info->conn_id);
}

/**
 * rext_nl_mr_dumpit() - fill a message of a dump
 * @skb: the message
 * @cb: the dump
 *
 * Context: process.
 * Return: bytes in the message, 0 at the end, or a negative errno.
 */
int rext_nl_mr_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	static const u8 ids[] = { RDS_EXT_A_MR_ID };
	struct rext_nl_dump *dump = (struct rext_nl_dump *)cb->args[0];
	const struct net *net = sock_net(skb->sk);
	unsigned long cursor = dump->cursor;
	struct rext_mr_info mr;
	void *hdr;
	int ret;

	if (!dump->parsed) {
		ret = rext_nl_dump_parse(cb, RDS_EXT_A_MR_MAX,
					 rext_nl_mr_policy, ids,
					 ARRAY_SIZE(ids));
		if (ret)
			return ret;
	}
	cb->seq = rext_mrtable_generation();
	while (rext_mrtable_show_next(net, &cursor, &mr)) {
		if (!passes(&mr, dump->attrs)) {
			dump->cursor = cursor;
			continue;
		}
		hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				  cb->nlh->nlmsg_seq, &rext_netlink_family,
				  NLM_F_MULTI, RDS_EXT_CMD_MR_GET);
		if (!hdr)
			break;
		genl_dump_check_consistent(cb, hdr);
		if (put_mr(skb, &mr, dump->keys)) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
		dump->cursor = cursor;
	}
	return skb->len;
}

/* MRs: revoke */

/**
 * rext_nl_mr_revoke_doit() - revoke an MR
 * @skb: the request
 * @info: the request, parsed
 *
 * Context: process, may sleep.
 * Return: 0 where its key is dead, or a negative errno.
 */
int rext_nl_mr_revoke_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rext_mr_info mr;
	struct rext_mr *m;
	bool revoked = false;
	u32 id;
	int ret;

	ret = rext_nl_admin(skb, "rds_ext: revoking needs CAP_NET_ADMIN on the host",
			    info->extack);
	if (ret)
		return ret;
	ret = named_mr(info, &id);
	if (ret)
		return ret;

	rcu_read_lock();
	m = rext_mrtable_get(id);
	if (m && !rext_mr_show(m, genl_info_net(info), &mr))
		m = NULL;
	if (m)
		revoked = rext_mr_end(m, RDS_EXT_MR_STATE_REVOKED);
	if (revoked)
		rext_netlink_mr_event(m, RDS_EXT_CMD_MR_REVOKED);
	rcu_read_unlock();

	if (!m)
		return no_mr(info);
	if (!revoked) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[RDS_EXT_A_MR_ID],
				    "rds_ext: the MR is not in use any more");
		return -EALREADY;
	}
	rext_mrdev_flush();
	return 0;
}

/* MRs: counters */

/**
 * rext_nl_mr_stats_doit() - get the counters of the engine
 * @skb: the request
 * @info: the request, parsed
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int rext_nl_mr_stats_doit(struct sk_buff *skb, struct genl_info *info)
{
	static const struct {
		u16 attr;
		u16 which;
	} stats[] = {
#define STATE(attr, state) \
	{ RDS_EXT_A_MR_STATS_##attr, \
	  REXT_MRSTAT_STATE + RDS_EXT_MR_STATE_##state }
#define OTHER(name) { RDS_EXT_A_MR_STATS_##name, REXT_MRSTAT_##name }
		STATE(MAPPED, MAPPED),
		STATE(ADVERTISED, ADVERTISED),
		STATE(RELEASED, RELEASED),
		STATE(REMOTELY_INVALIDATED, REMOTELY_INVALIDATED),
		STATE(FREED, FREED),
		STATE(ORPHANED, ORPHANED),
		STATE(UNSENT, UNSENT),
		STATE(EXPIRED, EXPIRED),
		STATE(REVOKED, REVOKED),
		STATE(DEVICE_REMOVED, DEVICE_REMOVED),
		OTHER(FAILED),
		OTHER(AGED),
		OTHER(LIMITED_SOCKET),
		OTHER(LIMITED_USER),
		OTHER(LIMITED_POOL),
		OTHER(RELEASE_REFUSED),
		OTHER(INVALIDATE_FOREIGN),
#undef OTHER
#undef STATE
	};
	u64 live = rext_mrstats_live();
	struct sk_buff *reply;
	unsigned int i;
	void *hdr;
	int ret;

	ret = rext_nl_refuse_repeated(info->nlhdr, info->extack);
	if (ret)
		return ret;
	reply = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	hdr = genlmsg_put_reply(reply, info, &rext_netlink_family, 0,
				RDS_EXT_CMD_MR_STATS_GET);
	if (!hdr || nla_put_u64_64bit(reply, RDS_EXT_A_MR_STATS_LIVE, live,
				      RDS_EXT_A_MR_STATS_PAD))
		goto full;
	for (i = 0; i < ARRAY_SIZE(stats); i++)
		if (nla_put_u64_64bit(reply, stats[i].attr,
				      rext_mrstats_read(stats[i].which),
				      RDS_EXT_A_MR_STATS_PAD))
			goto full;
	genlmsg_end(reply, hdr);
	return genlmsg_reply(reply, info);
full:
	nlmsg_free(reply);
	return -EMSGSIZE;
}

/* Pools */

static int put_pool(struct sk_buff *skb, const struct rext_pool_info *info)
{
	const struct rext_mrdev_gauge *g = &info->gauge;
	const struct rext_mrdev_count *c = &info->count;
	const struct { u16 attr; u32 value; } u32s[] = {
		{ RDS_EXT_A_POOL_LIMIT, info->max },
		{ RDS_EXT_A_POOL_MRS, g->mrs },
		{ RDS_EXT_A_POOL_MRS_PEAK, g->mrs_peak },
		{ RDS_EXT_A_POOL_IN_USE, g->in_use },
		{ RDS_EXT_A_POOL_IN_USE_PEAK, g->in_use_peak },
		{ RDS_EXT_A_POOL_INVALIDATING, g->invalidating },
		{ RDS_EXT_A_POOL_FREE, g->free },
		{ RDS_EXT_A_POOL_QUARANTINED, g->quarantined },
	};
	const struct { u16 attr; u64 value; } u64s[] = {
		{ RDS_EXT_A_POOL_PINNED_PAGES, g->pinned },
		{ RDS_EXT_A_POOL_PINNED_PAGES_PEAK, g->pinned_peak },
		{ RDS_EXT_A_POOL_ALLOCATED, c->allocated },
		{ RDS_EXT_A_POOL_DEALLOCATED, c->deallocated },
		{ RDS_EXT_A_POOL_REGISTRATIONS, c->registrations },
		{ RDS_EXT_A_POOL_LOCAL_INVALIDATIONS, c->local_inv },
		{ RDS_EXT_A_POOL_INVALIDATION_CHAINS, c->chains },
		{ RDS_EXT_A_POOL_REMOTE_INVALIDATIONS, c->remote_inv },
		{ RDS_EXT_A_POOL_RECOVERIES, c->recoveries },
		{ RDS_EXT_A_POOL_STALE_REPLACED, c->stale },
		{ RDS_EXT_A_POOL_EXHAUSTED, c->exhausted },
	};
	unsigned int i;

	if (nla_put_string(skb, RDS_EXT_A_POOL_DEVICE, info->name))
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(u32s); i++)
		if (nla_put_u32(skb, u32s[i].attr, u32s[i].value))
			return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(u64s); i++)
		if (nla_put_u64_64bit(skb, u64s[i].attr, u64s[i].value,
				      RDS_EXT_A_POOL_PAD))
			return -EMSGSIZE;
	return 0;
}

/**
 * rext_nl_pool_dumpit() - fill a message of the dump of pools
 * @skb: the message
 * @cb: the dump
 *
 * RDS over IB lives in the initial network namespace: another one sees no pool.
 *
 * Context: process, may sleep.
 * Return: bytes in the message, 0 at the end.
 */
int rext_nl_pool_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct rext_pool_info info;
	void *hdr;

	if (!net_eq(sock_net(skb->sk), &init_net))
		return 0;
	while (rext_mrdev_show(cb->args[0], &info)) {
		hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				  cb->nlh->nlmsg_seq, &rext_netlink_family,
				  NLM_F_MULTI, RDS_EXT_CMD_POOL_GET);
		if (!hdr)
			break;
		if (put_pool(skb, &info)) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
		cb->args[0]++;
	}
	return skb->len;
}

/**
 * rext_nl_pool_reset_doit() - reset the peaks
 * @skb: the request
 * @info: the request, parsed
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int rext_nl_pool_reset_doit(struct sk_buff *skb, struct genl_info *info)
{
	int ret;

	ret = rext_nl_admin(skb, "rds_ext: resetting peaks needs CAP_NET_ADMIN on the host",
			    info->extack);
	if (ret)
		return ret;
	ret = rext_nl_refuse_repeated(info->nlhdr, info->extack);
	if (ret)
		return ret;
	rext_mrdev_reset_peaks();
	return 0;
}

/* Events */

/* Without the key: whoever listens need not be allowed to see it. */
static struct sk_buff *mr_event(const struct rext_mr_info *info, u8 cmd)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	void *hdr;

	if (!skb)
		return NULL;
	hdr = genlmsg_put(skb, 0, 0, &rext_netlink_family, 0, cmd);
	if (!hdr || put_mr(skb, info, false)) {
		nlmsg_free(skb);
		return NULL;
	}
	genlmsg_end(skb, hdr);
	return skb;
}

/**
 * rext_netlink_mr_event() - tell the listeners about an MR
 * @m: the MR
 * @cmd: RDS_EXT_CMD_MR_AGED or _REVOKED
 *
 * A listener that loses it, for want of memory or of room in its socket, is
 * told so by netlink (ENOBUFS).
 *
 * Context: process or softirq; under rcu_read_lock().
 */
void rext_netlink_mr_event(struct rext_mr *m, u8 cmd)
{
	struct rext_mr_info info;

	/* MRs of the engine are those of the initial network namespace. */
	if (rext_mr_show(m, &init_net, &info))
		rext_netlink_event(&init_net, REXT_NETLINK_GROUP_MR,
				   mr_event(&info, cmd));
}
