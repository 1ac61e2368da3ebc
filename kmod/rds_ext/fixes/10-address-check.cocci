// SPDX-License-Identifier: GPL-2.0
// kernels: debug
//
// The event of an incoming connection asks whether the peer's address is local.
// For an address that RDS does not know, the transport finds out by binding a CM
// id to it and destroying that, which takes the id's handler mutex inside the
// listening id's. The two are never the same, so nothing can go wrong, but lockdep
// takes them for one, reports it and watches no lock from then on, ours included.
//
// To bind to an IPv4 address, the CM looks it up in the same way first.
//
// plants: 1 in ib.c: !__ip_dev_find(&init_net, addr->s6_addr32[3], false)

@address_check@
typedef __u32;
identifier net, addr, scope_id;
@@
 static int rds_ib_laddr_check(struct net *net, const struct in6_addr *addr,
			      __u32 scope_id)
 {
 ...
+if (ipv6_addr_v4mapped(addr) &&
+    !__ip_dev_find(&init_net, addr->s6_addr32[3], false))
+	return -EADDRNOTAVAIL;
 return rds_ib_laddr_check_cm(net, addr, scope_id);
 }
