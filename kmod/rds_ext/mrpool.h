/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The MRs that a device has lent us, in two sizes. Those of the RDMA core
 * (ib_mr_pool_init()) hold a fixed number of one size for a queue pair; these
 * grow when all are in use, up to a limit that can be changed, and replace
 * what an error has left in an unknown state.
 *
 * Lifetime of a struct rext_slot: belongs either to the list of free ones of its
 * device, or to one struct rext_mr, or to whoever is moving it between the two.
 * Nothing is in flight for a free one, and its key is invalid.
 */
#ifndef RDS_EXT_MRPOOL_H
#define RDS_EXT_MRPOOL_H

#include <linux/list.h>
#include <linux/types.h>

#include "proxy.h"

struct rext_mrdev;

/* A buffer of 64 KiB, and the largest message of RDS; one page for alignment. */
#define REXT_SMALL_PAGES	17
#define REXT_LARGE_PAGES	257

/**
 * enum rext_slot_size - the sizes
 * @REXT_SMALL: up to REXT_SMALL_PAGES
 * @REXT_LARGE: up to REXT_LARGE_PAGES
 * @REXT_SIZES: their number
 */
enum rext_slot_size {
	REXT_SMALL,
	REXT_LARGE,
	REXT_SIZES,
};

/**
 * struct rext_slot - an MR of the device
 * @node: in the list of free ones, or of those to be deallocated
 * @mr: the MR
 * @size: how large it is
 * @variant: lowest byte of its key, another one each time it is registered
 * @op: the operation on it, one at a time
 */
struct rext_slot {
	struct list_head node;
	struct ib_mr *mr;
	enum rext_slot_size size;
	u8 variant;
	struct rext_proxy_op op;
};

struct rext_slot *rext_pool_take(struct rext_mrdev *dev, unsigned int pages);
void rext_pool_put(struct rext_mrdev *dev, struct rext_slot *slot);
void rext_pool_drop(struct rext_mrdev *dev, struct rext_slot *slot);
void rext_pool_trim(struct rext_mrdev *dev);
void rext_pool_exit(struct rext_mrdev *dev);

#endif /* RDS_EXT_MRPOOL_H */
