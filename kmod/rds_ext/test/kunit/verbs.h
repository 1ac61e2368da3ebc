/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The RDMA device that the tests use, and faults of it on demand.
 */
#ifndef RDS_EXT_KUNIT_VERBS_H
#define RDS_EXT_KUNIT_VERBS_H

#include <linux/in6.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

struct rext_proxy;

/* Chains of work requests that can be held back at a time. */
#define VERBS_HELD	256

/**
 * enum verbs_post - what becomes of work requests on MRs
 * @VERBS_POST: the device does them
 * @VERBS_HOLD: the device takes them and does nothing, until verbs_release()
 * @VERBS_REFUSE: the device refuses them
 * @VERBS_PART: the device takes the first of a chain and refuses the rest
 */
enum verbs_post {
	VERBS_POST,
	VERBS_HOLD,
	VERBS_REFUSE,
	VERBS_PART,
};

/**
 * struct verbs - the device
 * @device: it, with a reference
 * @pd: a protection domain of our own there
 * @address: an address of it, IPv4 as IPv6
 * @post: what becomes of work requests; others than those on MRs are done
 * @no_qp: queue pairs cannot be made
 * @hold_qp: whoever makes one waits until this is false again
 * @qp_held: somebody does
 * @held: how many chains are held back
 * @taken: how many chains have been taken in at all
 * @wait: woken when @held or @taken grow, and when @qp_held is set
 */
struct verbs {
	struct ib_device *device;
	struct ib_pd *pd;
	struct in6_addr address;
	enum verbs_post post;
	bool no_qp;
	bool hold_qp;
	bool qp_held;
	unsigned int held;
	unsigned int taken;
	wait_queue_head_t wait;
};

extern struct verbs verbs;

int verbs_get(void);
void verbs_put(void);
void verbs_let_qp(void);
void verbs_release(struct rext_proxy *proxy);
void verbs_forget(void);
bool verbs_break(struct rext_proxy *proxy);
bool verbs_recovered(struct rext_proxy *proxy, u64 times);

#endif /* RDS_EXT_KUNIT_VERBS_H */
