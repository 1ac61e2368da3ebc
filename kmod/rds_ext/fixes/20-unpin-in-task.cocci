// SPDX-License-Identifier: GPL-2.0
// kernels: 6.1 debug
//
// The last reference to a message goes away in the tasklet of the send
// completions, and with it the pins of the user pages that its RDMA read or
// atomic operation has written to. Those have to be marked dirty, which may sleep
// on the lock of a page: a BUG where the kernel checks, and a CPU that is stuck in
// a softirq where a page happens to be locked.
//
// What changes for users: pages of an RDMA read are unpinned a moment after the
// operation has completed. Later kernels do the same, from 6.12 on.
//
// The message itself is handed over: its list entries are free at that point, so
// there is nothing to allocate and nothing that can fail.
//
// plants: 1 in message.c: rds_fix_put_later(rm)
// plants: 1 in message.c: #include "fix_put_later.c"

@put_later@
identifier rm;
@@
 void rds_message_put(struct rds_message *rm)
 {
 <+...
+if (rds_fix_put_later(rm))
+	return;
 rds_message_purge(rm);
 ...+>
 }

@put_later_body@
@@
 rds_message_purge(...)
 { ... }
+
+#include "fix_put_later.c"
