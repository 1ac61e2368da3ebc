// SPDX-License-Identifier: GPL-2.0
// Memory regions go to the engine of rds_ext.ko where it wants them. What it has
// made comes back to it until it is freed, whatever else goes to the transport.
//
// plants: 1 in ib_rdma.c: rds_hooks_mr_get(
// plants: 1 in ib_rdma.c: rds_hooks_mr_free(
// plants: 1 in ib_rdma.c: rds_hooks_mr_sync(
// plants: 1 in ib_rdma.c: #include "rds_hooks_ib.c"
// plants: 1 in ib.c: rds_hooks_ibdev_removed(
// plants: 1 in rdma.c: rds_hooks_mr_mapped(
// plants: 1 in rdma.c: if (found) {
// plants: -1 in rdma.c: BUG_ON(found && found != mr);
// plants: 1 in rdma.c: rds_hooks_mr_for_dest(
// plants: 1 in rdma.c: rds_hooks_mr_orphaned(
// plants: 3 in rdma.c: rds_hooks_mr_flush(
// plants: 1 in rdma.c: rds_hooks_mr_freed(
// plants: 1 in recv.c: rds_hooks_mr_release(
// plants: 1 in send.c: rds_hooks_mr_unsent(

// On-demand paging has no pages to hand over; that stays with the transport.
@rds_hooks_mr_get@
identifier sg, nents, rs, key_ret, conn, start, length, need_odp;
statement S1, S2;
@@
 rds_ib_get_mr(struct scatterlist *sg, unsigned long nents,
               struct rds_sock *rs, u32 *key_ret,
               struct rds_connection *conn,
               u64 start, u64 length, int need_odp)
 {
 ... when != S1
+{
+	void *taken = rds_hooks_mr_get(&rds_hooks_ib, sg, nents, rs, key_ret, length);
+
+	if (taken)
+		return taken;
+}
 S2
 ... when any
 }

@rds_hooks_mr_free@
identifier trans_private, invalidate;
statement S1, S2;
@@
 rds_ib_free_mr(void *trans_private, int invalidate)
 {
 ... when != S1
+if (rds_hooks_mr_free(trans_private))
+	return;
 S2
 ... when any
 }

@rds_hooks_mr_sync@
identifier trans_private, direction;
statement S1, S2;
@@
 rds_ib_sync_mr(void *trans_private, int direction)
 {
 ... when != S1
+if (rds_hooks_mr_sync(trans_private, direction))
+	return;
 S2
 ... when any
 }

@rds_hooks_ib depends on rds_hooks_mr_get@
@@
 #include "rds.h"
+#include "rds_hooks_ib.c"

// Nobody can find the device any more, and who has found it is done with that.
@rds_hooks_ibdev_removed@
identifier rds_ibdev;
@@
 rds_ib_remove_one(...)
 {
 <+...
 synchronize_rcu();
+rds_hooks_ibdev_removed(rds_ibdev);
 rds_ib_dev_put(rds_ibdev);
 ...+>
 }

// The flags are the core's, and with them whether a peer may release the MR.
@rds_hooks_mr_mapped@
identifier mr, trans_private, cp;
@@
 __rds_rdma_map(..., struct rds_conn_path *cp)
 {
 <+...
 mr->r_trans_private = trans_private;
+rds_hooks_mr_mapped(mr, cp);
 ...+>
 }

// Keys are unique among the MRs of a device. An MR whose device has gone keeps
// its place in the tree until it is freed, and another device can come up with
// its key.
@rds_hooks_mr_found@
identifier found, mr;
@@
 __rds_rdma_map(...)
 {
 <+...
-BUG_ON(found && found != mr);
+if (found) {
+	ret = -EAGAIN;
+	goto out;
+}
 ...+>
 }

@rds_hooks_mr_for_dest@
identifier rs, args, new_args;
@@
 rds_get_mr_for_dest(struct rds_sock *rs, ...)
 {
 ...
 if (copy_from_sockptr(&args, ...))
 	return ...;
 ... when any
-return __rds_rdma_map(rs, &new_args, NULL, NULL, NULL);
+{
+	u64 cookie;
+	int ret = __rds_rdma_map(rs, &new_args, &cookie, NULL, NULL);
+
+	if (!ret)
+		rds_hooks_mr_for_dest(rs, cookie, (struct sockaddr_storage *)&args.dest_addr);
+	return ret;
+}
 }

@rds_hooks_mr_orphaned@
identifier mr;
@@
 rds_rdma_drop_keys(...)
 {
 <+...
 mr = rb_entry(...);
+rds_hooks_mr_orphaned(mr);
 ...+>
 }

// When a socket is closed, and when an application asks for it.
@rds_hooks_mr_flush@
identifier rs;
@@
+rds_hooks_mr_flush();
 rs->rs_transport->flush_mrs();

// A message that carried the key and has not been acknowledged holds the MR for
// longer; the key has to die now all the same.
@rds_hooks_mr_freed@
identifier mr;
@@
 rds_free_mr(...)
 {
 <+...
 mr = rds_mr_tree_walk(...);
+if (mr)
+	rds_hooks_mr_freed(mr);
 ...+>
+if (mr->r_invalidate)
+	rds_hooks_mr_flush();
 kref_put(&mr->r_kref, __rds_put_mr_final);
 ...
 }

@rds_hooks_mr_release@
identifier inc, rs;
expression key;
@@
 rds_recv_incoming_exthdrs(struct rds_incoming *inc, struct rds_sock *rs)
 {
 <+...
-rds_rdma_unuse(rs, key, 0);
+if (rds_hooks_mr_release(inc->i_conn, rs, key))
+	rds_rdma_unuse(rs, key, 0);
 ...+>
 }

// The MR is the last thing that a sendmsg() undoes which fails.
@rds_hooks_mr_unsent@
identifier rs, rm;
@@
+rds_hooks_mr_unsent(rs, rm->m_rdma_cookie);
 rds_rdma_unuse(rs, rds_rdma_cookie_key(rm->m_rdma_cookie), 1);
