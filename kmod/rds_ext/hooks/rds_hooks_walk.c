// SPDX-License-Identifier: GPL-2.0
/*
 * Compiled into connection.c, where the hash of the connections is static.
 */

/**
 * rds_hooks_walk_conns() - visit each connection in the hash
 * @visit: what to do with it; must not sleep
 *
 * Connections of all network namespaces and transports, but not the passive
 * half of one that a host has with itself: the hash does not hold those, and
 * the pointer to them is not safe to follow while their transport goes.
 *
 * Context: any but hard irq.
 */
void rds_hooks_walk_conns(rds_hooks_visit visit)
{
	struct rds_connection *conn;
	unsigned int bucket;

	rcu_read_lock();
	for (bucket = 0; bucket < ARRAY_SIZE(rds_conn_hash); bucket++)
		hlist_for_each_entry_rcu(conn, &rds_conn_hash[bucket],
					 c_hash_node)
			visit(conn);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(rds_hooks_walk_conns);
