// SPDX-License-Identifier: GPL-2.0
// kernels: 6.1 6.12 7.3 debug
//
// Where both sides of a connection over InfiniBand lose it, both connect at once, and
// each refuses the other while it is trying itself. They wait for a random time that
// starts at a millisecond and doubles, until it is longer than an attempt takes: five
// attempts and more.
//
// What changes for users: the connection is back after one or two. The side with the
// higher address waits for a random part of the longest time (reconnect_max_delay_ms)
// from the beginning. Where only that side can connect, it does so later than before,
// by no more than that time.
//
// plants: 1 in threads.c: #include "fix_connect_turn.c"
// plants: 1 in threads.c: rds_fix_connect_turn(cp);

@turn@
@@
+#include "fix_connect_turn.c"
 void rds_queue_reconnect(...) { ... }

@take_turn depends on turn@
identifier cp;
@@
 void rds_queue_reconnect(struct rds_conn_path *cp)
 {
 ...
 set_bit(RDS_RECONNECT_PENDING, ...);
+rds_fix_connect_turn(cp);
 ...
 }
