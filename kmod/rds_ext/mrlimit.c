// SPDX-License-Identifier: GPL-2.0
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>

#include "mrlimit.h"
#include "mrstats.h"
#include "settings.h"

/**
 * struct rext_mrsock - what the MRs of a socket are
 * @node: in the table
 * @rs: the socket, to compare
 * @mrs: number of its MRs; gone with the last one
 * @pages: pages that they pin
 */
struct rext_mrsock {
	struct hlist_node node;
	const struct rds_sock *rs;
	unsigned int mrs;
	u64 pages;
};

static DEFINE_HASHTABLE(sockets, 8);
static DEFINE_SPINLOCK(sockets_lock);	/* the table and all in it */

/* Called with the lock held. */
static struct rext_mrsock *find(const struct rds_sock *rs)
{
	struct rext_mrsock *s;

	hash_for_each_possible(sockets, s, node, (unsigned long)rs)
		if (s->rs == rs)
			return s;
	return NULL;
}

/* Called with the lock held. */
static bool within(const struct rext_mrsock *s, unsigned int pages)
{
	struct rext_mr_settings set;

	rext_settings_mr(&set);
	if (set.sock_max && s->mrs >= set.sock_max)
		return false;
	return !set.sock_bytes ||
	       (s->pages + pages) << PAGE_SHIFT <= set.sock_bytes;
}

/* Called with the lock held. @fresh is taken where the socket has no count. */
static int charge_locked(struct rext_charge *charge, const struct rds_sock *rs,
			 struct rext_mrsock **fresh)
{
	struct rext_mrsock *s = find(rs);

	if (!s) {
		s = *fresh;
		if (!s)
			return -EAGAIN;
	}
	if (!within(s, charge->pages))
		return -ENOBUFS;
	if (s == *fresh) {
		s->rs = rs;
		hash_add(sockets, &s->node, (unsigned long)rs);
		*fresh = NULL;
	}
	s->mrs++;
	s->pages += charge->pages;
	charge->sock = s;
	return 0;
}

static int charge_socket(struct rext_charge *charge, const struct rds_sock *rs)
{
	struct rext_mrsock *fresh = NULL;
	int ret;

	spin_lock_irq(&sockets_lock);
	ret = charge_locked(charge, rs, &fresh);
	spin_unlock_irq(&sockets_lock);
	if (ret == -EAGAIN) {
		fresh = kzalloc(sizeof(*fresh), GFP_KERNEL);
		if (!fresh)
			return -ENOMEM;
		spin_lock_irq(&sockets_lock);
		ret = charge_locked(charge, rs, &fresh);
		spin_unlock_irq(&sockets_lock);
		kfree(fresh);
	}
	if (ret == -ENOBUFS)
		rext_mrstats_inc(REXT_MRSTAT_LIMITED_SOCKET);
	return ret;
}

static void uncharge_socket(struct rext_charge *charge)
{
	struct rext_mrsock *s = charge->sock;
	unsigned long flags;

	spin_lock_irqsave(&sockets_lock, flags);
	s->pages -= charge->pages;
	if (--s->mrs)
		s = NULL;
	else
		hash_del(&s->node);
	spin_unlock_irqrestore(&sockets_lock, flags);
	kfree(s);
	charge->sock = NULL;
}

static int charge_user(struct rext_charge *charge)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	struct user_struct *user;
	unsigned long now;

	if (capable(CAP_IPC_LOCK))
		return 0;
	user = get_uid(current_user());
	now = atomic_long_add_return(charge->pages, &user->locked_vm);
	if (now > limit) {
		atomic_long_sub(charge->pages, &user->locked_vm);
		free_uid(user);
		rext_mrstats_inc(REXT_MRSTAT_LIMITED_USER);
		return -ENOBUFS;
	}
	charge->user = user;
	return 0;
}

/**
 * rext_limit_charge() - count an MR
 * @charge: filled
 * @rs: its socket
 * @pages: pages that it pins
 *
 * Context: process, may sleep; the task that maps it.
 * Return: 0, -ENOBUFS at a limit of the socket or of the user, -ENOMEM.
 */
int rext_limit_charge(struct rext_charge *charge, const struct rds_sock *rs,
		      unsigned int pages)
{
	int ret;

	charge->pages = pages;
	ret = charge_socket(charge, rs);
	if (ret)
		return ret;
	ret = charge_user(charge);
	if (ret)
		uncharge_socket(charge);
	return ret;
}

/**
 * rext_limit_uncharge() - count an MR no more
 * @charge: what was filled; may have been given here already
 *
 * Context: any.
 */
void rext_limit_uncharge(struct rext_charge *charge)
{
	if (!charge->sock)
		return;
	if (charge->user) {
		atomic_long_sub(charge->pages, &charge->user->locked_vm);
		free_uid(charge->user);
		charge->user = NULL;
	}
	uncharge_socket(charge);
}
