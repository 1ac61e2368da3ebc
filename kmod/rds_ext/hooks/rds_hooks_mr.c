// SPDX-License-Identifier: GPL-2.0
/*
 * Hands what concerns memory regions over to the engine in rds_ext.ko. Built
 * into rds.ko.
 */
#include <linux/export.h>
#include <linux/in6.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/rwsem.h>

#include "rds.h"
#include "rds_hooks.h"
#include "rds_hooks_ops.h"

static void *tag(void *mr)
{
	return (void *)((unsigned long)mr | 1);
}

static void *untag(void *trans_private)
{
	return (void *)((unsigned long)trans_private & ~1UL);
}

/* Called from rds_rdma.ko. */
void *rds_hooks_call_mr_get(const struct rds_hooks_ib *ib,
			    const struct rds_hooks_region *region)
{
	const struct rds_hooks_ops *ops;
	void *mr;

	/* Fails from the moment on that the module is being unloaded. */
	rcu_read_lock();
	ops = rcu_dereference(rds_hooks_ops);
	if (ops && !try_module_get(ops->owner))
		ops = NULL;
	rcu_read_unlock();
	if (!ops)
		return NULL;

	mr = ops->mr_get(ib, region);
	if (IS_ERR_OR_NULL(mr)) {
		module_put(ops->owner);
		return mr;
	}
	return tag(mr);
}
EXPORT_SYMBOL_GPL(rds_hooks_call_mr_get);

/* The operations, for an MR that keeps them in place. */
static const struct rds_hooks_ops *ops_of_mr(void)
{
	return rcu_dereference_protected(rds_hooks_ops, true);
}

/* Called from rds_rdma.ko. */
void rds_hooks_call_mr_free(void *trans_private)
{
	const struct rds_hooks_ops *ops = ops_of_mr();

	ops->mr_free(untag(trans_private));
	module_put(ops->owner);
}
EXPORT_SYMBOL_GPL(rds_hooks_call_mr_free);

/* Called from rds_rdma.ko. */
void rds_hooks_call_mr_sync(void *trans_private, int direction)
{
	ops_of_mr()->mr_sync(untag(trans_private), direction);
}
EXPORT_SYMBOL_GPL(rds_hooks_call_mr_sync);

void rds_hooks_call_mr_mapped(const struct rds_mr *mr,
			      struct rds_connection *conn)
{
	ops_of_mr()->mr_mapped(untag(mr->r_trans_private), mr, conn);
}

void rds_hooks_call_mr_freed(const struct rds_mr *mr)
{
	ops_of_mr()->mr_freed(untag(mr->r_trans_private));
}

void rds_hooks_call_mr_orphaned(const struct rds_mr *mr)
{
	ops_of_mr()->mr_orphaned(untag(mr->r_trans_private));
}

void rds_hooks_call_mr_for_dest(struct rds_sock *rs, u32 key,
				const struct sockaddr_storage *dest)
{
	const struct sockaddr_in *sin = (const struct sockaddr_in *)dest;
	const struct rds_hooks_ops *ops;
	struct in6_addr peer;

	/* What else an application may have put there names nobody. */
	switch (dest->ss_family) {
	case AF_INET:
		ipv6_addr_set_v4mapped(sin->sin_addr.s_addr, &peer);
		break;
	case AF_INET6:
		peer = ((const struct sockaddr_in6 *)dest)->sin6_addr;
		break;
	default:
		return;
	}
	rcu_read_lock();
	ops = rcu_dereference(rds_hooks_ops);
	if (ops)
		ops->mr_for_dest(rs, key, &peer);
	rcu_read_unlock();
}

void rds_hooks_call_mr_unsent(struct rds_sock *rs, u32 key)
{
	const struct rds_hooks_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(rds_hooks_ops);
	if (ops)
		ops->mr_unsent(rs, key);
	rcu_read_unlock();
}

bool rds_hooks_call_mr_release(struct rds_connection *conn,
			       struct rds_sock *rs, u32 key)
{
	const struct rds_hooks_ops *ops;
	bool ret = true;

	rcu_read_lock();
	ops = rcu_dereference(rds_hooks_ops);
	if (ops)
		ret = ops->mr_release(conn, rs, key);
	rcu_read_unlock();
	return ret;
}

void rds_hooks_call_mr_flush(void)
{
	const struct rds_hooks_ops *ops;

	down_read(&rds_hooks_sem);
	ops = rcu_dereference_protected(rds_hooks_ops,
					lockdep_is_held(&rds_hooks_sem));
	if (ops)
		ops->mr_flush();
	up_read(&rds_hooks_sem);
}

/*
 * Called from rds_rdma.ko. Not by a reference to the module: while it is being
 * unloaded it lets go of the device itself, and this has to wait for that.
 */
void rds_hooks_call_ibdev_removed(struct rds_ib_device *rds_ibdev)
{
	const struct rds_hooks_ops *ops;

	down_read(&rds_hooks_sem);
	ops = rcu_dereference_protected(rds_hooks_ops,
					lockdep_is_held(&rds_hooks_sem));
	if (ops)
		ops->ibdev_removed(rds_ibdev);
	up_read(&rds_hooks_sem);
}
EXPORT_SYMBOL_GPL(rds_hooks_call_ibdev_removed);

/* Called from rds_rdma.ko. */
int rds_hooks_call_rdma_last(struct rds_connection *conn,
			     const struct rm_rdma_op *op,
			     struct ib_send_wr *wr)
{
	const struct rds_hooks_ops *ops;
	int ret = 0;

	rcu_read_lock();
	ops = rcu_dereference(rds_hooks_ops);
	if (ops)
		ret = ops->rdma_last(conn, op, wr);
	rcu_read_unlock();
	return ret;
}
EXPORT_SYMBOL_GPL(rds_hooks_call_rdma_last);

/* Called from rds_rdma.ko. */
bool rds_hooks_call_tx_wait(struct rds_connection *conn,
			    const struct rds_message *rm)
{
	const struct rds_hooks_ops *ops;
	bool wait = false;

	rcu_read_lock();
	ops = rcu_dereference(rds_hooks_ops);
	if (ops)
		wait = ops->tx_wait(conn, rm);
	rcu_read_unlock();
	return wait;
}
EXPORT_SYMBOL_GPL(rds_hooks_call_tx_wait);

/* Called from rds_rdma.ko. */
void rds_hooks_call_tx_last(struct rds_connection *conn,
			    const struct rds_message *rm,
			    struct ib_send_wr *wr)
{
	const struct rds_hooks_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(rds_hooks_ops);
	if (ops)
		ops->tx_last(conn, rm, wr);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(rds_hooks_call_tx_last);

/* Called from rds_rdma.ko. */
void rds_hooks_call_rx_invalidate(struct rds_connection *conn, u32 key)
{
	const struct rds_hooks_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(rds_hooks_ops);
	if (ops)
		ops->rx_invalidate(conn, key);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(rds_hooks_call_rx_invalidate);
