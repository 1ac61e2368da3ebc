// SPDX-License-Identifier: GPL-2.0
// kernels: 6.1 6.12 7.3 debug
//
// A connection that goes down waits for all memory regions that were registered
// through it, without limit: those that applications hold, too. An application
// that keeps a region and waits for its peer waits for ever, and so does all other
// traffic between the two hosts. What wants to register meanwhile dereferences a
// queue pair that is gone, or waits for a completion that nobody polls for.
//
// What changes for users: the connection goes down and comes up again whatever is
// registered, and the regions stay good. A registration while the connection is
// not up fails with ENODEV, as it did before the first connect.
//
// A region belongs to the protection domain, so that the queue pair of the next
// incarnation can invalidate it. Without a connection that is up it is marked
// stale, which has it deregistered, here before its pages are given back. Nothing
// is posted to a queue pair unless the connection is up, under a lock that the
// shutdown takes once: whoever has posted before has counted that down in
// i_fastreg_wrs, which the shutdown waits for. Only the end of the connection
// object waits for the regions now, for they point to it.
//
// plants: 1 in ib_frmr.c: #include "fix_post.c"
// plants: 1 in ib_frmr.c: rds_fix_post(ibmr->ic, &reg_wr.wr);
// plants: 1 in ib_frmr.c: rds_fix_post(ibmr->ic, s_wr);
// plants: -2 in ib_frmr.c: ib_post_send(
// plants: 1 in ib_frmr.c: if (READ_ONCE(frmr->fr_state) != FRMR_IS_INUSE)
// plants: 1 in ib_frmr.c: if (!rds_conn_up(ibmr->ic->conn))
// plants: 1 in ib_frmr.c: rds_fix_drop_stale(frmr);
// plants: 1 in ib_cm.c: #include "fix_regions_gone.c"
// plants: -1 in ib_cm.c: (atomic_read(&ic->i_fastreg_inuse_count)) == 0
// plants: 1 in ib_cm.c: rds_fix_post_barrier();
// plants: 1 in ib_cm.c: rds_fix_regions_gone(ic);
// plants: 1 in ib_rdma.c: !rds_conn_up(conn)

@post_body@
@@
 rds_transition_frwr_state(...)
 { ... }
+
+#include "fix_post.c"

@post_reg@
identifier ibmr, reg_wr;
@@
 rds_ib_post_reg_frmr(struct rds_ib_mr *ibmr)
 {
 <+...
-ib_post_send(ibmr->ic->i_cm_id->qp, &reg_wr.wr, NULL)
+rds_fix_post(ibmr->ic, &reg_wr.wr)
 ...+>
 }

@reg_failed@
identifier frmr;
@@
 rds_ib_post_reg_frmr(...)
 {
 <+...
 wait_event(frmr->fr_reg_done, !frmr->fr_reg);
+if (READ_ONCE(frmr->fr_state) != FRMR_IS_INUSE)
+	ret = -ENODEV;
 ...+>
 }

@post_inv@
identifier ibmr, i_cm_id, s_wr, frmr, ret;
expression E;
statement S1, S2;
@@
 rds_ib_post_inv(struct rds_ib_mr *ibmr)
 {
 ...
-struct rdma_cm_id *i_cm_id = E;
 ...
 if (
-    !i_cm_id || !i_cm_id->qp ||
     !frmr->mr)
 	S1
 if (frmr->fr_state != FRMR_IS_INUSE)
 	S2
+if (!rds_conn_up(ibmr->ic->conn)) {
+	rds_transition_frwr_state(ibmr, FRMR_IS_INUSE, FRMR_IS_STALE);
+	goto out;
+}
 ...
-ret = ib_post_send(i_cm_id->qp, s_wr, NULL);
+ret = rds_fix_post(ibmr->ic, s_wr);
 ...
 }

@dereg_first@
identifier ibmr, frmr;
expression E;
@@
 rds_ib_unreg_frmr(...)
 {
 <+...
 frmr = E;
+rds_fix_drop_stale(frmr);
 __rds_ib_teardown_mr(ibmr);
 ...+>
 }

@no_wait_for_regions@
identifier ic;
expression E1, E2;
@@
 rds_ib_conn_path_shutdown_check_wait(...)
 {
 <+...
-E1 && (atomic_read(&ic->i_fastreg_inuse_count)) == 0 && E2
+E1 && E2
 ...+>
 }

@post_barrier@
@@
 rds_ib_conn_path_shutdown(...)
 {
 <+...
+rds_fix_post_barrier();
 rds_ib_flush_mrs();
 ...+>
 }

@regions_gone_body@
@@
 rds_ib_conn_path_shutdown_check_wait(...)
 { ... }
+
+#include "fix_regions_gone.c"

@regions_gone@
identifier ic, arg;
@@
 rds_ib_conn_free(void *arg)
 {
 struct rds_ib_connection *ic = arg;
 ... when any
+rds_fix_regions_gone(ic);
 lock_ptr = ...;
 ... when any
 }

@register_when_up@
identifier ic, conn;
@@
 rds_ib_get_mr(..., struct rds_connection *conn, ...)
 {
 <+...
-!ic || !ic->i_cm_id || !ic->i_cm_id->qp
+!ic || !rds_conn_up(conn)
 ...+>
 }
