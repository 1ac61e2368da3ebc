// SPDX-License-Identifier: GPL-2.0
#include <linux/hashtable.h>
#include <linux/rculist.h>
#include <linux/xarray.h>

#include "mr.h"
#include "mrdev.h"
#include "mrtable.h"

static DEFINE_XARRAY_FLAGS(by_id, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
static u32 next_id;

static DEFINE_HASHTABLE(by_key, 12);
static DEFINE_SPINLOCK(by_key_lock);

/* Grows with each MR that comes or goes; dumps compare it. */
static atomic_t generation = ATOMIC_INIT(1);

/**
 * rext_mrtable_number() - give an MR its number
 * @m: the MR, which is shown from here on
 *
 * Context: process, may sleep.
 * Return: 0, or -ENOMEM.
 */
int rext_mrtable_number(struct rext_mr *m)
{
	int ret = xa_alloc_cyclic_irq(&by_id, &m->id, m, xa_limit_32b, &next_id,
				      GFP_KERNEL);

	if (ret < 0)
		return ret;
	atomic_inc(&generation);
	return 0;
}

/**
 * rext_mrtable_add() - let an MR be found by its key
 * @m: the MR, which has none yet
 *
 * Context: any.
 */
void rext_mrtable_add(struct rext_mr *m)
{
	unsigned long flags;

	spin_lock_irqsave(&by_key_lock, flags);
	hash_add_rcu(by_key, &m->by_key, m->key);
	spin_unlock_irqrestore(&by_key_lock, flags);
}

/**
 * rext_mrtable_remove() - take an MR out of the tables
 * @m: the MR; may be in none, or in one of them
 *
 * Context: any.
 */
void rext_mrtable_remove(struct rext_mr *m)
{
	unsigned long flags;

	if (hash_hashed(&m->by_key)) {
		spin_lock_irqsave(&by_key_lock, flags);
		hash_del_rcu(&m->by_key);
		spin_unlock_irqrestore(&by_key_lock, flags);
	}
	if (m->id) {
		xa_lock_irqsave(&by_id, flags);
		__xa_erase(&by_id, m->id);
		xa_unlock_irqrestore(&by_id, flags);
		atomic_inc(&generation);
	}
}

/**
 * rext_mrtable_of_socket() - find an MR by its key
 * @rs: its socket
 * @key: the R_Key
 *
 * Context: any, under rcu_read_lock().
 * Return: the MR, or NULL.
 */
struct rext_mr *rext_mrtable_of_socket(const struct rds_sock *rs, u32 key)
{
	struct rext_mr *m;

	hash_for_each_possible_rcu(by_key, m, by_key, key)
		if (m->key == key && m->rs == rs)
			return m;
	return NULL;
}

/**
 * rext_mrtable_of_device() - find an MR by its key
 * @rds_ibdev: what RDS has made of its device, to compare
 * @key: the R_Key
 *
 * Context: any, under rcu_read_lock().
 * Return: the MR, or NULL.
 */
struct rext_mr *rext_mrtable_of_device(const struct rds_ib_device *rds_ibdev,
				       u32 key)
{
	struct rext_mr *m;

	hash_for_each_possible_rcu(by_key, m, by_key, key)
		if (m->key == key &&
		    READ_ONCE(m->dev->rds_ibdev) == rds_ibdev)
			return m;
	return NULL;
}

/**
 * rext_mrtable_get() - find an MR by its number
 * @id: the number
 *
 * Context: any, under rcu_read_lock().
 * Return: the MR, or NULL.
 */
struct rext_mr *rext_mrtable_get(u32 id)
{
	return xa_load(&by_id, id);
}

/**
 * rext_mrtable_next() - find the MR behind a number
 * @id: a number, 0 for the first MR; set to that of the MR
 *
 * Context: any, under rcu_read_lock().
 * Return: the MR, or NULL behind the last one.
 */
struct rext_mr *rext_mrtable_next(unsigned long *id)
{
	return xa_find_after(&by_id, id, ULONG_MAX, XA_PRESENT);
}

/**
 * rext_mrtable_generation() - number that changes when an MR comes or goes
 *
 * Context: any.
 * Return: the number, never 0.
 */
u32 rext_mrtable_generation(void)
{
	return (u32)atomic_read(&generation) ?: 1;
}

/**
 * rext_mrtable_show() - show the MR with a number
 * @net: network namespace that it must belong to
 * @id: the number
 * @info: filled
 *
 * Context: any.
 * Return: false where there is none.
 */
bool rext_mrtable_show(const struct net *net, u32 id,
		       struct rext_mr_info *info)
{
	struct rext_mr *m;
	bool shown;

	rcu_read_lock();
	m = rext_mrtable_get(id);
	shown = m && rext_mr_show(m, net, info);
	rcu_read_unlock();
	return shown;
}

/**
 * rext_mrtable_show_next() - show the MR behind a number
 * @net: network namespace that it must belong to
 * @id: a number, 0 for the first MR; set to that of the MR
 * @info: filled
 *
 * Context: any.
 * Return: false behind the last one.
 */
bool rext_mrtable_show_next(const struct net *net, unsigned long *id,
			    struct rext_mr_info *info)
{
	struct rext_mr *m;
	bool shown = false;

	rcu_read_lock();
	while (!shown && (m = rext_mrtable_next(id)))
		shown = rext_mr_show(m, net, info);
	rcu_read_unlock();
	return shown;
}
