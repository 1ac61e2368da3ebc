// SPDX-License-Identifier: GPL-2.0
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/rdma_cm.h>

#include "rds.h"
#include "rds_hooks.h"
#include "ib.h"

#include "localdev.h"
#include "mr.h"
#include "mrdev.h"
#include "mrend.h"
#include "settings.h"

/* Works off what has ended; also needed to make memory free. */
struct workqueue_struct *rext_mr_wq;

static LIST_HEAD(devices);
static DECLARE_RWSEM(devices_sem);	/* the list; outermost */

/* Called with the semaphore of the table held. */
static struct rext_mrdev *find(const struct rds_ib_device *rds_ibdev)
{
	struct rext_mrdev *dev;

	list_for_each_entry(dev, &devices, node)
		if (dev->rds_ibdev == rds_ibdev)
			return dev;
	return NULL;
}

/*
 * The list that RDS keeps of addresses in use, by their last four bytes, is the
 * quick way. An address that no connection has used is not in it, and those of
 * IPv6 are not told from each other.
 */
static struct rds_ib_device *look_up(const struct rds_hooks_ib *ib,
				     const struct rds_sock *rs,
				     const struct rdma_cm_id *id)
{
	if (id)
		return ib->get_client_data(id->device);
	if (ipv6_addr_v4mapped(&rs->rs_bound_addr))
		return ib->get_device(rs->rs_bound_addr_v4);
	return NULL;
}

/* Takes the reference to what RDS has made of the device over. */
static struct rext_mrdev *make(const struct rds_hooks_ib *ib,
			       struct rds_ib_device *rds_ibdev)
{
	struct rext_mrdev *dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	int ret = -ENOMEM;
	int size;

	if (!dev)
		goto put;
	refcount_set(&dev->refs, 1);
	init_rwsem(&dev->sem);
	dev->ib = ib;
	dev->rds_ibdev = rds_ibdev;
	dev->device = rds_ibdev->dev;
	dev->pd = rds_ibdev->pd;
	strscpy(dev->name, dev_name(&dev->device->dev), sizeof(dev->name));
	/* The other half is for net/rds and everybody else. */
	dev->max = dev->device->attrs.max_mr / 2 ?: REXT_POOL_MAX_MAX;
	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->live);
	INIT_LIST_HEAD(&dev->ending);
	INIT_LIST_HEAD(&dev->ended);
	for (size = 0; size < REXT_SIZES; size++)
		INIT_LIST_HEAD(&dev->free[size]);
	INIT_WORK(&dev->work, rext_mrend_work);
	init_waitqueue_head(&dev->wait);

	ret = rext_proxy_init(&dev->proxy, dev->device, dev->pd);
	if (ret)
		goto free;
	list_add_tail(&dev->node, &devices);
	return dev;

free:
	pr_warn_ratelimited("rds_ext: %s: no queue pair for MRs (error %d)\n",
			    dev->name, ret);
	kfree(dev);
put:
	ib->dev_put(rds_ibdev);
	return ERR_PTR(ret);
}

/* Returns NULL where the device is not known, or not known yet. */
static struct rext_mrdev *enter_known(const struct rds_hooks_ib *ib,
				      const struct rds_sock *rs,
				      const struct rdma_cm_id *id)
{
	struct rds_ib_device *rds_ibdev;
	struct rext_mrdev *dev = NULL;

	down_read(&devices_sem);
	rds_ibdev = look_up(ib, rs, id);
	if (rds_ibdev) {
		dev = find(rds_ibdev);
		ib->dev_put(rds_ibdev);
	}
	if (dev)
		down_read(&dev->sem);
	up_read(&devices_sem);
	return dev;
}

static struct rext_mrdev *enter_new(const struct rds_hooks_ib *ib,
				    const struct rds_sock *rs,
				    const struct rdma_cm_id *id)
{
	struct rds_ib_device *rds_ibdev;
	struct rext_mrdev *dev;

	down_write(&devices_sem);
	rds_ibdev = look_up(ib, rs, id);
	if (!rds_ibdev) {
		dev = ERR_PTR(-ENODEV);
	} else {
		dev = find(rds_ibdev);
		if (dev)
			ib->dev_put(rds_ibdev);
		else
			dev = make(ib, rds_ibdev);
	}
	if (!IS_ERR(dev))
		down_read(&dev->sem);
	up_write(&devices_sem);
	return dev;
}

/**
 * rext_mrdev_enter() - find the device of a socket, to map with it
 * @ib: functions of rds_rdma.ko
 * @rs: the socket
 *
 * Context: process, may sleep.
 * Return: the device, which does not end before rext_mrdev_leave(); -ENODEV
 * where the address of the socket belongs to none of RDS; or the error that
 * came of making a queue pair there.
 */
struct rext_mrdev *rext_mrdev_enter(const struct rds_hooks_ib *ib,
				    const struct rds_sock *rs)
{
	struct rext_mrdev *dev;
	struct rdma_cm_id *id;

	dev = enter_known(ib, rs, NULL);
	if (!dev) {
		id = rext_localdev_bind(rs);
		if (IS_ERR(id))
			return ERR_CAST(id);
		dev = enter_known(ib, rs, id) ?: enter_new(ib, rs, id);
		rdma_destroy_id(id);
	}
	return dev;
}

/**
 * rext_mrdev_leave() - let a device end again
 * @dev: the device
 *
 * Context: process.
 */
void rext_mrdev_leave(struct rext_mrdev *dev)
{
	up_read(&dev->sem);
}

/**
 * rext_mrdev_get() - take a reference
 * @dev: the device, which the caller knows to be there
 *
 * Context: any.
 */
void rext_mrdev_get(struct rext_mrdev *dev)
{
	refcount_inc(&dev->refs);
}

/**
 * rext_mrdev_put() - drop a reference
 * @dev: the device
 *
 * Context: any. Readers of the tables of MRs may follow it for a grace period.
 */
void rext_mrdev_put(struct rext_mrdev *dev)
{
	if (refcount_dec_and_test(&dev->refs))
		kfree_rcu(dev, rcu);
}

/**
 * rext_mrdev_max() - limit of the pool of a device
 * @dev: the device
 *
 * Context: any.
 * Return: MRs that may be allocated.
 */
unsigned int rext_mrdev_max(const struct rext_mrdev *dev)
{
	return min(dev->max, rext_settings_mr_pool_max());
}

static void end_all(struct rext_mrdev *dev)
{
	struct rext_mr *m;
	unsigned long flags;

	/* One by one: each has the memory of an MR synchronised. */
	do {
		spin_lock_irqsave(&dev->lock, flags);
		m = list_first_entry_or_null(&dev->live, struct rext_mr, node);
		if (m)
			rext_mr_end_locked(m,
					   RDS_EXT_MR_STATE_DEVICE_REMOVED);
		spin_unlock_irqrestore(&dev->lock, flags);
	} while (m);
	flush_work(&dev->work);
}

/* Leaves those that somebody refers to as shells. */
static void take_slots(struct rext_mrdev *dev)
{
	struct rext_slot *slot, *next;
	LIST_HEAD(slots);
	struct rext_mr *m;
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	list_for_each_entry(m, &dev->ended, node) {
		if (m->slot)
			list_add(&m->slot->node, &slots);
		m->slot = NULL;
	}
	spin_unlock_irqrestore(&dev->lock, flags);
	list_for_each_entry_safe(slot, next, &slots, node)
		rext_pool_drop(dev, slot);
}

/* Called with the semaphore of the table held for writing. */
static void end(struct rext_mrdev *dev)
{
	list_del(&dev->node);
	/* Nobody enters it any more; whoever has gets done with mapping. */
	down_write(&dev->sem);
	up_write(&dev->sem);

	end_all(dev);
	take_slots(dev);
	rext_pool_exit(dev);
	/* What came back meanwhile may have asked for it once more. */
	cancel_work_sync(&dev->work);
	rext_proxy_exit(&dev->proxy);
	dev->ib->dev_put(dev->rds_ibdev);
	/* Compared by whoever looks for an MR of a device. */
	WRITE_ONCE(dev->rds_ibdev, NULL);
	rext_mrdev_put(dev);
}

/**
 * rext_mrdev_removed() - RDS gives a device up
 * @rds_ibdev: what it had made of the device
 *
 * Context: process, may sleep. Nobody finds it in net/rds any more.
 */
void rext_mrdev_removed(struct rds_ib_device *rds_ibdev)
{
	struct rext_mrdev *dev;

	down_write(&devices_sem);
	dev = find(rds_ibdev);
	if (dev)
		end(dev);
	up_write(&devices_sem);
}

/**
 * rext_mrdev_flush() - wait until what has ended is unpinned
 *
 * Context: process, may sleep.
 */
void rext_mrdev_flush(void)
{
	struct rext_mrdev *dev;

	down_read(&devices_sem);
	list_for_each_entry(dev, &devices, node)
		flush_work(&dev->work);
	up_read(&devices_sem);
}

/**
 * rext_mrdev_show() - show a device
 * @index: 0 for the first one
 * @info: filled
 *
 * Context: process, may sleep.
 * Return: false behind the last one.
 */
bool rext_mrdev_show(unsigned int index, struct rext_pool_info *info)
{
	struct rext_mrdev *dev;
	unsigned long flags;
	bool found = false;

	down_read(&devices_sem);
	list_for_each_entry(dev, &devices, node) {
		if (index--)
			continue;
		strscpy(info->name, dev->name, sizeof(info->name));
		info->max = rext_mrdev_max(dev);
		spin_lock_irqsave(&dev->lock, flags);
		info->gauge = dev->gauge;
		info->count = dev->count;
		spin_unlock_irqrestore(&dev->lock, flags);
		info->count.recoveries = READ_ONCE(dev->proxy.recoveries);
		found = true;
		break;
	}
	up_read(&devices_sem);
	return found;
}

/**
 * rext_mrdev_reset_peaks() - set the peaks of all devices to what there is
 *
 * Context: process, may sleep.
 */
void rext_mrdev_reset_peaks(void)
{
	struct rext_mrdev *dev;
	unsigned long flags;

	down_read(&devices_sem);
	list_for_each_entry(dev, &devices, node) {
		spin_lock_irqsave(&dev->lock, flags);
		dev->gauge.mrs_peak = dev->gauge.mrs;
		dev->gauge.in_use_peak = dev->gauge.in_use;
		dev->gauge.pinned_peak = dev->gauge.pinned;
		spin_unlock_irqrestore(&dev->lock, flags);
	}
	up_read(&devices_sem);
}

/**
 * rext_mrdev_trim() - apply a limit of the pools that has been lowered
 *
 * Context: process, may sleep.
 */
void rext_mrdev_trim(void)
{
	struct rext_mrdev *dev;

	down_read(&devices_sem);
	list_for_each_entry(dev, &devices, node)
		queue_work(rext_mr_wq, &dev->work);
	up_read(&devices_sem);
}

/**
 * rext_mrdev_init() - set up
 *
 * Context: process, may sleep.
 * Return: 0, or -ENOMEM.
 */
int rext_mrdev_init(void)
{
	rext_mr_wq = alloc_workqueue("rds_ext_mr", WQ_MEM_RECLAIM | WQ_UNBOUND,
				     0);
	return rext_mr_wq ? 0 : -ENOMEM;
}

/**
 * rext_mrdev_end_all() - let go of all devices
 *
 * Context: process, may sleep. The module is being unloaded: no application has
 * an MR, and none gets one.
 */
void rext_mrdev_end_all(void)
{
	struct rext_mrdev *dev, *next;

	down_write(&devices_sem);
	list_for_each_entry_safe(dev, next, &devices, node)
		end(dev);
	up_write(&devices_sem);
}

/**
 * rext_mrdev_exit() - take down what rext_mrdev_init() has set up
 *
 * Context: process, may sleep. No MR is left.
 */
void rext_mrdev_exit(void)
{
	destroy_workqueue(rext_mr_wq);
}
