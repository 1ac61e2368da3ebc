// SPDX-License-Identifier: GPL-2.0
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "rds.h"
#include "rds_hooks.h"

#include "clock.h"
#include "conn.h"
#include "lease.h"
#include "mr.h"
#include "mrage.h"
#include "mrdev.h"
#include "mrstats.h"
#include "mrtable.h"
#include "settings.h"
#include "trace.h"

/* What a peer may do, and the device itself; the same for every MR of RDS. */
#define ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | \
		 IB_ACCESS_REMOTE_WRITE)

/* Nothing can make the loading of the module fail any more. */
static bool started;

/* Called with the lock of the device held, or before anybody else knows @m. */
static void set_state(struct rext_mr *m, u32 state)
{
	trace_rext_mr_state(m->dev->name, m->id, m->key, m->state, state);
	m->state = state;
	rext_mrstats_state(state);
}

/* Called with the lock of the device held, for an MR in use. */
static void sync(struct rext_mr *m, int direction)
{
	struct ib_device *device = m->dev->device;

	/* A software device works on the memory itself. */
	if (ib_uses_virt_dma(device))
		return;
	if (direction == DMA_FROM_DEVICE)
		dma_sync_sg_for_cpu(device->dma_device, m->sg, m->nents,
				    DMA_BIDIRECTIONAL);
	else
		dma_sync_sg_for_device(device->dma_device, m->sg, m->nents,
				       DMA_BIDIRECTIONAL);
}

/**
 * rext_mr_end_locked() - bring the end of an MR about
 * @m: the MR
 * @state: the way it ends, RDS_EXT_MR_STATE_RELEASED or behind
 *
 * Context: any, with the lock of the device held.
 * Return: false where it was not in use any more.
 */
bool rext_mr_end_locked(struct rext_mr *m, u32 state)
{
	struct rext_mrdev *dev = m->dev;

	if (!rext_mr_in_use(m))
		return false;
	/*
	 * What the peer has written is the application's from here on. When the
	 * pages are unmapped later, the application may have written to them.
	 */
	sync(m, DMA_FROM_DEVICE);
	set_state(m, state);
	m->flags |= RDS_EXT_MR_FLAG_INVALIDATING;
	dev->gauge.in_use--;
	dev->gauge.invalidating++;
	list_move_tail(&m->node, &dev->ending);
	queue_work(rext_mr_wq, &dev->work);
	return true;
}

/**
 * rext_mr_end() - bring the end of an MR about
 * @m: the MR
 * @state: the way it ends, RDS_EXT_MR_STATE_RELEASED or behind
 *
 * Context: any, under rcu_read_lock() or with a reference.
 * Return: false where it was not in use any more.
 */
bool rext_mr_end(struct rext_mr *m, u32 state)
{
	unsigned long flags;
	bool ended;

	spin_lock_irqsave(&m->dev->lock, flags);
	ended = rext_mr_end_locked(m, state);
	spin_unlock_irqrestore(&m->dev->lock, flags);
	return ended;
}

/**
 * rext_mr_put() - drop a reference
 * @m: the MR
 *
 * Context: any.
 */
void rext_mr_put(struct rext_mr *m)
{
	struct rext_mrdev *dev = m->dev;
	unsigned long flags;

	if (!refcount_dec_and_test(&m->refs))
		return;
	rext_mrtable_remove(m);
	spin_lock_irqsave(&dev->lock, flags);
	list_del(&m->node);
	if (m->slot)
		rext_pool_put(dev, m->slot);
	spin_unlock_irqrestore(&dev->lock, flags);
	trace_rext_mr_gone(dev->name, m->id, m->key);
	kfree_rcu(m, rcu);
	rext_mrdev_put(dev);
}

static void describe(struct rext_mr *m, struct rds_sock *rs, u64 length)
{
	struct sock *sk = rds_rs_to_sk(rs);

	m->rs = rs;
	m->net = sock_net(sk);
	m->local = rs->rs_bound_addr;
	m->port = be16_to_cpu(rs->rs_bound_port);
	/* In a call on the socket, so it has its file. */
	m->socket = sk->sk_socket ? SOCK_INODE(sk->sk_socket)->i_ino : 0;
	m->pid = task_tgid_nr(current);
	strscpy(m->command, current->group_leader->comm, sizeof(m->command));
	m->uid = __kuid_val(current_uid());
	m->length = length;
}

/**
 * rext_mr_drop_stale() - deallocate the slot of an MR whose state is unknown
 * @m: the MR; nothing is in flight for it
 *
 * Context: process, may sleep.
 */
void rext_mr_drop_stale(struct rext_mr *m)
{
	struct rext_mrdev *dev = m->dev;
	struct rext_slot *slot = m->slot;
	unsigned long flags;

	rext_pool_drop(dev, slot);
	spin_lock_irqsave(&dev->lock, flags);
	m->slot = NULL;
	dev->count.stale++;
	spin_unlock_irqrestore(&dev->lock, flags);
}

/* Takes the pages over where it succeeds. */
static int map(struct rext_mr *m, const struct rds_hooks_region *region)
{
	struct rext_mrdev *dev = m->dev;
	struct ib_mr *mr = m->slot->mr;
	bool stale = false;
	int n;
	int ret;

	n = ib_dma_map_sg(dev->device, region->sg, region->nents,
			  DMA_BIDIRECTIONAL);
	if (n <= 0)
		return -ENOMEM;
	ret = ib_map_mr_sg_zbva(mr, region->sg, n, NULL, PAGE_SIZE);
	if (ret != n) {
		ret = ret < 0 ? ret : -EINVAL;
		goto unmap;
	}
	ib_update_fast_reg_key(mr, ++m->slot->variant);
	m->key = mr->rkey;
	ret = rext_proxy_register(&dev->proxy, &m->slot->op, mr, ACCESS,
				  &stale);
	if (!ret)
		return 0;
	/* The key may be valid: it goes before the pages. */
	if (stale)
		rext_mr_drop_stale(m);
unmap:
	ib_dma_unmap_sg(dev->device, region->sg, region->nents,
			DMA_BIDIRECTIONAL);
	return ret;
}

static void count_use(struct rext_mrdev *dev, struct rext_mr *m, int by)
{
	struct rext_mrdev_gauge *g = &dev->gauge;
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	g->in_use += by;
	g->pinned += by * (int)m->charge.pages;
	g->in_use_peak = max(g->in_use_peak, g->in_use);
	g->pinned_peak = max(g->pinned_peak, g->pinned);
	spin_unlock_irqrestore(&dev->lock, flags);
}

/* From here on it can be found by its key, and ended. */
static void publish(struct rext_mr *m, const struct rds_hooks_region *region)
{
	struct rext_mrdev *dev = m->dev;
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	m->sg = region->sg;
	m->nents = region->nents;
	m->valid = true;
	m->mapped_at = rext_now_ms();
	set_state(m, RDS_EXT_MR_STATE_MAPPED);
	dev->count.registrations++;
	list_add_tail(&m->node, &dev->live);
	rext_mrtable_add(m);
	spin_unlock_irqrestore(&dev->lock, flags);
}

/* Sets the slot, and the key, where it succeeds. */
static int take_and_map(struct rext_mr *m,
			const struct rds_hooks_region *region)
{
	struct rext_mrdev *dev = m->dev;
	unsigned long flags;
	int ret;

	m->slot = rext_pool_take(dev, region->nents);
	if (IS_ERR(m->slot)) {
		ret = PTR_ERR(m->slot);
		m->slot = NULL;
		if (ret == -ENOBUFS)
			rext_mrstats_inc(REXT_MRSTAT_LIMITED_POOL);
		return ret;
	}
	ret = map(m, region);
	if (ret && m->slot) {
		spin_lock_irqsave(&dev->lock, flags);
		rext_pool_put(dev, m->slot);
		spin_unlock_irqrestore(&dev->lock, flags);
		m->slot = NULL;
	}
	return ret;
}

static struct rext_mr *make(struct rext_mrdev *dev,
			    const struct rds_hooks_region *region)
{
	struct rext_mr *m = kzalloc(sizeof(*m), GFP_KERNEL);
	int ret;

	if (!m)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&m->node);
	INIT_LIST_HEAD(&m->lease);
	INIT_HLIST_NODE(&m->by_key);
	/* The application's and the device's. */
	refcount_set(&m->refs, 2);
	m->dev = dev;
	rext_mrdev_get(dev);
	describe(m, region->rs, region->length);

	ret = rext_limit_charge(&m->charge, region->rs, region->nents);
	if (ret)
		goto free;
	count_use(dev, m, 1);
	ret = rext_mrtable_number(m);
	if (ret)
		goto uncharge;
	ret = take_and_map(m, region);
	/* What was under way when a queue pair broke may do with the next one. */
	if (ret == -EIO)
		ret = take_and_map(m, region);
	if (ret)
		goto number;
	publish(m, region);
	return m;

number:
	rext_mrtable_remove(m);
uncharge:
	count_use(dev, m, -1);
	rext_limit_uncharge(&m->charge);
free:
	/* It was shown, and perhaps is being shown. */
	kfree_rcu(m, rcu);
	rext_mrdev_put(dev);
	return ERR_PTR(ret);
}

/**
 * rext_mr_start() - register what is mapped from here on
 *
 * Not before the module is certain to stay: an MR that an application holds
 * keeps one from being unloaded, but not from going when its init fails.
 *
 * Context: any.
 */
void rext_mr_start(void)
{
	WRITE_ONCE(started, true);
}

/**
 * rext_mr_get() - register a region
 * @ib: functions of rds_rdma.ko
 * @region: what is to be registered
 *
 * Context: process, may sleep.
 * Return: the MR, with a reference of the application; NULL where the engine is
 * off; -ENODEV where the address of the socket belongs to no RDMA device,
 * -ENOBUFS at a limit, -EMSGSIZE, -EAGAIN and other errors of the device.
 */
void *rext_mr_get(const struct rds_hooks_ib *ib,
		  const struct rds_hooks_region *region)
{
	struct rext_mrdev *dev;
	struct rext_mr *m;

	if (!READ_ONCE(started) || !rext_settings_mr_engine())
		return NULL;
	dev = rext_mrdev_enter(ib, region->rs);
	if (IS_ERR(dev)) {
		rext_mrstats_inc(REXT_MRSTAT_FAILED);
		return dev;
	}
	m = make(dev, region);
	rext_mrdev_leave(dev);
	if (IS_ERR(m)) {
		rext_mrstats_inc(REXT_MRSTAT_FAILED);
		return m;
	}
	*region->key = m->key;
	rext_mrage_watch();
	return m;
}

/**
 * rext_mr_freed() - an application frees an MR
 * @mr: the MR
 *
 * A message that has not been acknowledged may hold it for long after that.
 *
 * Context: process, irqs off.
 */
void rext_mr_freed(void *mr)
{
	rext_mr_end(mr, RDS_EXT_MR_STATE_FREED);
}

/**
 * rext_mr_free() - net/rds has no more use for an MR
 * @mr: the MR
 *
 * Context: any.
 */
void rext_mr_free(void *mr)
{
	struct rext_mr *m = mr;
	unsigned long flags;
	bool unpinned;

	spin_lock_irqsave(&m->dev->lock, flags);
	rext_mr_end_locked(m, RDS_EXT_MR_STATE_FREED);
	m->app_done = true;
	unpinned = !m->nents;
	spin_unlock_irqrestore(&m->dev->lock, flags);
	if (unpinned)
		rext_limit_uncharge(&m->charge);
	rext_mr_put(m);
}

/**
 * rext_mr_sync() - hand memory to the CPU or to the device
 * @mr: the MR
 * @direction: DMA_FROM_DEVICE for the CPU, DMA_TO_DEVICE for the device
 *
 * Context: any.
 */
void rext_mr_sync(void *mr, int direction)
{
	struct rext_mr *m = mr;
	struct rext_mrdev *dev = m->dev;
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	/* The CPU has it already where the MR has ended. */
	if (rext_mr_in_use(m))
		sync(m, direction);
	spin_unlock_irqrestore(&dev->lock, flags);
}

/**
 * rext_mr_mapped() - an MR has got its flags
 * @mr: the MR
 * @rds: what net/rds knows of it
 * @conn: connection of the sendmsg() that maps it, or NULL
 *
 * Context: process.
 */
void rext_mr_mapped(void *mr, const struct rds_mr *rds,
		    struct rds_connection *conn)
{
	struct rext_mr *m = mr;
	unsigned long flags;

	spin_lock_irqsave(&m->dev->lock, flags);
	if (rds->r_use_once)
		m->flags |= RDS_EXT_MR_FLAG_USE_ONCE;
	if (rds->r_invalidate)
		m->flags |= RDS_EXT_MR_FLAG_INVALIDATE;
	if (rds->r_write)
		m->flags |= RDS_EXT_MR_FLAG_READWRITE;
	if (conn)
		m->flags |= RDS_EXT_MR_FLAG_IN_SENDMSG;
	spin_unlock_irqrestore(&m->dev->lock, flags);
}

/* Called with the lock of the device held. */
static bool has_peer(const struct rext_mr *m, const struct in6_addr *peer)
{
	unsigned int i;

	for (i = 0; i < min_t(unsigned int, m->n_peers, REXT_MR_PEERS); i++)
		if (ipv6_addr_equal(&m->peers[i], peer))
			return true;
	/* Somebody whom there was no room for. */
	return m->n_peers > REXT_MR_PEERS;
}

/* Called with the lock of the device held. */
static void add_peer(struct rext_mr *m, const struct in6_addr *peer)
{
	if (has_peer(m, peer))
		return;
	if (m->n_peers < REXT_MR_PEERS)
		m->peers[m->n_peers] = *peer;
	m->n_peers++;
}

/**
 * rext_mr_for_dest() - an MR was mapped for one peer
 * @rs: its socket
 * @key: its key
 * @peer: the peer
 *
 * Context: process, under rcu_read_lock().
 */
void rext_mr_for_dest(struct rds_sock *rs, u32 key,
		      const struct in6_addr *peer)
{
	struct rext_mr *m = rext_mrtable_of_socket(rs, key);
	unsigned long flags;

	if (!m)
		return;
	spin_lock_irqsave(&m->dev->lock, flags);
	m->flags |= RDS_EXT_MR_FLAG_FOR_DEST;
	add_peer(m, peer);
	spin_unlock_irqrestore(&m->dev->lock, flags);
}

/**
 * rext_mr_unsent() - the sendmsg() that mapped an MR has failed
 * @rs: its socket
 * @key: its key
 *
 * Context: process, under rcu_read_lock().
 */
void rext_mr_unsent(struct rds_sock *rs, u32 key)
{
	struct rext_mr *m = rext_mrtable_of_socket(rs, key);

	if (m)
		rext_mr_end(m, RDS_EXT_MR_STATE_UNSENT);
}

/**
 * rext_mr_orphaned() - the socket of an MR is being closed
 * @mr: the MR
 *
 * Context: process, irqs off.
 */
void rext_mr_orphaned(void *mr)
{
	rext_mr_end(mr, RDS_EXT_MR_STATE_ORPHANED);
}

/**
 * rext_mr_advertised() - a message with the key of an MR is about to leave
 * @m: the MR, in use
 * @conn_id: number of the connection
 * @peer: the peer
 *
 * Context: any, with the lock of the device held.
 */
void rext_mr_advertised(struct rext_mr *m, u32 conn_id,
			const struct in6_addr *peer)
{
	lockdep_assert_held(&m->dev->lock);
	add_peer(m, peer);
	m->conn_id = conn_id;
	if (m->state == RDS_EXT_MR_STATE_MAPPED)
		set_state(m, RDS_EXT_MR_STATE_ADVERTISED);
}

/*
 * A key that an application passes on by itself has been advertised to nobody
 * as far as the kernel knows: there, as ever, whoever uses it releases it. What
 * is mapped in sendmsg() or for one peer is that peer's alone.
 */
static bool may_release(const struct rext_mr *m, const struct in6_addr *peer)
{
	if (!m->n_peers)
		return !(m->flags & RDS_EXT_MR_FLAG_IN_SENDMSG);
	return has_peer(m, peer);
}

/**
 * rext_mr_release() - a peer tells that it has used a key
 * @conn: its connection
 * @rs: the socket that its message goes to
 * @key: the key
 *
 * Context: any, under rcu_read_lock().
 * Return: false where net/rds is not to do anything about it.
 */
bool rext_mr_release(struct rds_connection *conn, struct rds_sock *rs, u32 key)
{
	struct rext_mr *m = rext_mrtable_of_socket(rs, key);
	struct rext_mrdev *dev;
	unsigned long flags;
	bool may;

	/* One of net/rds, or gone. */
	if (!m)
		return true;
	dev = m->dev;
	spin_lock_irqsave(&dev->lock, flags);
	may = may_release(m, &conn->c_faddr);
	if (may && (m->flags & RDS_EXT_MR_FLAG_USE_ONCE))
		rext_mr_end_locked(m, RDS_EXT_MR_STATE_RELEASED);
	spin_unlock_irqrestore(&dev->lock, flags);
	if (may)
		rext_lease_used(conn, m);
	else
		rext_mrstats_inc(REXT_MRSTAT_RELEASE_REFUSED);
	return may;
}

/**
 * rext_mr_show() - show an MR
 * @m: the MR
 * @net: network namespace that it must belong to
 * @info: filled
 *
 * Context: any, under rcu_read_lock().
 * Return: false where it belongs to another one.
 */
bool rext_mr_show(struct rext_mr *m, const struct net *net,
		  struct rext_mr_info *info)
{
	unsigned int last;
	unsigned long flags;

	if (!net_eq(m->net, net))
		return false;
	info->id = m->id;
	strscpy(info->device, m->dev->name, sizeof(info->device));
	info->pid = m->pid;
	strscpy(info->command, m->command, sizeof(info->command));
	info->uid = m->uid;
	info->socket = m->socket;
	info->local = m->local;
	info->port = m->port;
	info->length = m->length;

	spin_lock_irqsave(&m->dev->lock, flags);
	info->key = m->key;
	info->valid = m->valid;
	info->pages = m->nents;
	info->flags = m->flags;
	info->state = m->state;
	info->age_ms = m->mapped_at ? rext_now_ms() - m->mapped_at : 0;
	info->conn_id = m->conn_id;
	info->has_peer = m->n_peers;
	if (m->n_peers) {
		last = min_t(unsigned int, m->n_peers, REXT_MR_PEERS) - 1;
		info->peer = m->peers[last];
	}
	spin_unlock_irqrestore(&m->dev->lock, flags);
	return true;
}
