// SPDX-License-Identifier: GPL-2.0
#include <rdma/ib_verbs.h>

#include "rds.h"

#include "conn.h"
#include "fence.h"
#include "lease.h"

/**
 * rext_fence_rdma_last() - an RDMA read is about to be posted
 * @rds: its connection
 * @op: the operation
 * @wr: its last work request
 *
 * Context: process or softirq, under rcu_read_lock() and with the right to
 * transmit on the connection.
 * Return: 1 where the work request was not signalled before, else 0.
 */
int rext_fence_rdma_last(struct rds_connection *rds,
			 const struct rm_rdma_op *op, struct ib_send_wr *wr)
{
	struct rext_conn *c = rext_conn_find(rds);

	if (!c)
		return 0;
	c->read = op;
	if (wr->send_flags & IB_SEND_SIGNALED)
		return 0;
	wr->send_flags |= IB_SEND_SIGNALED;
	return 1;
}

/**
 * rext_fence_tx_wait() - whether a message has to wait for its RDMA read
 * @rds: its connection
 * @rm: the message, whose read has not completed
 *
 * A read that was posted before the module was loaded may not tell when it is
 * done; there, the fence of the queue pair has to do.
 *
 * Context: process or softirq, under rcu_read_lock() and with the right to
 * transmit on the connection.
 * Return: true where it has to wait. It is sent when the read completes.
 */
bool rext_fence_tx_wait(struct rds_connection *rds,
			const struct rds_message *rm)
{
	struct rext_conn *c = rext_conn_find(rds);

	if (!c || c->read != &rm->rdma)
		return false;
	if (!rm->rdma.op_fence && !rext_lease_taken(c, rm->rdma.op_rkey))
		return false;
	set_bit(RDS_LL_SEND_FULL, &rds->c_path[0].cp_flags);
	/*
	 * Whoever completes the read unmaps it and looks at the bit then: it
	 * has been unmapped by now, or the bit will be seen.
	 */
	smp_mb__after_atomic();
	if (rm->rdma.op_mapped)
		return true;
	clear_bit(RDS_LL_SEND_FULL, &rds->c_path[0].cp_flags);
	return false;
}
