/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which RDMA device a local address belongs to.
 */
#ifndef RDS_EXT_LOCALDEV_H
#define RDS_EXT_LOCALDEV_H

struct rds_sock;
struct rdma_cm_id;

struct rdma_cm_id *rext_localdev_bind(const struct rds_sock *rs);

#endif /* RDS_EXT_LOCALDEV_H */
