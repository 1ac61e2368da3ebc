// SPDX-License-Identifier: GPL-2.0
// State of ours lives in a table beside the connections, since a field in
// struct rds_connection would change the CRC of most symbols of rds.ko. So the
// table has to hear of each connection that comes and goes.
//
// plants: 2 in connection.c: rds_hooks_conn_created(conn);
// plants: 1 in connection.c: rds_hooks_conn_destroyed(conn);
// plants: 1 in connection.c: #include "rds_hooks_walk.c"

// The count goes up where a connection (or the passive half of one) has really
// been added, as against the branches that lost a race and free theirs again.
@rds_hooks_conn_created@
expression conn;
@@
 __rds_conn_create(...)
 {
 <+...
 rds_cong_add_conn(conn);
 rds_conn_count++;
+rds_hooks_conn_created(conn);
 ...+>
 }

// The latest possible moment: all work of the connection has been cancelled,
// and a grace period has passed since it left the hash, so that no walker can
// bring it into the table again.
@rds_hooks_conn_destroyed@
identifier conn;
@@
 rds_conn_destroy(struct rds_connection *conn)
 {
 ...
+rds_hooks_conn_destroyed(conn);
 kfree(conn->c_path);
 ...
 }

// Connections that are older than rds_ext.ko have to be found once; the hash is
// static in this file, so the walk is compiled into it.
@rds_hooks_walk@
@@
 rds_conn_exit(...)
 { ... }
+
+#include "rds_hooks_walk.c"
