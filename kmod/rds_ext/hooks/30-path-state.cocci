// SPDX-License-Identifier: GPL-2.0
// What the two sides have told each other holds for one incarnation of the
// connection. It is forgotten when a path shuts down and not when the next one
// comes up: the accepting side can receive the peer's first message before its
// own "established" event.
//
// plants: 1 in connection.c: rds_hooks_path_down(cp);
// plants: 1 in threads.c: rds_hooks_path_up(cp);

// The transport has quiesced its receive side here, and the shutdown holds the
// transmit bit lock: no header of either incarnation can pass meanwhile.
@rds_hooks_path_down@
identifier cp, conn;
@@
 rds_conn_shutdown(struct rds_conn_path *cp)
 {
 <+...
 conn->c_trans->conn_path_shutdown(cp);
+rds_hooks_path_down(cp);
 ...+>
 }

// Behind the transition to UP, which can fail.
@rds_hooks_path_up@
identifier cp, curr;
@@
 rds_connect_path_complete(struct rds_conn_path *cp, int curr)
 {
 ... when any
 cp->cp_reconnect_jiffies = 0;
+rds_hooks_path_up(cp);
 ... when any
 }
