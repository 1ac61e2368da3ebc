// SPDX-License-Identifier: GPL-2.0
#include <linux/err.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <rdma/rdma_cm.h>

#include "rds.h"

#include "localdev.h"

/* An id that is only bound has no events but the removal of its device. */
static int handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	return 0;
}

/**
 * rext_localdev_bind() - bind an id of the connection manager to an address
 * @rs: socket that is bound to the address
 *
 * The connection manager finds the device in each way there is: IPoIB, RoCE,
 * VLANs. The device stays while the id does.
 *
 * Context: process, may sleep.
 * Return: the id, with its device set, to be destroyed with rdma_destroy_id();
 * -ENODEV where the address belongs to no RDMA device.
 */
struct rdma_cm_id *rext_localdev_bind(const struct rds_sock *rs)
{
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} addr = { };
	struct rdma_cm_id *id;

	if (ipv6_addr_v4mapped(&rs->rs_bound_addr)) {
		addr.in.sin_family = AF_INET;
		addr.in.sin_addr.s_addr = rs->rs_bound_addr_v4;
	} else {
		addr.in6.sin6_family = AF_INET6;
		addr.in6.sin6_addr = rs->rs_bound_addr;
		addr.in6.sin6_scope_id = rs->rs_bound_scope_id;
	}
	/* RDS over IB lives in the initial network namespace only. */
	id = rdma_create_id(&init_net, handler, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return id;
	if (rdma_bind_addr(id, &addr.sa) || !id->device) {
		rdma_destroy_id(id);
		return ERR_PTR(-ENODEV);
	}
	return id;
}
