/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The time that ages and uptimes are counted in.
 */
#ifndef RDS_EXT_CLOCK_H
#define RDS_EXT_CLOCK_H

#include <linux/ktime.h>

/* Milliseconds since the host was booted, those that it slept included. */
static inline u64 rext_now_ms(void)
{
	return ktime_to_ms(ktime_get_boottime());
}

#endif /* RDS_EXT_CLOCK_H */
