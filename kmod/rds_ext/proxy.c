// SPDX-License-Identifier: GPL-2.0
#include <linux/random.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#include "proxy.h"

/* Places in the send queue; one more is for draining it. */
#define DEPTH		128

/* How long to wait for room, and for a broken queue pair to be replaced. */
#define PATIENCE	(5 * HZ)

static void give_room(struct rext_proxy *proxy, unsigned int n)
{
	spin_lock_bh(&proxy->lock);
	proxy->room += n;
	spin_unlock_bh(&proxy->lock);
	wake_up_all(&proxy->wait);
}

/* Called with the lock held. */
static void fail(struct rext_proxy *proxy)
{
	if (proxy->broken)
		return;
	proxy->broken = true;
	if (!proxy->closed)
		schedule_delayed_work(&proxy->recover, 0);
}

/*
 * Runs in softirq context, in the order in which the operations were posted.
 * Those in front of the last of a chain are heard of only when they fail.
 */
static void op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rext_proxy_op *op = container_of(wc->wr_cqe,
						struct rext_proxy_op, cqe);
	struct rext_proxy *proxy = op->proxy;
	struct rext_proxy_op *last = op->last;

	if (wc->status != IB_WC_SUCCESS) {
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			pr_warn_ratelimited("rds_ext: %s: operation on an MR failed: %s\n",
					    proxy->device->name,
					    ib_wc_status_msg(wc->status));
		if (last->status == IB_WC_SUCCESS)
			last->status = wc->status;
		spin_lock_bh(&proxy->lock);
		fail(proxy);
		spin_unlock_bh(&proxy->lock);
	}
	if (op == last) {
		give_room(proxy, op->entries);
		/* The owner may use the operation again from here on. */
		complete(&op->done);
	}
}

/* Without it no queue pair gets beyond INIT; the port need not be up. */
static int own_address(struct ib_device *device, u32 port,
		       struct rdma_ah_attr *ah)
{
	const struct ib_gid_attr *gid;
	struct ib_port_attr attr;
	int ret;
	int i;

	ret = ib_query_port(device, port, &attr);
	if (ret)
		return ret;
	memset(ah, 0, sizeof(*ah));
	ah->type = rdma_ah_find_type(device, port);
	rdma_ah_set_port_num(ah, port);
	if (!rdma_cap_eth_ah(device, port)) {
		rdma_ah_set_dlid(ah, attr.lid);
		return 0;
	}
	for (i = 0; i < attr.gid_tbl_len; i++) {
		gid = rdma_get_gid_attr(device, port, i);
		if (IS_ERR(gid))
			continue;
		rdma_move_grh_sgid_attr(ah, (union ib_gid *)&gid->gid, 0, 1, 0,
					gid);
		return 0;
	}
	return -EADDRNOTAVAIL;
}

static int to_init(struct rext_proxy *proxy, struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = proxy->port,
		.qp_access_flags = IB_ACCESS_REMOTE_READ |
				   IB_ACCESS_REMOTE_WRITE,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
					       IB_QP_PORT | IB_QP_ACCESS_FLAGS);
}

static int to_rtr(struct rext_proxy *proxy, struct ib_qp *qp, u32 psn)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_256,
		.dest_qp_num = qp->qp_num,
		.rq_psn = psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
	};
	int ret;

	ret = own_address(proxy->device, proxy->port, &attr.ah_attr);
	if (ret)
		return ret;
	ret = ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
					      IB_QP_DEST_QPN | IB_QP_RQ_PSN |
					      IB_QP_MAX_DEST_RD_ATOMIC |
					      IB_QP_MIN_RNR_TIMER);
	rdma_destroy_ah_attr(&attr.ah_attr);
	return ret;
}

static int to_rts(struct ib_qp *qp, u32 psn)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.sq_psn = psn,
		.max_rd_atomic = 1,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT |
					       IB_QP_RETRY_CNT |
					       IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
					       IB_QP_MAX_QP_RD_ATOMIC);
}

/* Makes a queue pair that is connected to itself. */
static struct ib_qp *make_qp(struct rext_proxy *proxy)
{
	struct ib_qp_init_attr attr = {
		.send_cq = proxy->cq,
		.recv_cq = proxy->cq,
		.cap = {
			.max_send_wr = DEPTH + 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	u32 psn = get_random_u32() & 0xffffff;
	struct ib_qp *qp;
	int ret;

	qp = ib_create_qp(proxy->pd, &attr);
	if (IS_ERR(qp))
		return qp;
	ret = to_init(proxy, qp);
	if (!ret)
		ret = to_rtr(proxy, qp, psn);
	if (!ret)
		ret = to_rts(qp, psn);
	if (ret) {
		ib_destroy_qp(qp);
		return ERR_PTR(ret);
	}
	return qp;
}

/* Nothing is posted any more. Returns when nothing is in flight either. */
static void drop_qp(struct rext_proxy *proxy)
{
	struct ib_qp *qp = proxy->qp;

	if (!qp)
		return;
	ib_drain_sq(qp);
	spin_lock_bh(&proxy->lock);
	proxy->qp = NULL;
	spin_unlock_bh(&proxy->lock);
	ib_destroy_qp(qp);
	spin_lock_bh(&proxy->lock);
	proxy->epoch++;
	spin_unlock_bh(&proxy->lock);
	wake_up_all(&proxy->wait);
}

static void use_qp(struct rext_proxy *proxy, struct ib_qp *qp)
{
	spin_lock_bh(&proxy->lock);
	proxy->qp = qp;
	proxy->room = DEPTH;
	/* One that is being taken down is not put to use any more. */
	proxy->broken = proxy->closed;
	WRITE_ONCE(proxy->failing, false);
	spin_unlock_bh(&proxy->lock);
	wake_up_all(&proxy->wait);
}

static void recover(struct work_struct *work)
{
	struct rext_proxy *proxy = container_of(to_delayed_work(work),
						struct rext_proxy, recover);
	struct ib_qp *qp;

	drop_qp(proxy);
	qp = make_qp(proxy);
	if (IS_ERR(qp)) {
		pr_warn_ratelimited("rds_ext: %s: no new queue pair for MRs (error %ld), trying again\n",
				    proxy->device->name, PTR_ERR(qp));
		WRITE_ONCE(proxy->failing, true);
		wake_up_all(&proxy->wait);
		schedule_delayed_work(&proxy->recover, HZ);
		return;
	}
	proxy->recoveries++;
	use_qp(proxy, qp);
}

/**
 * rext_proxy_init() - set up the queue pair
 * @proxy: set up
 * @device: the RDMA device
 * @pd: protection domain of the MRs
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int rext_proxy_init(struct rext_proxy *proxy, struct ib_device *device,
		    struct ib_pd *pd)
{
	struct ib_qp *qp;

	proxy->device = device;
	proxy->pd = pd;
	proxy->port = rdma_start_port(device);
	spin_lock_init(&proxy->lock);
	init_waitqueue_head(&proxy->wait);
	INIT_DELAYED_WORK(&proxy->recover, recover);

	proxy->cq = ib_alloc_cq_any(device, proxy, DEPTH + 2, IB_POLL_SOFTIRQ);
	if (IS_ERR(proxy->cq))
		return PTR_ERR(proxy->cq);
	qp = make_qp(proxy);
	if (IS_ERR(qp)) {
		ib_free_cq(proxy->cq);
		return PTR_ERR(qp);
	}
	use_qp(proxy, qp);
	return 0;
}

/**
 * rext_proxy_exit() - take the queue pair down
 * @proxy: what was set up
 *
 * Operations under way end first, with an error where they have not been
 * executed; none can be begun any more.
 *
 * Context: process, may sleep.
 */
void rext_proxy_exit(struct rext_proxy *proxy)
{
	spin_lock_bh(&proxy->lock);
	proxy->closed = true;
	proxy->broken = true;
	spin_unlock_bh(&proxy->lock);
	wake_up_all(&proxy->wait);
	cancel_delayed_work_sync(&proxy->recover);
	drop_qp(proxy);
	ib_free_cq(proxy->cq);
}

static bool try_room(struct rext_proxy *proxy, unsigned int n,
		     unsigned int spare, unsigned int *epoch)
{
	bool taken = false;

	spin_lock_bh(&proxy->lock);
	if (!proxy->broken && proxy->room >= n + spare) {
		proxy->room -= n;
		*epoch = proxy->epoch;
		taken = true;
	}
	spin_unlock_bh(&proxy->lock);
	return taken;
}

/* Leaves @spare places for others. */
static int take_room(struct rext_proxy *proxy, unsigned int n,
		     unsigned int spare, unsigned int *epoch)
{
	bool taken = false;

	if (try_room(proxy, n, spare, epoch))
		return 0;
	wait_event_timeout(proxy->wait,
			   (taken = try_room(proxy, n, spare, epoch)) ||
			   READ_ONCE(proxy->closed) ||
			   READ_ONCE(proxy->failing), PATIENCE);
	if (taken)
		return 0;
	return READ_ONCE(proxy->closed) ? -ENODEV : -EAGAIN;
}

static void prepare(struct rext_proxy *proxy, struct rext_proxy_op *op,
		    struct rext_proxy_op *last)
{
	op->cqe.done = op_done;
	op->proxy = proxy;
	op->last = last;
}

static void prepare_last(struct rext_proxy_op *last, unsigned int entries)
{
	init_completion(&last->done);
	last->status = IB_WC_SUCCESS;
	last->entries = entries;
}

/*
 * Posts a chain that room was taken for and waits for its end. Room belongs to
 * one queue pair: where that is gone meanwhile, nothing is posted. @stale tells
 * whether any of it can have been executed although this fails.
 */
static int run(struct rext_proxy *proxy, const struct ib_send_wr *first,
	       struct rext_proxy_op *last, unsigned int epoch, bool *stale)
{
	int ret = -EIO;

	spin_lock_bh(&proxy->lock);
	*stale = !proxy->broken && proxy->epoch == epoch;
	if (*stale) {
		ret = ib_post_send(proxy->qp, first, NULL);
		if (ret)
			fail(proxy);
	}
	spin_unlock_bh(&proxy->lock);
	if (!*stale)
		return ret;

	if (ret) {
		/* A part may have been posted, whose end nobody tells. */
		wait_event(proxy->wait, READ_ONCE(proxy->epoch) != epoch);
		return -EIO;
	}
	/* A device that cannot even drain a queue pair owes the completion. */
	while (!wait_for_completion_timeout(&last->done, HZ))
		if (READ_ONCE(proxy->epoch) != epoch &&
		    !completion_done(&last->done))
			return -EIO;
	if (last->status != IB_WC_SUCCESS)
		return -EIO;
	*stale = false;
	return 0;
}

/**
 * rext_proxy_register() - register an MR and wait for it
 * @proxy: the queue pair
 * @op: the operation of this MR, which has no other under way
 * @mr: the MR, mapped, with its key
 * @access: IB_ACCESS_* of the MR
 * @stale: set to whether the state of the MR is unknown where this fails
 *
 * Context: process, may sleep.
 * Return: 0, -EAGAIN where the queue pair is broken and could not be replaced,
 * -ENODEV where it has been taken down, -EIO where it broke meanwhile.
 */
int rext_proxy_register(struct rext_proxy *proxy, struct rext_proxy_op *op,
			struct ib_mr *mr, int access, bool *stale)
{
	unsigned int epoch;
	int ret;

	*stale = false;
	/* However many register, there is always room for a chain. */
	ret = take_room(proxy, 1, REXT_PROXY_CHAIN, &epoch);
	if (ret)
		return ret;

	prepare(proxy, op, op);
	prepare_last(op, 1);
	memset(&op->reg, 0, sizeof(op->reg));
	op->reg.wr.opcode = IB_WR_REG_MR;
	op->reg.wr.send_flags = IB_SEND_SIGNALED;
	op->reg.wr.wr_cqe = &op->cqe;
	op->reg.mr = mr;
	op->reg.key = mr->rkey;
	op->reg.access = access;
	return run(proxy, &op->reg.wr, op, epoch, stale);
}

/**
 * rext_proxy_invalidate() - invalidate MRs and wait for it
 * @proxy: the queue pair
 * @ops: the operations of the MRs, which have no other under way
 * @keys: their keys
 * @n: their number, 1 to REXT_PROXY_CHAIN
 *
 * Context: process, may sleep.
 * Return: 0, or a negative errno where all these MRs are stale.
 */
int rext_proxy_invalidate(struct rext_proxy *proxy,
			  struct rext_proxy_op **ops, const u32 *keys,
			  unsigned int n)
{
	struct rext_proxy_op *last = ops[n - 1];
	unsigned int epoch;
	unsigned int i;
	bool stale;
	int ret;

	ret = take_room(proxy, n, 0, &epoch);
	if (ret)
		return ret;

	prepare_last(last, n);
	for (i = 0; i < n; i++) {
		struct ib_send_wr *wr = &ops[i]->inv;

		prepare(proxy, ops[i], last);
		memset(wr, 0, sizeof(*wr));
		wr->opcode = IB_WR_LOCAL_INV;
		wr->wr_cqe = &ops[i]->cqe;
		wr->ex.invalidate_rkey = keys[i];
		if (i + 1 < n)
			wr->next = &ops[i + 1]->inv;
		else
			wr->send_flags = IB_SEND_SIGNALED;
	}
	return run(proxy, &ops[0]->inv, last, epoch, &stale);
}
