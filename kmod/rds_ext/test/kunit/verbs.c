// SPDX-License-Identifier: GPL-2.0
#include <linux/spinlock.h>
#include <linux/string.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include <rdma/restrack.h>

#include "proxy.h"
#include "verbs.h"

struct verbs verbs;

/* What the device does by itself. */
static struct {
	int (*post_send)(struct ib_qp *qp, const struct ib_send_wr *wr,
			 const struct ib_send_wr **bad);
	int (*create_qp)(struct ib_qp *qp, struct ib_qp_init_attr *attr,
			 struct ib_udata *udata);
} real;

static struct {
	struct ib_qp *qp;
	const struct ib_send_wr *wr;
} held[VERBS_HELD];

static DEFINE_SPINLOCK(lock);	/* what is held, and the counts */

static void hold(struct ib_qp *qp, const struct ib_send_wr *wr)
{
	held[verbs.held].qp = qp;
	held[verbs.held++].wr = wr;
}

static int post_part(struct ib_qp *qp, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad)
{
	struct ib_send_wr first = *wr;
	int ret;

	first.next = NULL;
	ret = real.post_send(qp, &first, bad);
	*bad = ret ? wr : wr->next;
	return -ENOMEM;
}

/* Called with the lock of a queue pair's owner held, softirqs off. */
static int post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad)
{
	enum verbs_post post = READ_ONCE(verbs.post);
	unsigned long flags;
	int ret = 0;

	if (wr->opcode != IB_WR_REG_MR && wr->opcode != IB_WR_LOCAL_INV)
		return real.post_send(qp, wr, bad);
	spin_lock_irqsave(&lock, flags);
	if (post == VERBS_HOLD && verbs.held == VERBS_HELD)
		post = VERBS_REFUSE;
	if (post == VERBS_HOLD)
		hold(qp, wr);
	if (post != VERBS_REFUSE)
		verbs.taken++;
	spin_unlock_irqrestore(&lock, flags);
	if (post == VERBS_POST)
		ret = real.post_send(qp, wr, bad);
	if (post == VERBS_PART)
		ret = post_part(qp, wr, bad);
	if (post == VERBS_REFUSE) {
		*bad = wr;
		ret = -ENOMEM;
	}
	wake_up_all(&verbs.wait);
	return ret;
}

static int create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr,
		     struct ib_udata *udata)
{
	if (READ_ONCE(verbs.no_qp))
		return -ENOMEM;
	if (READ_ONCE(verbs.hold_qp)) {
		WRITE_ONCE(verbs.qp_held, true);
		wake_up_all(&verbs.wait);
		wait_event(verbs.wait, !READ_ONCE(verbs.hold_qp));
	}
	return real.create_qp(qp, attr, udata);
}

static bool find_address(struct ib_device *device)
{
	u32 port = rdma_start_port(device);
	const struct ib_gid_attr *gid;
	struct ib_port_attr attr;
	int i;

	if (ib_query_port(device, port, &attr))
		return false;
	for (i = 0; i < attr.gid_tbl_len; i++) {
		gid = rdma_get_gid_attr(device, port, i);
		if (IS_ERR(gid))
			continue;
		memcpy(&verbs.address, &gid->gid, sizeof(verbs.address));
		rdma_put_gid_attr(gid);
		if (ipv6_addr_v4mapped(&verbs.address))
			return true;
	}
	return false;
}

/**
 * verbs_get() - begin to use the device, without faults
 *
 * Context: process, may sleep; one user at a time.
 * Return: 0, -ENODEV where there is no device rxe0 with an address of IPv4, or
 * the error of making a protection domain.
 */
int verbs_get(void)
{
	struct ib_device *device;

	device = ib_device_get_by_name("rxe0", RDMA_DRIVER_UNKNOWN);
	if (!device)
		return -ENODEV;
	memset(&verbs, 0, sizeof(verbs));
	init_waitqueue_head(&verbs.wait);
	verbs.pd = ib_alloc_pd(device, 0);
	if (IS_ERR(verbs.pd)) {
		ib_device_put(device);
		return PTR_ERR(verbs.pd);
	}
	if (!find_address(device)) {
		ib_dealloc_pd(verbs.pd);
		ib_device_put(device);
		return -ENODEV;
	}
	verbs.device = device;
	real.post_send = device->ops.post_send;
	real.create_qp = device->ops.create_qp;
	device->ops.post_send = post_send;
	device->ops.create_qp = create_qp;
	return 0;
}

/**
 * verbs_put() - use the device no more
 *
 * Context: process, may sleep. May be called where verbs_get() has failed.
 */
void verbs_put(void)
{
	if (!verbs.device)
		return;
	verbs.device->ops.post_send = real.post_send;
	verbs.device->ops.create_qp = real.create_qp;
	ib_dealloc_pd(verbs.pd);
	ib_device_put(verbs.device);
	verbs.device = NULL;
}

/**
 * verbs_let_qp() - have queue pairs made, those that wait for it and others
 *
 * Context: any.
 */
void verbs_let_qp(void)
{
	WRITE_ONCE(verbs.no_qp, false);
	WRITE_ONCE(verbs.hold_qp, false);
	wake_up_all(&verbs.wait);
}

/**
 * verbs_release() - have the device do what it has held back, and all to come
 * @proxy: the proxy that it was held back of
 *
 * With the lock of the proxy, so that none of it can fail, and have the queue
 * pair replaced, before all of it is there. What was posted to a queue pair
 * that has been replaced already is forgotten.
 *
 * Context: process.
 */
void verbs_release(struct rext_proxy *proxy)
{
	const struct ib_send_wr *bad;
	unsigned int i;

	spin_lock_bh(&proxy->lock);
	spin_lock_irq(&lock);
	WRITE_ONCE(verbs.post, VERBS_POST);
	for (i = 0; i < verbs.held; i++)
		if (!proxy->broken && held[i].qp == proxy->qp)
			real.post_send(held[i].qp, held[i].wr, &bad);
	verbs.held = 0;
	spin_unlock_irq(&lock);
	spin_unlock_bh(&proxy->lock);
}

/**
 * verbs_forget() - have the device forget what it has held back
 *
 * Context: any.
 */
void verbs_forget(void)
{
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	WRITE_ONCE(verbs.post, VERBS_POST);
	verbs.held = 0;
	spin_unlock_irqrestore(&lock, flags);
}

/**
 * verbs_break() - put the queue pair of a proxy into the error state
 * @proxy: the proxy
 *
 * Context: process, may sleep.
 * Return: false where it has none that works.
 */
bool verbs_break(struct rext_proxy *proxy)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct ib_qp *qp = NULL;
	int ret;

	/* The reference keeps it from being destroyed meanwhile. */
	spin_lock_bh(&proxy->lock);
	if (!proxy->broken && rdma_restrack_get(&proxy->qp->res))
		qp = proxy->qp;
	spin_unlock_bh(&proxy->lock);
	if (!qp)
		return false;
	ret = ib_modify_qp(qp, &attr, IB_QP_STATE);
	rdma_restrack_put(&qp->res);
	return !ret;
}

/**
 * verbs_recovered() - wait until a proxy has replaced its queue pair
 * @proxy: the proxy
 * @times: how often, over all
 *
 * Context: process, may sleep.
 * Return: false where it has not within 30 seconds.
 */
bool verbs_recovered(struct rext_proxy *proxy, u64 times)
{
	return wait_event_timeout(proxy->wait,
				  READ_ONCE(proxy->recoveries) >= times &&
				  !READ_ONCE(proxy->broken), 30 * HZ);
}
