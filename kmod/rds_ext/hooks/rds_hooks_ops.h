/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the operations are, for the files of rds.ko that call them.
 */
#ifndef RDS_HOOKS_OPS_H
#define RDS_HOOKS_OPS_H

#include <linux/rcupdate.h>
#include <linux/rwsem.h>

struct rds_hooks_ops;

/*
 * Set and cleared with the semaphore held for writing. Read under RCU, or with
 * the semaphore held for reading by calls that may sleep.
 */
extern const struct rds_hooks_ops __rcu *rds_hooks_ops;
extern struct rw_semaphore rds_hooks_sem;

#endif /* RDS_HOOKS_OPS_H */
