/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why a connection has ended, or could not be set up.
 */
#ifndef RDS_EXT_CONNEND_H
#define RDS_EXT_CONNEND_H

#include <linux/types.h>

struct rds_connection;
struct rdma_cm_event;
enum rds_hooks_error;

/**
 * struct rext_end - an end with its reason
 * @set: there was one
 * @has_code: @code is set
 * @reason: RDS_EXT_END_REASON_*
 * @code: what the reason says it is
 */
struct rext_end {
	bool set;
	bool has_code;
	u32 reason;
	u32 code;
};

void rext_connend_error(struct rds_connection *rds, enum rds_hooks_error error,
			unsigned int status);
void rext_connend_cm_event(struct rds_connection *rds,
			   const struct rdma_cm_event *event);

#endif /* RDS_EXT_CONNEND_H */
