// SPDX-License-Identifier: GPL-2.0
#include "announce.h"
#include "conn.h"
#include "netlink_mr.h"
#include "outside.h"

struct outside outside;

/**
 * outside_reset() - no connection, no event
 *
 * Context: process; nothing of the engine runs.
 */
void outside_reset(void)
{
	outside.conn = NULL;
	outside.agreed = 0;
	outside.cmd = 0;
	init_completion(&outside.event);
}

/* Replaces the one of conn.c. */
struct rext_conn *rext_conn_find(const struct rds_connection *rds)
{
	struct rext_conn *c = outside.conn;

	return c && c->rds == rds ? c : NULL;
}

/* Replaces the one of conn.c. */
struct rext_conn *rext_conn_obtain(struct rds_connection *rds)
{
	return rext_conn_find(rds);
}

/* Replaces the one of announce.c. */
u16 rext_announce_agreed(const struct rext_announce *a)
{
	return outside.agreed;
}

/* Replaces the one of netlink_mr.c. */
void rext_netlink_mr_event(struct rext_mr *m, u8 cmd)
{
	outside.cmd = cmd;
	complete(&outside.event);
}
