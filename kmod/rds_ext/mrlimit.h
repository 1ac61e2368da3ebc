/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What each socket and each user may have: MRs and pinned pages.
 *
 * A struct rext_mrsock counts for one socket; it is made with the first MR of
 * the socket and freed with the last one, by the struct rext_charge of the MRs.
 * A socket that is closed leaves it behind until its last MR is unpinned. The
 * pages of a user without CAP_IPC_LOCK count for RLIMIT_MEMLOCK, together with
 * what other parts of the kernel count there.
 */
#ifndef RDS_EXT_MRLIMIT_H
#define RDS_EXT_MRLIMIT_H

#include <linux/types.h>

struct rds_sock;
struct rext_mrsock;
struct user_struct;

/**
 * struct rext_charge - what an MR counts for
 * @sock: its socket's count; NULL where it counts for nothing any more
 * @user: its user, NULL where the limit does not apply
 * @pages: pages that it pins
 */
struct rext_charge {
	struct rext_mrsock *sock;
	struct user_struct *user;
	unsigned int pages;
};

int rext_limit_charge(struct rext_charge *charge, const struct rds_sock *rs,
		      unsigned int pages);
void rext_limit_uncharge(struct rext_charge *charge);

#endif /* RDS_EXT_MRLIMIT_H */
