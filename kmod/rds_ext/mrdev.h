/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The RDMA devices that the engine registers memory with.
 *
 * Lifetime of a struct rext_mrdev
 *
 * - Made when the first MR is mapped with the device, under the semaphore of
 *   the table for writing.
 * - References: one of the table, one of each struct rext_mr, so that an MR
 *   whose device has gone still finds its lock.
 * - Taken out of the table when RDS gives the device up ("removed") or when the
 *   module is unloaded; both wait for each other by the semaphore of the table.
 *   Everything that belongs to the RDMA device goes then, before either
 *   returns: all MRs end, are invalidated and unpinned, also those that
 *   applications hold; then the MRs of the pool, the queue pair, the reference
 *   to what RDS has made of the device. A struct that is left is a shell.
 * - Whoever maps holds @sem for reading from the look into the table on. The
 *   end takes it for writing, so it sees every MR.
 *
 * "Removed" comes when nobody can find the device in net/rds any more, and who
 * found it earlier did so holding the semaphore of the table: so a device that
 * has gone is not made again.
 *
 * Locks, outer to inner: semaphore of the table, @sem, @lock, and inside that
 * those of the tables of MRs and the queue pair's.
 */
#ifndef RDS_EXT_MRDEV_H
#define RDS_EXT_MRDEV_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "mrpool.h"
#include "proxy.h"

struct rds_hooks_ib;
struct rds_ib_device;
struct rds_sock;

/**
 * struct rext_mrdev_gauge - what there is now
 * @mrs: MRs that are allocated, or about to be
 * @mrs_peak: most of them at a time
 * @in_use: MRs that are mapped or about to be
 * @in_use_peak: most of them at a time
 * @invalidating: MRs that have ended and are not unpinned yet
 * @free: MRs in the pool
 * @quarantined: MRs that have ended and wait for a peer's message
 * @pinned: pages
 * @pinned_peak: most of them at a time
 */
struct rext_mrdev_gauge {
	unsigned int mrs;
	unsigned int mrs_peak;
	unsigned int in_use;
	unsigned int in_use_peak;
	unsigned int invalidating;
	unsigned int free;
	unsigned int quarantined;
	u64 pinned;
	u64 pinned_peak;
};

/**
 * struct rext_mrdev_count - what has happened
 * @allocated: MRs that were allocated
 * @deallocated: MRs that were deallocated
 * @registrations: registrations posted
 * @local_inv: invalidations posted
 * @chains: chains of them
 * @remote_inv: MRs that a peer has invalidated
 * @stale: MRs deallocated since their state was unknown
 * @exhausted: the pool was at its limit
 * @recoveries: the queue pair was replaced; filled in when it is read
 */
struct rext_mrdev_count {
	u64 allocated;
	u64 deallocated;
	u64 registrations;
	u64 local_inv;
	u64 chains;
	u64 remote_inv;
	u64 stale;
	u64 exhausted;
	u64 recoveries;
};

/**
 * struct rext_mrdev - a device
 * @node: in the table
 * @rcu: frees it a grace period after the last reference has gone
 * @refs: see above
 * @sem: read to map, written to end
 * @ib: functions of rds_rdma.ko
 * @rds_ibdev: what RDS has made of the device; referenced until its end
 * @device: the RDMA device
 * @pd: protection domain of RDS there
 * @name: of the device, for when it has gone
 * @max: most MRs that the device leaves us
 * @proxy: queue pair for registrations and invalidations
 * @lock: all below; taken in any context
 * @live: MRs in use, struct rext_mr
 * @ending: MRs that have ended, waiting for @work
 * @ended: MRs that are invalid and unpinned, and that somebody still refers to
 * @free: MRs that are ready, by size, struct rext_slot
 * @gauge: what there is
 * @count: what has happened
 * @work: invalidates and unpins what is in @ending
 * @wait: woken when an MR comes back
 */
struct rext_mrdev {
	struct list_head node;
	struct rcu_head rcu;
	refcount_t refs;

	struct rw_semaphore sem;	/* who maps */

	const struct rds_hooks_ib *ib;
	struct rds_ib_device *rds_ibdev;
	struct ib_device *device;
	struct ib_pd *pd;
	char name[IB_DEVICE_NAME_MAX];
	unsigned int max;
	struct rext_proxy proxy;

	spinlock_t lock;	/* all below */
	struct list_head live;
	struct list_head ending;
	struct list_head ended;
	struct list_head free[REXT_SIZES];
	struct rext_mrdev_gauge gauge;
	struct rext_mrdev_count count;

	struct work_struct work;
	wait_queue_head_t wait;
};

/**
 * struct rext_pool_info - what is shown of a device
 * @name: its name
 * @max: limit of its pool
 * @gauge: what there is
 * @count: what has happened
 */
struct rext_pool_info {
	char name[IB_DEVICE_NAME_MAX];
	unsigned int max;
	struct rext_mrdev_gauge gauge;
	struct rext_mrdev_count count;
};

extern struct workqueue_struct *rext_mr_wq;

struct rext_mrdev *rext_mrdev_enter(const struct rds_hooks_ib *ib,
				    const struct rds_sock *rs);
void rext_mrdev_leave(struct rext_mrdev *dev);
void rext_mrdev_get(struct rext_mrdev *dev);
void rext_mrdev_put(struct rext_mrdev *dev);
unsigned int rext_mrdev_max(const struct rext_mrdev *dev);

void rext_mrdev_removed(struct rds_ib_device *rds_ibdev);
void rext_mrdev_flush(void);
bool rext_mrdev_show(unsigned int index, struct rext_pool_info *info);
void rext_mrdev_reset_peaks(void);

void rext_mrdev_trim(void);

int rext_mrdev_init(void);
void rext_mrdev_end_all(void);
void rext_mrdev_exit(void);

#endif /* RDS_EXT_MRDEV_H */
