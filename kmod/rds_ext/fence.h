/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages that wait for the RDMA read in front of them, without the fence of
 * the queue pair: see hooks/80-fence.cocci.
 */
#ifndef RDS_EXT_FENCE_H
#define RDS_EXT_FENCE_H

#include <linux/types.h>

struct ib_send_wr;
struct rds_connection;
struct rds_message;
struct rm_rdma_op;

int rext_fence_rdma_last(struct rds_connection *rds,
			 const struct rm_rdma_op *op, struct ib_send_wr *wr);
bool rext_fence_tx_wait(struct rds_connection *rds,
			const struct rds_message *rm);

#endif /* RDS_EXT_FENCE_H */
