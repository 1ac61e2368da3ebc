/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The connections of this host, with what we know of each beside what net/rds
 * knows.
 *
 * Lifetime of a struct rext_conn
 *
 * - Made by the hook "created", by the walk over older connections when the
 *   module is loaded, or by "up" or a message that comes in where the memory
 *   for it was not to be had earlier or the walk could not see it (the passive
 *   half of a connection of this host to itself).
 * - Belongs to the table, which holds the only reference. Everybody else finds
 *   it under RCU and keeps it no longer than the read-side section. The hooks
 *   run in such a section.
 * - Taken out of the table by the hook "destroyed", or when the module is
 *   unloaded, after the hooks have stopped. Freed a grace period later.
 *
 * Lifetime of the struct rds_connection behind it
 *
 * - net/rds frees it right behind "destroyed", without waiting for readers of
 *   our table. So @rds may be followed only under @lock: "destroyed" clears it
 *   under the same lock. The hooks need not: they are called with a connection
 *   that lives.
 * - The walk cannot bring a connection back that is being destroyed: it left
 *   the hash a grace period before "destroyed".
 * - Disconnects do not touch either; the removal of an RDMA device and the
 *   unloading of a transport destroy the connections through "destroyed".
 */
#ifndef RDS_EXT_CONN_H
#define RDS_EXT_CONN_H

#include <linux/in6.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

#include "announce.h"
#include "connend.h"
#include "lease.h"

struct net;
struct rds_connection;
struct rds_conn_path;

/**
 * struct rext_conn_link - what carries a connection over IB while it is up
 * @device: name of the RDMA device; empty where not known: not over IB, not up,
 *	or up since before the module was loaded
 * @qp_num: number of this side's queue pair
 * @sl: its service level
 * @flow_control: both sides spend credits
 */
struct rext_conn_link {
	char device[IB_DEVICE_NAME_MAX];
	u32 qp_num;
	u8 sl;
	bool flow_control;
};

/**
 * struct rext_conn - a connection
 * @node: in the table, by @key
 * @rcu: frees it a grace period after it has left the table
 * @key: the connection that this stands for, as a number: may be gone
 * @id: in the table by number, never 0
 * @passive: the accepting half of a connection of this host to itself
 * @lock: covers all below; taken in any context
 * @rds: the connection, NULL once it has been destroyed
 * @up: path 0 is up, and its end has not been told yet
 * @up_since: boot time in ms when it came up, or was first seen up
 * @ups: how often path 0 came up
 * @downs: how often it went down after it had been up
 * @down_at: boot time in ms when it went down last, where @down is set
 * @attempts: how often setting it up has failed since it was up last
 * @ending: why this incarnation or attempt is about to end: the first reason,
 *	since the others follow from it
 * @down: why it went down last after it had been up
 * @attempt: why the last of the failed attempts has failed
 * @link: what carries it
 * @announce: the versions and features on this incarnation
 * @read: RDMA read that was posted last, to compare; not under @lock, but with
 *	the right to transmit on the connection
 * @leases: keys that one side may invalidate for the other on this incarnation
 */
struct rext_conn {
	struct hlist_node node;
	struct rcu_head rcu;
	unsigned long key;
	u32 id;
	bool passive;
	const void *read;

	spinlock_t lock;	/* all below */
	struct rds_connection *rds;
	bool up;
	u64 up_since;
	u64 ups;
	u64 downs;
	u64 down_at;
	u32 attempts;
	struct rext_end ending;
	struct rext_end down;
	struct rext_end attempt;
	struct rext_conn_link link;
	struct rext_announce announce;
	struct rext_leases leases;
};

/**
 * struct rext_conn_info - what is shown of a connection, at one moment
 * @id: number of the connection
 * @transport: RDS_EXT_TRANSPORT_*
 * @local: this side's address
 * @peer: the peer's address
 * @tos: type of service
 * @state: RDS_EXT_CONN_STATE_* of path 0
 * @paths: number of paths
 * @loopback: the peer's address is this host's
 * @passive: the accepting half of a connection of this host to itself
 * @version: protocol version, 0 where not settled
 * @peer_version: the peer's, 0 where not learnt
 * @learnt_from: RDS_EXT_LEARNT_FROM_*
 * @peer_kind: RDS_EXT_PEER_KIND_*
 * @announced: @features is set
 * @learnt: @peer_features is set
 * @up: @uptime_ms is set
 * @features: what this side announced
 * @peer_features: what the peer announced
 * @agreed: features in use
 * @ups: how often the connection came up
 * @downs: how often it went down
 * @uptime_ms: since it came up
 * @down_ms: since it went down last, where @down is set
 * @attempts: failed attempts since it was up last
 * @down: why it went down last
 * @attempt: why the last attempt failed
 * @link: what carries it
 */
struct rext_conn_info {
	u32 id;
	u32 transport;
	struct in6_addr local;
	struct in6_addr peer;
	u8 tos;
	u32 state;
	u32 paths;
	bool loopback;
	bool passive;
	u32 version;
	u32 peer_version;
	u32 learnt_from;
	u32 peer_kind;
	bool announced;
	bool learnt;
	bool up;
	u32 features;
	u32 peer_features;
	u32 agreed;
	u64 ups;
	u64 downs;
	u64 uptime_ms;
	u64 down_ms;
	u32 attempts;
	struct rext_end down;
	struct rext_end attempt;
	struct rext_conn_link link;
};

void rext_conn_created(struct rds_connection *rds);
void rext_conn_seen(struct rds_connection *rds);
void rext_conn_destroyed(struct rds_connection *rds);
void rext_conn_path_up(struct rds_conn_path *cp);
void rext_conn_path_down(struct rds_conn_path *cp);
void rext_conn_ending(struct rds_connection *rds, const struct rext_end *end);
void rext_conn_exit(void);

struct rext_conn *rext_conn_find(const struct rds_connection *rds);
struct rext_conn *rext_conn_obtain(struct rds_connection *rds);
u32 rext_conn_generation(void);
bool rext_conn_next(const struct net *net, unsigned long *id,
		    struct rext_conn_info *info);
bool rext_conn_get(const struct net *net, u32 id, struct rext_conn_info *info);
bool rext_conn_reset(const struct net *net, u32 id);
struct net *rext_conn_show(struct rext_conn *c, struct rext_conn_info *info);

#endif /* RDS_EXT_CONN_H */
