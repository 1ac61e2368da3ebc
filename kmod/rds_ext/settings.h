/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The settings of the module. They hold for the whole host.
 */
#ifndef RDS_EXT_SETTINGS_H
#define RDS_EXT_SETTINGS_H

#include <linux/types.h>

#define REXT_MODULE_VERSION	"0.1.0"

bool rext_settings_version_header(void);
u16 rext_settings_feature_mask(void);
void rext_settings_set(bool header, u16 mask);

#endif /* RDS_EXT_SETTINGS_H */
