/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts what becomes of the MRs of the engine, over all devices.
 */
#ifndef RDS_EXT_MRSTATS_H
#define RDS_EXT_MRSTATS_H

#include <linux/types.h>

#include "rds_ext_uapi.h"

/**
 * enum rext_mrstat - what is counted
 * @REXT_MRSTAT_STATE: the states follow, RDS_EXT_MR_STATE_*: MRs that got there
 * @REXT_MRSTAT_FAILED: MRs that could not be registered
 * @REXT_MRSTAT_AGED: use-once MRs that have reached the age of the setting
 * @REXT_MRSTAT_LIMITED_SOCKET: refused at a limit of the socket
 * @REXT_MRSTAT_LIMITED_USER: refused at RLIMIT_MEMLOCK
 * @REXT_MRSTAT_LIMITED_POOL: refused at the limit of the pool
 * @REXT_MRSTAT_RELEASE_REFUSED: extension headers of peers that an MR was not
 *	advertised to
 * @REXT_MRSTAT_INVALIDATE_FOREIGN: messages that invalidated a key which their
 *	sender had no leave to
 * @REXT_MRSTATS: their number
 */
enum rext_mrstat {
	REXT_MRSTAT_STATE,
	REXT_MRSTAT_FAILED = REXT_MRSTAT_STATE + RDS_EXT_MR_STATE_MAX + 1,
	REXT_MRSTAT_AGED,
	REXT_MRSTAT_LIMITED_SOCKET,
	REXT_MRSTAT_LIMITED_USER,
	REXT_MRSTAT_LIMITED_POOL,
	REXT_MRSTAT_RELEASE_REFUSED,
	REXT_MRSTAT_INVALIDATE_FOREIGN,
	REXT_MRSTATS,
};

void rext_mrstats_inc(enum rext_mrstat which);
void rext_mrstats_state(u32 state);
u64 rext_mrstats_read(enum rext_mrstat which);
u64 rext_mrstats_live(void);

#endif /* RDS_EXT_MRSTATS_H */
