// SPDX-License-Identifier: GPL-2.0
/*
 * Hands the planted calls over to rds_ext.ko. Built into rds.ko.
 */
#include <linux/export.h>
#include <linux/rcupdate.h>
#include <linux/rwsem.h>

#include "rds.h"
#include "rds_hooks.h"
#include "rds_hooks_ops.h"

struct static_key_false rds_hooks_key = STATIC_KEY_FALSE_INIT;
EXPORT_SYMBOL_GPL(rds_hooks_key);

const struct rds_hooks_ops __rcu *rds_hooks_ops;
DECLARE_RWSEM(rds_hooks_sem);

/**
 * rds_hooks_register() - have operations run at the planted calls
 * @ops: the operations, all of them set; must stay until they are unregistered
 *
 * Context: process, may sleep. Operations can run before this returns, and for
 * whatever happens afterwards they do.
 * Return: 0, or -EBUSY where others are registered already.
 */
int rds_hooks_register(const struct rds_hooks_ops *ops)
{
	int ret = 0;

	down_write(&rds_hooks_sem);
	if (rcu_access_pointer(rds_hooks_ops)) {
		ret = -EBUSY;
	} else {
		/*
		 * Calls are patched in one by one. With the pointer set only
		 * then, nobody is told that a connection was made who is not
		 * told, too, that it is gone.
		 */
		static_branch_enable(&rds_hooks_key);
		rcu_assign_pointer(rds_hooks_ops, ops);
	}
	up_write(&rds_hooks_sem);
	/* Whoever found no operations has put its connection where a walk
	 * will see it.
	 */
	synchronize_rcu();
	return ret;
}
EXPORT_SYMBOL_GPL(rds_hooks_register);

/**
 * rds_hooks_unregister() - stop the operations
 * @ops: what was given to rds_hooks_register()
 *
 * Context: process, may sleep; waits for those that are running.
 */
void rds_hooks_unregister(const struct rds_hooks_ops *ops)
{
	down_write(&rds_hooks_sem);
	if (!WARN_ON_ONCE(rcu_access_pointer(rds_hooks_ops) != ops)) {
		static_branch_disable(&rds_hooks_key);
		RCU_INIT_POINTER(rds_hooks_ops, NULL);
	}
	up_write(&rds_hooks_sem);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(rds_hooks_unregister);

/*
 * The key can be seen on while there are no operations: patching the jumps in
 * and out is not one step with setting the pointer.
 */
void rds_hooks_call_conn_created(struct rds_connection *conn)
{
	const struct rds_hooks_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(rds_hooks_ops);
	if (ops)
		ops->conn_created(conn);
	rcu_read_unlock();
}

void rds_hooks_call_conn_destroyed(struct rds_connection *conn)
{
	const struct rds_hooks_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(rds_hooks_ops);
	if (ops)
		ops->conn_destroyed(conn);
	rcu_read_unlock();
}

void rds_hooks_call_path_up(struct rds_conn_path *cp)
{
	const struct rds_hooks_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(rds_hooks_ops);
	if (ops)
		ops->path_up(cp);
	rcu_read_unlock();
}

void rds_hooks_call_path_down(struct rds_conn_path *cp)
{
	const struct rds_hooks_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(rds_hooks_ops);
	if (ops)
		ops->path_down(cp);
	rcu_read_unlock();
}

void rds_hooks_call_rx_incoming(struct rds_connection *conn,
				const struct rds_header *hdr)
{
	const struct rds_hooks_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(rds_hooks_ops);
	if (ops)
		ops->rx_incoming(conn, hdr);
	rcu_read_unlock();
}

/* Called from rds_rdma.ko. */
void rds_hooks_call_conn_error(struct rds_connection *conn,
			       enum rds_hooks_error error, unsigned int status)
{
	const struct rds_hooks_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(rds_hooks_ops);
	if (ops)
		ops->conn_error(conn, error, status);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(rds_hooks_call_conn_error);

/* Called from rds_rdma.ko. */
void rds_hooks_call_cm_event(struct rds_connection *conn,
			     const struct rdma_cm_event *event)
{
	const struct rds_hooks_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(rds_hooks_ops);
	if (ops)
		ops->cm_event(conn, event);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(rds_hooks_call_cm_event);

/* Called from rds_rdma.ko. */
void rds_hooks_call_rx_header(struct rds_connection *conn,
			      const struct rds_header *hdr)
{
	const struct rds_hooks_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(rds_hooks_ops);
	if (ops)
		ops->rx_header(conn, hdr);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(rds_hooks_call_rx_header);

/* Called from rds_rdma.ko. */
void rds_hooks_call_tx_header(struct rds_connection *conn,
			      struct rds_header *hdr)
{
	const struct rds_hooks_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(rds_hooks_ops);
	if (ops && ops->tx_header(conn, hdr))
		rds_message_make_checksum(hdr);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(rds_hooks_call_tx_header);

/* Called from rds_rdma.ko, which makes the checksum afterwards. */
void rds_hooks_call_tx_ack(struct rds_connection *conn, struct rds_header *hdr)
{
	const struct rds_hooks_ops *ops;

	/*
	 * Acknowledgments are built in one place, of which net/rds clears no
	 * more than the first byte of the extension space.
	 */
	memset(hdr->h_exthdr, 0, sizeof(hdr->h_exthdr));
	rcu_read_lock();
	ops = rcu_dereference(rds_hooks_ops);
	if (ops)
		ops->tx_ack(conn, hdr);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(rds_hooks_call_tx_ack);

int rds_hooks_call_ext_add(struct rds_header *hdr, unsigned int type,
			   const void *data)
{
	const struct rds_hooks_ops *ops;
	int ret = -1;

	rcu_read_lock();
	ops = rcu_dereference(rds_hooks_ops);
	if (ops)
		ret = ops->ext_add(hdr, type, data);
	rcu_read_unlock();
	return ret;
}

int rds_hooks_call_ext_next(const struct rds_header *hdr, unsigned int *pos,
			    void *buf, unsigned int *buflen)
{
	const struct rds_hooks_ops *ops;
	int ret = -1;

	rcu_read_lock();
	ops = rcu_dereference(rds_hooks_ops);
	if (ops)
		ret = ops->ext_next(hdr, pos, buf, buflen);
	rcu_read_unlock();
	return ret;
}
