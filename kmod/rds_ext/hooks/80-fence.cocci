// SPDX-License-Identifier: GPL-2.0
// The message behind an RDMA read may have to wait for the read: the peer lets go
// of the memory when the message comes. net/rds leaves that to the fence of the
// queue pair. With soft RoCE that fence can stop the queue pair for good: when a
// fenced send has to be sent again while a later read is under way, each waits for
// the other, and no timer runs. So with rds_ext.ko the message is not posted
// before the read has completed, and needs no fence then.
//
// plants: 1 in ib_send.c: rds_hooks_rdma_last(
// plants: 1 in ib_send.c: rds_hooks_tx_wait(
// plants: 1 in ib_send.c: rds_hooks_tx_fenced(

// A read that is to be waited for has to tell when it is done.
@rds_hooks_rdma_last@
identifier conn, op, prev;
@@
 rds_ib_xmit_rdma(struct rds_connection *conn, struct rm_rdma_op *op)
 {
 <+...
 prev->s_op = op;
+nr_sig += rds_hooks_rdma_last(conn, op, &prev->s_wr);
 ...+>
 }

// As with a full send ring: the next completion has the message sent.
@rds_hooks_tx_wait@
identifier conn, rm;
statement S1, S2;
@@
 rds_ib_xmit(struct rds_connection *conn, struct rds_message *rm, ...)
 {
 ... when != S1
+if (rds_hooks_tx_wait(conn, rm))
+	return -ENOMEM;
 S2
 ... when any
 }

@rds_hooks_tx_fenced@
identifier rm;
@@
 rds_ib_xmit(..., struct rds_message *rm, ...)
 {
 <+...
 if (rm->rdma.op_active && rm->rdma.op_fence
+    && !rds_hooks_tx_fenced(rm)
    )
 	send_flags = IB_SEND_FENCE;
 ...+>
 }
