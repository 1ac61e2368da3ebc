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
// The devices are asked directly here, save for link-local addresses. This finds
// devices that name their network device themselves, as soft RoCE does, and so is
// for tests only.
//
// plants: 1 in ib.c: ib_device_get_by_netdev(ndev,

@address_check@
typedef __u32;
identifier net, addr, scope_id;
@@
 static int rds_ib_laddr_check(struct net *net, const struct in6_addr *addr,
			      __u32 scope_id)
 {
 ...
+if (!(ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL)) {
+	struct net_device *ndev;
+	struct ib_device *ibdev = NULL;
+	int ret = -EADDRNOTAVAIL;
+
+	/* Keeps the network device until its RDMA device is held. */
+	rcu_read_lock();
+	if (ipv6_addr_v4mapped(addr))
+		ndev = __ip_dev_find(&init_net, addr->s6_addr32[3], false);
+	else
+		ndev = ipv6_dev_find(&init_net, addr, NULL);
+	if (ndev)
+		ibdev = ib_device_get_by_netdev(ndev, RDMA_DRIVER_UNKNOWN);
+	rcu_read_unlock();
+	if (ibdev) {
+		if (ibdev->node_type == RDMA_NODE_IB_CA)
+			ret = 0;
+		ib_device_put(ibdev);
+	}
+	return ret;
+}
 return rds_ib_laddr_check_cm(net, addr, scope_id);
 }
