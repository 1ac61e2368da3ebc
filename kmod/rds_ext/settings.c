// SPDX-License-Identifier: GPL-2.0
#include <linux/compiler.h>
#include <linux/seqlock.h>

#include "announce.h"
#include "rds_ext_uapi.h"
#include "settings.h"

/* Each is read in the send path on its own, whenever a connection comes up. */
static bool version_header = true;
static u16 feature_mask = REXT_FEATURES;

/* Changed together; the first two are also read one by one in hot paths. */
static struct rext_mr_settings mr = {
	.engine = true,
	.pool_max = REXT_POOL_MAX_DEFAULT,
	.max_age_ms = 60000,
};

static DEFINE_SEQLOCK(mr_lock);

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

/**
 * rext_settings_mr_engine() - whether to register new MRs with the engine
 *
 * Context: any.
 * Return: false to leave them to net/rds.
 */
bool rext_settings_mr_engine(void)
{
	return READ_ONCE(mr.engine);
}

/**
 * rext_settings_mr_pool_max() - how many MRs of a device to allocate at most
 *
 * Context: any.
 * Return: their number.
 */
u32 rext_settings_mr_pool_max(void)
{
	return READ_ONCE(mr.pool_max);
}

/**
 * rext_settings_mr() - get the settings of the MR engine
 * @set: filled
 *
 * Context: any but hard irq.
 */
void rext_settings_mr(struct rext_mr_settings *set)
{
	unsigned int seq;

	do {
		seq = read_seqbegin(&mr_lock);
		*set = mr;
	} while (read_seqretry(&mr_lock, seq));
}

/**
 * rext_settings_set_mr() - change the settings of the MR engine
 * @set: all of them, within their bounds
 *
 * Context: process; callers take turns.
 */
void rext_settings_set_mr(const struct rext_mr_settings *set)
{
	write_seqlock_bh(&mr_lock);
	mr = *set;
	write_sequnlock_bh(&mr_lock);
}
