// SPDX-License-Identifier: GPL-2.0
#include <linux/compiler.h>

#include "announce.h"
#include "rds_ext_uapi.h"
#include "settings.h"

/* Each is read in the send path on its own, whenever a connection comes up. */
static bool version_header = true;
static u16 feature_mask = REXT_FEATURES;

/**
 * rext_settings_version_header() - whether to announce version and features
 *
 * Context: any.
 * Return: true to announce them on a newly established connection.
 */
bool rext_settings_version_header(void)
{
	return READ_ONCE(version_header);
}

/**
 * rext_settings_feature_mask() - which features to announce
 *
 * Context: any.
 * Return: bits of RDS_EXT_FEATURE_*.
 */
u16 rext_settings_feature_mask(void)
{
	return READ_ONCE(feature_mask);
}

/**
 * rext_settings_set() - change the settings
 * @header: see rext_settings_version_header()
 * @mask: see rext_settings_feature_mask(); no bits but those of REXT_FEATURES
 *
 * Context: any; callers take turns.
 */
void rext_settings_set(bool header, u16 mask)
{
	WRITE_ONCE(feature_mask, mask);
	WRITE_ONCE(version_header, header);
}
