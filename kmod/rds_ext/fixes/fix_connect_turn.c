// SPDX-License-Identifier: GPL-2.0
/*
 * Compiled into threads.c, before rds_queue_reconnect().
 */

/* The lower address connects first. A connection of a host to itself has no turns. */
static void rds_fix_connect_turn(struct rds_conn_path *cp)
{
	const struct rds_connection *rds = cp->cp_conn;
	int order = rds_addr_cmp(&rds->c_laddr, &rds->c_faddr);

	if (rds->c_trans->t_type == RDS_TRANS_IB && order > 0)
		cp->cp_reconnect_jiffies = rds_sysctl_reconnect_max_jiffies;
}
