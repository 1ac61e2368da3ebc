// SPDX-License-Identifier: GPL-2.0
// Why a connection is about to end. net/rds tells its log, if anybody.
//
// plants: 1 in ib_send.c: rds_hooks_conn_error(conn, RDS_HOOKS_SEND_ERROR
// plants: 1 in ib_recv.c: rds_hooks_conn_error(conn, RDS_HOOKS_RECEIVE_ERROR
// plants: 3 or 4 in ib_recv.c: rds_hooks_conn_error(conn, RDS_HOOKS_BAD_MESSAGE
// plants: 1 in rdma_transport.c: rds_hooks_cm_event(conn, event);

// Not for what is flushed while the queue pair is being shut down.
@rds_hooks_send_error@
identifier conn, wc;
@@
 rds_ib_send_cqe_handler(..., struct ib_wc *wc)
 {
 <+...
+rds_hooks_conn_error(conn, RDS_HOOKS_SEND_ERROR, wc->status);
 rds_ib_conn_error(conn, ...);
 ...+>
 }

@rds_hooks_receive_error@
identifier conn, wc;
@@
 rds_ib_recv_cqe_handler(..., struct ib_wc *wc, ...)
 {
 <+...
 if (rds_conn_up(conn) || rds_conn_connecting(conn))
+{
+rds_hooks_conn_error(conn, RDS_HOOKS_RECEIVE_ERROR, wc->status);
 rds_ib_conn_error(conn, ...);
+}
 ...+>
 }

@rds_hooks_bad_message@
identifier conn;
@@
 rds_ib_process_recv(struct rds_connection *conn, ...)
 {
 <+...
+rds_hooks_conn_error(conn, RDS_HOOKS_BAD_MESSAGE, 0);
 rds_ib_conn_error(conn, ...);
 ...+>
 }

// Behind the test for a connection that is being shut down: what the connection
// manager has to say then is no reason any more.
@rds_hooks_cm_event@
identifier conn, event;
@@
 rds_rdma_cm_event_handler_cmn(..., struct rdma_cm_event *event, ...)
 {
 <+...
 if (conn) {
 mutex_lock(&conn->c_cm_lock);
 if (...) { ... }
+rds_hooks_cm_event(conn, event);
 }
 ...+>
 }
