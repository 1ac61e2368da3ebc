/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The queue pair of a device that registers and invalidates memory regions. It
 * is connected to itself, and no packet ever goes through it: so nothing queues
 * in front of a registration, and neither a lost packet nor a connection that
 * goes down touches one.
 *
 * Order. The owner of an MR posts one operation at a time for it and waits for
 * its end before the next. Different MRs need no order.
 *
 * Errors. One operation that fails puts the queue pair into the error state,
 * and all behind it come back flushed, executed or not. So whatever fails here
 * leaves an MR of unknown state (stale), which its owner deallocates. A new
 * queue pair takes the place of the broken one; meanwhile operations wait.
 *
 * Lifetime. Belongs to its struct rext_mrdev. Operations are part of a struct
 * rext_slot. When the functions below return, the queue pair holds nothing of
 * them any more: they wait for the completion of the last operation of a chain,
 * or, where a driver took in only a part of one, until the queue pair has been
 * drained and is gone.
 */
#ifndef RDS_EXT_PROXY_H
#define RDS_EXT_PROXY_H

#include <linux/completion.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

/* Most invalidations in one chain. */
#define REXT_PROXY_CHAIN	32

struct rext_proxy;

/**
 * struct rext_proxy_op - an operation on an MR
 * @cqe: leads from the completion to this
 * @proxy: where it was posted
 * @last: the last operation of the chain, which may be this one
 * @done: completed with the chain; of the last operation
 * @status: first error of the chain, else IB_WC_SUCCESS; of the last operation
 * @entries: places in the send queue that the chain takes; of the last operation
 * @reg: the work request of a registration
 * @inv: the work request of an invalidation
 */
struct rext_proxy_op {
	struct ib_cqe cqe;
	struct rext_proxy *proxy;
	struct rext_proxy_op *last;
	struct completion done;
	enum ib_wc_status status;
	unsigned int entries;
	union {
		struct ib_reg_wr reg;
		struct ib_send_wr inv;
	};
};

/**
 * struct rext_proxy - the queue pair
 * @device: the RDMA device
 * @pd: protection domain of the connections of RDS
 * @cq: completion queue, polled in softirq context
 * @port: port that the queue pair is bound to; need not be up
 * @lock: covers the below and posting; softirqs off
 * @qp: the queue pair, NULL while there is none
 * @broken: it has failed; nothing is posted until it has been replaced
 * @closed: it will not be replaced
 * @failing: it could not be replaced, and nobody waits for that any more
 * @room: free places in its send queue
 * @epoch: grows when a queue pair has been drained and is gone
 * @recoveries: how often it was replaced
 * @wait: woken when @room or @epoch grow, and when @broken or @closed change
 * @recover: replaces the queue pair; runs again after a while where it failed
 */
struct rext_proxy {
	struct ib_device *device;
	struct ib_pd *pd;
	struct ib_cq *cq;
	u32 port;

	spinlock_t lock;	/* all below, and posting */
	struct ib_qp *qp;
	bool broken;
	bool closed;
	bool failing;
	unsigned int room;
	unsigned int epoch;
	u64 recoveries;

	wait_queue_head_t wait;
	struct delayed_work recover;
};

int rext_proxy_init(struct rext_proxy *proxy, struct ib_device *device,
		    struct ib_pd *pd);
void rext_proxy_exit(struct rext_proxy *proxy);

int rext_proxy_register(struct rext_proxy *proxy, struct rext_proxy_op *op,
			struct ib_mr *mr, int access, bool *stale);
int rext_proxy_invalidate(struct rext_proxy *proxy,
			  struct rext_proxy_op **ops, const u32 *keys,
			  unsigned int n);

#endif /* RDS_EXT_PROXY_H */
