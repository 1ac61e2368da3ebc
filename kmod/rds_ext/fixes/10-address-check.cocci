// SPDX-License-Identifier: GPL-2.0
// kernels: debug
//
// Whether an address is local, and of a device with RDMA, the transport finds out
// by binding a CM id to it and destroying that. It does so in bind(), under the
// lock of the transports, and in the event of an incoming connection, under the
// handler mutexes of the listening and of the new id. The id made for the check is
// nobody else's, so nothing can hang. But all handler mutexes are one to lockdep: it
// reports a recursion or a circle at the first connection that a node accepts, and
// watches no lock from then on, ours included.
//
// plants: 1 in ib.c: rds_fix_laddr_check(addr)
// plants: 1 in ib.c: #include "fix_address_check.c"

@address_check@
typedef __u32;
identifier net, addr, scope_id;
@@
 static int rds_ib_laddr_check(struct net *net, const struct in6_addr *addr,
			      __u32 scope_id)
 {
 ...
+{
+	int ret = rds_fix_laddr_check(addr);
+
+	if (ret <= 0)
+		return ret;
+}
 return rds_ib_laddr_check_cm(net, addr, scope_id);
 }

@address_check_body@
@@
 rds_ib_laddr_check_cm(...)
 { ... }
+
+#include "fix_address_check.c"
