/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The MRs of the engine, by number and by key.
 *
 * An MR is in the table by number from before it is registered until it is gone,
 * and in the one by key for as long as its key is taken. Both are read under
 * RCU. Their locks are innermost, taken in any context.
 */
#ifndef RDS_EXT_MRTABLE_H
#define RDS_EXT_MRTABLE_H

#include <linux/types.h>

struct net;
struct rds_ib_device;
struct rds_sock;
struct rext_mr;
struct rext_mr_info;

int rext_mrtable_number(struct rext_mr *m);
void rext_mrtable_add(struct rext_mr *m);
void rext_mrtable_remove(struct rext_mr *m);

struct rext_mr *rext_mrtable_of_socket(const struct rds_sock *rs, u32 key);
struct rext_mr *rext_mrtable_of_device(const struct rds_ib_device *rds_ibdev,
				       u32 key);
struct rext_mr *rext_mrtable_get(u32 id);
struct rext_mr *rext_mrtable_next(unsigned long *id);

u32 rext_mrtable_generation(void);
bool rext_mrtable_show(const struct net *net, u32 id,
		       struct rext_mr_info *info);
bool rext_mrtable_show_next(const struct net *net, unsigned long *id,
			    struct rext_mr_info *info);

#endif /* RDS_EXT_MRTABLE_H */
