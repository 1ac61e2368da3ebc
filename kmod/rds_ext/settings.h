/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The settings of the module. They hold for the whole host.
 */
#ifndef RDS_EXT_SETTINGS_H
#define RDS_EXT_SETTINGS_H

#include <linux/types.h>

#define REXT_MODULE_VERSION	"0.1.0"

/* Bounds and default of pool_max below, in MRs. */
#define REXT_POOL_MAX_MIN	16
#define REXT_POOL_MAX_MAX	1048576
#define REXT_POOL_MAX_DEFAULT	32768

/**
 * struct rext_mr_settings - the settings of the MR engine
 * @engine: register new MRs with it
 * @pool_max: MRs of each device, REXT_POOL_MAX_MIN to REXT_POOL_MAX_MAX
 * @sock_max: MRs of each socket, 0 for no limit
 * @sock_bytes: bytes that the MRs of each socket pin, 0 for no limit
 * @max_age_ms: age that a use-once MR may reach in ms, 0 for any
 * @age_revoke: revoke it then
 */
struct rext_mr_settings {
	bool engine;
	u32 pool_max;
	u32 sock_max;
	u64 sock_bytes;
	u32 max_age_ms;
	bool age_revoke;
};

bool rext_settings_version_header(void);
u16 rext_settings_feature_mask(void);
bool rext_settings_mr_engine(void);
u32 rext_settings_mr_pool_max(void);
void rext_settings_mr(struct rext_mr_settings *set);
void rext_settings_set_mr(const struct rext_mr_settings *set);
void rext_settings_set(bool header, u16 mask);

#endif /* RDS_EXT_SETTINGS_H */
