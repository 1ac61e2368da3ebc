// SPDX-License-Identifier: GPL-2.0
/*
 * Compiled into ib.c, in front of the check that asks here first.
 */

/*
 * Asks the devices directly. Returns 1 where only the CM can tell, 0 where the
 * address is local, else an error. Devices are found only if they name their
 * network device themselves, as soft RoCE does: this is for tests.
 */
static int rds_fix_laddr_check(const struct in6_addr *addr)
{
	struct ib_device *ibdev = NULL;
	struct net_device *ndev;
	int ret = -EADDRNOTAVAIL;

	if (ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL)
		return 1;

	/* Keeps the network device until its RDMA device is held. */
	rcu_read_lock();
	if (ipv6_addr_v4mapped(addr))
		ndev = __ip_dev_find(&init_net, addr->s6_addr32[3], false);
	else
		ndev = ipv6_dev_find(&init_net, addr, NULL);
	if (ndev)
		ibdev = ib_device_get_by_netdev(ndev, RDMA_DRIVER_UNKNOWN);
	rcu_read_unlock();
	if (ibdev) {
		if (ibdev->node_type == RDMA_NODE_IB_CA)
			ret = 0;
		ib_device_put(ibdev);
	}
	return ret;
}
