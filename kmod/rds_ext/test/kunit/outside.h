/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the engine needs of the rest of rds_ext.ko, replaced: one connection,
 * the features that were agreed on it, and whoever listens to events.
 */
#ifndef RDS_EXT_KUNIT_OUTSIDE_H
#define RDS_EXT_KUNIT_OUTSIDE_H

#include <linux/completion.h>
#include <linux/types.h>

struct rext_conn;

/**
 * struct outside - what is outside of the engine
 * @conn: the one connection that is known, or NULL
 * @agreed: features that were agreed on it
 * @event: completed when an event was sent; @cmd is set then
 * @cmd: the last event, RDS_EXT_CMD_MR_*
 */
struct outside {
	struct rext_conn *conn;
	u16 agreed;
	struct completion event;
	u8 cmd;
};

extern struct outside outside;

void outside_reset(void);

#endif /* RDS_EXT_KUNIT_OUTSIDE_H */
