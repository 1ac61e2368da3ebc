/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory regions: what an application has mapped for RDMA, from the pinning of
 * its pages until nothing of it is left.
 *
 * Life of a struct rext_mr
 *
 *	registering -> mapped -> advertised	in use, in this order
 *	-> one of the ends			its end; each MR has one
 *	-> invalidating				@valid, then @nents go to 0
 *	-> perhaps quarantined			@lease_conn is set
 *	-> gone					freed a grace period later
 *
 * Whatever comes first decides on the end: the peer's extension header or its
 * invalidating message, RDS_FREE_MR, the closing of the socket, a sendmsg() that
 * fails, age, an operator, the removal of the device. What comes later finds an
 * MR that is not in use any more and changes nothing. The end itself may be
 * brought about in any context; it puts the MR in the list of its device that
 * rext_mrend_work() works off in process context: invalidate the key, then
 * unmap and unpin the pages.
 *
 * References (@refs), each of which keeps the MR findable by its key and keeps
 * @slot from being used again:
 *
 * - the application's: from mr_get() to mr_free(), that is, for as long as
 *   net/rds has its struct rds_mr. An MR that was revoked, or whose device has
 *   gone, stays as a shell until then, so that its key cannot come up again in
 *   the socket's tree.
 * - the device's: until the key is dead and the pages are unpinned.
 * - the lease's: for as long as a peer may still send a message that invalidates
 *   the key. Were the slot registered anew meanwhile, that message would tear
 *   the connection down.
 *
 * The last one takes it out of the tables and gives the slot back; any context.
 *
 * A disconnect touches nothing but the lease. Closing the socket and killing
 * the process end the MR and wait for its pages. Unloading the module is
 * refused while applications have MRs (see rds_hooks.h) and waits for the rest.
 * The removal of the device takes slot and pages of every MR away, see mrdev.h.
 *
 * Lookups by key hold RCU only, and look at anything that changes with the lock
 * of the device held. Socket and network namespace are compared, never followed.
 */
#ifndef RDS_EXT_MR_H
#define RDS_EXT_MR_H

#include <linux/in6.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

#include "mrlimit.h"
#include "rds_ext_uapi.h"

struct net;
struct rds_connection;
struct rds_hooks_ib;
struct rds_hooks_region;
struct rds_mr;
struct rds_sock;
struct rext_conn;
struct rext_mrdev;
struct rext_slot;
struct scatterlist;

/* Peers that an MR is remembered to have been advertised to. */
#define REXT_MR_PEERS	4

/**
 * struct rext_mr - a memory region
 * @by_key: in the table by key
 * @rcu: frees it a grace period after it has left the tables
 * @refs: see above
 * @id: its number, never 0
 * @key: its R_Key
 * @dev: the device
 * @rs: the socket, to compare
 * @net: network namespace of the socket, to compare
 * @local: address of the socket
 * @port: port of the socket
 * @socket: inode number of the socket
 * @pid: process that mapped it
 * @command: command name of that process
 * @uid: user of that process
 * @length: bytes, as the application gave it
 * @charge: what it counts for at the limits
 * @node: in one of the lists of the device: live, ending, ended; below the lock
 * @lease: in the list of the connection that it is leased to, under that one's
 *	lock and the device's
 * @slot: the MR of the device that stands for it; NULL once that is gone
 * @sg: its pages, mapped for the device
 * @nents: number of pages; 0 when they are unpinned
 * @state: RDS_EXT_MR_STATE_*
 * @flags: RDS_EXT_MR_FLAG_*
 * @valid: the key is registered
 * @doubtful: a message without leave has invalidated the key, or some other
 *	MR's that had it
 * @app_done: the application's reference is gone
 * @quarantined: it is counted as such
 * @mapped_at: boot time in ms
 * @peers: whom it has been advertised to, or mapped for
 * @n_peers: their number; more than REXT_MR_PEERS where there were others, too
 * @conn_id: connection that it was advertised on last, 0 where on none
 * @lease_conn: connection that it is leased to, 0 where to none
 */
struct rext_mr {
	struct hlist_node by_key;
	struct rcu_head rcu;
	refcount_t refs;
	u32 id;
	u32 key;
	struct rext_mrdev *dev;

	const struct rds_sock *rs;
	const struct net *net;
	struct in6_addr local;
	u16 port;
	u64 socket;
	u32 pid;
	char command[TASK_COMM_LEN];
	u32 uid;
	u64 length;
	struct rext_charge charge;

	/* Under the lock of the device. */
	struct list_head node;
	struct list_head lease;
	struct rext_slot *slot;
	struct scatterlist *sg;
	unsigned int nents;
	u32 state;
	u32 flags;
	bool valid;
	bool doubtful;
	bool app_done;
	bool quarantined;
	u64 mapped_at;
	struct in6_addr peers[REXT_MR_PEERS];
	unsigned int n_peers;
	u32 conn_id;
	u32 lease_conn;
};

/**
 * struct rext_mr_info - what is shown of an MR, at one moment
 * @id: its number
 * @device: name of its RDMA device
 * @pid: process that mapped it
 * @command: command name of that process
 * @uid: user of that process
 * @socket: inode number of its socket
 * @local: address of its socket
 * @port: port of its socket
 * @key: its R_Key
 * @valid: the key is registered
 * @length: bytes
 * @pages: pages that it pins
 * @flags: RDS_EXT_MR_FLAG_*
 * @state: RDS_EXT_MR_STATE_*
 * @age_ms: since it was registered
 * @conn_id: connection that it was advertised on last, or 0
 * @has_peer: @peer is set
 * @peer: peer that it was advertised to last
 */
struct rext_mr_info {
	u32 id;
	char device[IB_DEVICE_NAME_MAX];
	u32 pid;
	char command[TASK_COMM_LEN];
	u32 uid;
	u64 socket;
	struct in6_addr local;
	u16 port;
	u32 key;
	bool valid;
	u64 length;
	u32 pages;
	u32 flags;
	u32 state;
	u64 age_ms;
	u32 conn_id;
	bool has_peer;
	struct in6_addr peer;
};

void rext_mr_start(void);

/* The operations of struct rds_hooks_ops. */
void *rext_mr_get(const struct rds_hooks_ib *ib,
		  const struct rds_hooks_region *region);
void rext_mr_free(void *mr);
void rext_mr_freed(void *mr);
void rext_mr_sync(void *mr, int direction);
void rext_mr_mapped(void *mr, const struct rds_mr *rds,
		    struct rds_connection *conn);
void rext_mr_for_dest(struct rds_sock *rs, u32 key,
		      const struct in6_addr *peer);
void rext_mr_unsent(struct rds_sock *rs, u32 key);
bool rext_mr_release(struct rds_connection *conn, struct rds_sock *rs, u32 key);
void rext_mr_orphaned(void *mr);

bool rext_mr_end(struct rext_mr *m, u32 state);
bool rext_mr_end_locked(struct rext_mr *m, u32 state);
void rext_mr_put(struct rext_mr *m);
void rext_mr_drop_stale(struct rext_mr *m);
void rext_mr_advertised(struct rext_mr *m, u32 conn_id,
			const struct in6_addr *peer);
bool rext_mr_show(struct rext_mr *m, const struct net *net,
		  struct rext_mr_info *info);

/* Registered, and not at its end. With the lock of the device held. */
static inline bool rext_mr_in_use(const struct rext_mr *m)
{
	return m->state == RDS_EXT_MR_STATE_MAPPED ||
	       m->state == RDS_EXT_MR_STATE_ADVERTISED;
}

#endif /* RDS_EXT_MR_H */
