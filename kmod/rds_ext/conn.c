// SPDX-License-Identifier: GPL-2.0
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/xarray.h>

#include <rdma/rdma_cm.h>

#include "rds.h"
#include "ib.h"

#include "clock.h"
#include "conn.h"
#include "netlink_conn.h"
#include "rds_ext_uapi.h"

/*
 * Found by the connection in the send and receive paths, by number in dumps.
 * Both are changed under the lock of the array and read under RCU. That lock
 * nests inside the one of the connection hash, with irqs off.
 */
static DEFINE_HASHTABLE(by_key, 10);
static DEFINE_XARRAY_FLAGS(by_id, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
static u32 next_id;

/* Grows with each connection that comes or goes; dumps compare it. */
static atomic_t generation = ATOMIC_INIT(1);

/**
 * rext_conn_find() - find what we know of a connection
 * @rds: the connection
 *
 * Context: any, under rcu_read_lock().
 * Return: the connection, or NULL where it is not tracked.
 */
struct rext_conn *rext_conn_find(const struct rds_connection *rds)
{
	unsigned long key = (unsigned long)rds;
	struct rext_conn *c;

	hash_for_each_possible_rcu(by_key, c, node, key)
		if (c->key == key)
			return c;
	return NULL;
}

/* Called with the lock of by_id held. */
static int insert(struct rext_conn *c)
{
	int ret;

	ret = __xa_alloc_cyclic(&by_id, &c->id, c, xa_limit_32b, &next_id,
				GFP_ATOMIC);
	if (ret < 0)
		return ret;
	hash_add_rcu(by_key, &c->node, c->key);
	atomic_inc(&generation);
	return 0;
}

/* Called with the lock of by_id held. */
static void take_out(struct rext_conn *c)
{
	hash_del_rcu(&c->node);
	__xa_erase(&by_id, c->id);
	atomic_inc(&generation);
}

static int state_of(const struct rds_connection *rds)
{
	return atomic_read(&rds->c_path[0].cp_state);
}

/*
 * Takes over the state of a connection that was seen late. It is in the table
 * by then, and each hook comes after the change of state that it tells of: what
 * changes behind our back here is put right by the hook that waits for the lock.
 */
static void settle(struct rext_conn *c)
{
	unsigned long flags;

	spin_lock_irqsave(&c->lock, flags);
	if (c->rds) {
		switch (state_of(c->rds)) {
		case RDS_CONN_DOWN:
			rext_announce_reset(&c->announce);
			break;
		case RDS_CONN_UP:
			c->up = true;
			c->up_since = rext_now_ms();
			break;
		}
	}
	spin_unlock_irqrestore(&c->lock, flags);
}

/*
 * Adds the connection where it is not there yet. A connection that is not down
 * when it is seen late may have exchanged messages before we looked.
 *
 * Without memory, a connection goes on as with a stock kernel and is not
 * shown; it gets another chance when it comes up the next time.
 */
static struct rext_conn *track(struct rds_connection *rds, bool seen)
{
	struct rext_conn *c, *found;
	unsigned long flags;
	int ret = 0;

	c = kzalloc(sizeof(*c), GFP_ATOMIC);
	if (!c)
		return NULL;
	spin_lock_init(&c->lock);
	rext_leases_init(&c->leases);
	c->key = (unsigned long)rds;
	c->rds = rds;
	/* Only the active half is ever in the hash of net/rds. */
	c->passive = rds->c_loopback && rds->c_trans->t_type == RDS_TRANS_IB &&
		     hlist_unhashed_lockless(&rds->c_hash_node);
	if (seen)
		rext_announce_midway(&c->announce);
	else
		rext_announce_reset(&c->announce);

	xa_lock_irqsave(&by_id, flags);
	found = rext_conn_find(rds);
	if (!found)
		ret = insert(c);
	xa_unlock_irqrestore(&by_id, flags);

	if (found || ret) {
		kfree(c);
		return found;
	}
	if (seen)
		settle(c);
	return c;
}

/**
 * rext_conn_obtain() - find what we know of a connection, or begin to know it
 * @rds: the connection, which the caller knows to live
 *
 * Context: any but hard irq, irqs may be off; under rcu_read_lock().
 * Return: the connection, or NULL where there is no memory for it.
 */
struct rext_conn *rext_conn_obtain(struct rds_connection *rds)
{
	return rext_conn_find(rds) ?: track(rds, true);
}

/**
 * rext_conn_created() - net/rds has made a connection
 * @rds: the connection
 *
 * Context: any but hard irq, irqs may be off; under rcu_read_lock().
 */
void rext_conn_created(struct rds_connection *rds)
{
	track(rds, false);
}

/**
 * rext_conn_seen() - a connection was found that is older than the hooks
 * @rds: the connection
 *
 * Context: any but hard irq; under rcu_read_lock().
 */
void rext_conn_seen(struct rds_connection *rds)
{
	track(rds, true);
}

/**
 * rext_conn_destroyed() - net/rds is about to free a connection
 * @rds: the connection
 *
 * Context: process; under rcu_read_lock().
 */
void rext_conn_destroyed(struct rds_connection *rds)
{
	struct rext_conn *c = rext_conn_find(rds);
	unsigned long flags;

	if (!c)
		return;

	xa_lock_irqsave(&by_id, flags);
	take_out(c);
	xa_unlock_irqrestore(&by_id, flags);

	spin_lock_irqsave(&c->lock, flags);
	c->rds = NULL;
	spin_unlock_irqrestore(&c->lock, flags);
	rext_leases_end(c);
	kfree_rcu(c, rcu);
}

/*
 * Over IB the caller is the CM's event handler, which holds the CM lock of the
 * connection: the queue pair stays until it returns.
 */
static void read_link(const struct rds_connection *rds,
		      struct rext_conn_link *link)
{
	const struct rds_ib_connection *ic;

	if (rds->c_trans->t_type != RDS_TRANS_IB)
		return;
	ic = rds->c_path[0].cp_transport_data;
	strscpy(link->device, ic->i_cm_id->device->name, sizeof(link->device));
	link->qp_num = ic->i_cm_id->qp->qp_num;
	link->sl = ic->i_sl;
	link->flow_control = ic->i_flowctl;
}

/**
 * rext_conn_path_up() - a path has come up
 * @cp: the path; only path 0 counts
 *
 * Context: process or softirq; under rcu_read_lock().
 */
void rext_conn_path_up(struct rds_conn_path *cp)
{
	struct rds_connection *rds = cp->cp_conn;
	struct rext_conn_link link = { };
	struct rext_conn *c;
	unsigned long flags;
	bool up;

	if (cp->cp_index)
		return;
	c = rext_conn_obtain(rds);
	if (!c)
		return;
	read_link(rds, &link);

	/* The shutdown of a path that failed at once can overtake this. */
	spin_lock_irqsave(&c->lock, flags);
	up = state_of(rds) == RDS_CONN_UP;
	if (up) {
		c->up = true;
		c->up_since = rext_now_ms();
		c->ups++;
		c->link = link;
		c->attempts = 0;
		memset(&c->attempt, 0, sizeof(c->attempt));
		memset(&c->ending, 0, sizeof(c->ending));
	}
	spin_unlock_irqrestore(&c->lock, flags);
	if (up)
		rext_netlink_conn_event(c, RDS_EXT_CMD_CONN_UP);
}

/**
 * rext_conn_ending() - an incarnation or an attempt is about to end
 * @rds: the connection
 * @end: why
 *
 * Context: any but hard irq; under rcu_read_lock().
 */
void rext_conn_ending(struct rds_connection *rds, const struct rext_end *end)
{
	struct rext_conn *c = rext_conn_find(rds);
	unsigned long flags;

	if (!c)
		return;
	spin_lock_irqsave(&c->lock, flags);
	if (!c->ending.set)
		c->ending = *end;
	spin_unlock_irqrestore(&c->lock, flags);
}

/*
 * Called with c->lock held. Dropping a connection that is down is no attempt to
 * set it up, though net/rds shuts it down once more.
 */
static void note_end(struct rext_conn *c)
{
	if (c->up) {
		c->downs++;
		c->down_at = rext_now_ms();
		c->down = c->ending;
		c->down.set = true;
	} else if (!c->ending.set ||
		   c->ending.reason != RDS_EXT_END_REASON_RESET) {
		c->attempts++;
		c->attempt = c->ending;
		c->attempt.set = true;
	}
	memset(&c->ending, 0, sizeof(c->ending));
}

/**
 * rext_conn_path_down() - the transport of a path has shut down
 * @cp: the path; only path 0 counts
 *
 * Whether it had been up or not: an attempt to connect that failed may have
 * let messages through on the accepting side.
 *
 * Context: process; under rcu_read_lock().
 */
void rext_conn_path_down(struct rds_conn_path *cp)
{
	struct rext_conn *c;
	unsigned long flags;
	bool was_up;

	if (cp->cp_index)
		return;
	c = rext_conn_find(cp->cp_conn);
	if (!c)
		return;

	spin_lock_irqsave(&c->lock, flags);
	was_up = c->up;
	note_end(c);
	spin_unlock_irqrestore(&c->lock, flags);

	/* Before the reset: the event tells what held until now. */
	if (was_up)
		rext_netlink_conn_event(c, RDS_EXT_CMD_CONN_DOWN);

	spin_lock_irqsave(&c->lock, flags);
	c->up = false;
	memset(&c->link, 0, sizeof(c->link));
	rext_announce_reset(&c->announce);
	spin_unlock_irqrestore(&c->lock, flags);
	/* The shutdown has the right to transmit. */
	c->read = NULL;
	rext_leases_end(c);
}

/**
 * rext_conn_exit() - forget all connections
 *
 * Context: process, may sleep. No hook and no netlink operation runs any more.
 */
void rext_conn_exit(void)
{
	struct hlist_node *next;
	struct rext_conn *c;
	int bucket;

	hash_for_each_safe(by_key, bucket, next, c, node) {
		hash_del(&c->node);
		rext_leases_end(c);
		kfree(c);
	}
	xa_destroy(&by_id);
}

/* Called with c->lock held, the connection alive. */
static void fill(const struct rext_conn *c, struct rext_conn_info *info)
{
	const struct rext_announce *a = &c->announce;
	const struct rds_connection *rds = c->rds;
	bool settled;

	info->id = c->id;
	info->transport = rds->c_trans->t_type;
	info->local = rds->c_laddr;
	info->peer = rds->c_faddr;
	info->tos = rds->c_tos;
	info->state = state_of(rds);
	info->paths = max(READ_ONCE(rds->c_npaths), 1);
	info->loopback = rds->c_loopback;
	info->passive = c->passive;
	info->up = c->up;
	info->uptime_ms = c->up ? rext_now_ms() - c->up_since : 0;
	info->ups = c->ups;
	info->downs = c->downs;
	info->down = c->down;
	info->down_ms = c->down.set ? rext_now_ms() - c->down_at : 0;
	info->attempts = c->attempts;
	info->attempt = c->attempt;
	info->link = c->link;

	/* The connection manager settles it before an IB connection is up. */
	settled = info->transport == RDS_TRANS_IB && c->up;
	info->version = settled ? READ_ONCE(rds->c_version) : 0;

	info->announced = a->announced;
	info->features = a->features;
	info->learnt = a->learnt;
	info->peer_features = a->peer_features;
	info->agreed = rext_announce_agreed(a);
	info->peer_kind = a->peer_kind;
	if (a->learnt) {
		info->peer_version = a->peer_version;
		info->learnt_from = RDS_EXT_LEARNT_FROM_FIRST_PACKET;
	} else if (info->version) {
		info->peer_version = info->version;
		info->learnt_from = RDS_EXT_LEARNT_FROM_CM_PRIVATE_DATA;
	} else {
		info->peer_version = 0;
		info->learnt_from = RDS_EXT_LEARNT_FROM_NOTHING;
	}
}

static bool show(struct rext_conn *c, const struct net *net,
		 struct rext_conn_info *info)
{
	unsigned long flags;
	bool shown = false;

	spin_lock_irqsave(&c->lock, flags);
	if (c->rds && net_eq(rds_conn_net(c->rds), net)) {
		fill(c, info);
		shown = true;
	}
	spin_unlock_irqrestore(&c->lock, flags);
	return shown;
}

/**
 * rext_conn_generation() - number that changes when a connection comes or goes
 *
 * Context: any.
 * Return: the number.
 */
u32 rext_conn_generation(void)
{
	return atomic_read(&generation);
}

/**
 * rext_conn_next() - show the next connection of a network namespace
 * @net: the namespace
 * @id: 0, or what the previous call has set; set to the number of the one shown
 * @info: filled
 *
 * Context: any.
 * Return: false behind the last one.
 */
bool rext_conn_next(const struct net *net, unsigned long *id,
		    struct rext_conn_info *info)
{
	struct rext_conn *c;
	bool shown = false;

	rcu_read_lock();
	do {
		c = xa_find_after(&by_id, id, ULONG_MAX, XA_PRESENT);
		if (c)
			shown = show(c, net, info);
	} while (c && !shown);
	rcu_read_unlock();
	return shown;
}

/**
 * rext_conn_get() - show the connection with a number
 * @net: network namespace that it must belong to
 * @id: the number
 * @info: filled
 *
 * Context: any.
 * Return: false where there is none.
 */
bool rext_conn_get(const struct net *net, u32 id, struct rext_conn_info *info)
{
	struct rext_conn *c;
	bool shown;

	rcu_read_lock();
	c = xa_load(&by_id, id);
	shown = c && show(c, net, info);
	rcu_read_unlock();
	return shown;
}

/**
 * rext_conn_show() - show a connection from a hook
 * @c: the connection, which the caller knows to live
 * @info: filled
 *
 * Context: any, under rcu_read_lock().
 * Return: its network namespace.
 */
struct net *rext_conn_show(struct rext_conn *c, struct rext_conn_info *info)
{
	struct net *net;
	unsigned long flags;

	spin_lock_irqsave(&c->lock, flags);
	net = rds_conn_net(c->rds);
	fill(c, info);
	spin_unlock_irqrestore(&c->lock, flags);
	return net;
}

/* Called with c->lock held, the connection alive. */
static void drop(struct rext_conn *c)
{
	int paths = max(READ_ONCE(c->rds->c_npaths), 1);
	int i;

	if (!c->ending.set)
		c->ending = (struct rext_end) {
			.set = true,
			.reason = RDS_EXT_END_REASON_RESET,
		};
	for (i = 0; i < paths; i++)
		rds_conn_path_drop(&c->rds->c_path[i], false);
}

/**
 * rext_conn_reset() - drop the connection with a number
 * @net: network namespace that it must belong to
 * @id: the number
 *
 * Nothing happens to one whose namespace or transport is going: net/rds makes
 * sure of that, and destroys the connection behind a grace period that our
 * read-side section delays.
 *
 * Context: any; the shutdown itself runs in a workqueue.
 * Return: false where there is none.
 */
bool rext_conn_reset(const struct net *net, u32 id)
{
	struct rext_conn *c;
	unsigned long flags;
	bool found = false;

	rcu_read_lock();
	c = xa_load(&by_id, id);
	if (c) {
		spin_lock_irqsave(&c->lock, flags);
		found = c->rds && net_eq(rds_conn_net(c->rds), net);
		if (found)
			drop(c);
		spin_unlock_irqrestore(&c->lock, flags);
	}
	rcu_read_unlock();
	return found;
}
