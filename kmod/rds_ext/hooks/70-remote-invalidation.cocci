// SPDX-License-Identifier: GPL-2.0
// The last fragment of a message behind an RDMA may have the peer's HCA
// invalidate the key that was used.
//
// plants: 1 in ib_send.c: rds_hooks_tx_last(
// plants: 1 in ib_send.c: send->s_wr.opcode = rds_hooks_send_opcode(
// plants: 1 in ib_recv.c: rds_hooks_rx_invalidate(

@rds_hooks_tx_last@
identifier conn, rm, ic, prev;
@@
 rds_ib_xmit(struct rds_connection *conn, struct rds_message *rm, ...)
 {
 <+...
 prev->s_op = ic->i_data_op;
 prev->s_wr.send_flags |= IB_SEND_SOLICITED;
+rds_hooks_tx_last(conn, rm, &prev->s_wr);
 ...+>
 }

// Its completion ends the message as that of any other send does, also when
// rds_ext.ko has gone meanwhile.
@rds_hooks_send_opcode@
identifier send;
statement S1, S2;
@@
 rds_ib_send_unmap_op(..., struct rds_ib_send_work *send, ...)
 {
 ... when != S1
+send->s_wr.opcode = rds_hooks_send_opcode(send->s_wr.opcode);
 S2
 ... when any
 }

// Before the message is looked at: its extension header releases the MR.
@rds_hooks_rx_invalidate@
identifier ic, wc, conn;
@@
 rds_ib_recv_cqe_handler(struct rds_ib_connection *ic, struct ib_wc *wc, ...)
 {
 struct rds_connection *conn = ic->conn;
 <+...
 rds_ib_stats_inc(s_ib_rx_cq_event);
+rds_hooks_rx_invalidate(conn, wc);
 ...+>
 }
