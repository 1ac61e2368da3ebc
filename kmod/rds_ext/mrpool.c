// SPDX-License-Identifier: GPL-2.0
#include <linux/slab.h>

#include "mrdev.h"
#include "mrpool.h"
#include "settings.h"

/* How long a full pool waits for an MR that is being invalidated. */
#define PATIENCE	(2 * HZ)

static const unsigned int pages_of[REXT_SIZES] = {
	[REXT_SMALL] = REXT_SMALL_PAGES,
	[REXT_LARGE] = REXT_LARGE_PAGES,
};

/* Called with the lock of the device held. */
static struct rext_slot *pop(struct rext_mrdev *dev, enum rext_slot_size size)
{
	struct rext_slot *slot;

	slot = list_first_entry_or_null(&dev->free[size], struct rext_slot,
					node);
	if (slot) {
		list_del(&slot->node);
		dev->gauge.free--;
	}
	return slot;
}

/* Called with the lock of the device held. */
static struct rext_slot *pop_any(struct rext_mrdev *dev)
{
	return pop(dev, REXT_LARGE) ?: pop(dev, REXT_SMALL);
}

/**
 * enum outcome - what a look at the pool has brought
 * @FOUND: a free MR
 * @ALLOCATE: leave to allocate one
 * @REPLACE: a free MR of another size, to be deallocated for one of this
 * @FULL: nothing
 */
enum outcome { FOUND, ALLOCATE, REPLACE, FULL };

static enum outcome look(struct rext_mrdev *dev, enum rext_slot_size size,
			 struct rext_slot **slot)
{
	enum outcome outcome = FULL;
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	*slot = pop(dev, size);
	if (*slot) {
		outcome = FOUND;
	} else if (dev->gauge.mrs < rext_mrdev_max(dev)) {
		dev->gauge.mrs++;
		dev->gauge.mrs_peak = max(dev->gauge.mrs_peak, dev->gauge.mrs);
		outcome = ALLOCATE;
	} else {
		*slot = pop_any(dev);
		if (*slot)
			outcome = REPLACE;
	}
	spin_unlock_irqrestore(&dev->lock, flags);
	return outcome;
}

/* Waiting makes sense only for what is on its way back. */
static bool look_again(struct rext_mrdev *dev, enum rext_slot_size size,
		       struct rext_slot **slot, enum outcome *outcome)
{
	*outcome = look(dev, size, slot);
	return *outcome != FULL || !READ_ONCE(dev->gauge.invalidating);
}

static struct rext_slot *allocate(struct rext_mrdev *dev,
				  enum rext_slot_size size)
{
	struct rext_slot *slot = kzalloc(sizeof(*slot), GFP_KERNEL);
	unsigned long flags;
	long ret = -ENOMEM;

	if (!slot)
		goto err;
	slot->size = size;
	slot->mr = ib_alloc_mr(dev->pd, IB_MR_TYPE_MEM_REG, pages_of[size]);
	if (IS_ERR(slot->mr)) {
		ret = PTR_ERR(slot->mr);
		goto err;
	}
	slot->variant = slot->mr->rkey;
	spin_lock_irqsave(&dev->lock, flags);
	dev->count.allocated++;
	spin_unlock_irqrestore(&dev->lock, flags);
	return slot;
err:
	kfree(slot);
	spin_lock_irqsave(&dev->lock, flags);
	dev->gauge.mrs--;
	spin_unlock_irqrestore(&dev->lock, flags);
	return ERR_PTR(ret);
}

static void deallocate(struct rext_mrdev *dev, struct rext_slot *slot)
{
	int ret = ib_dereg_mr(slot->mr);
	unsigned long flags;

	if (ret)
		pr_warn_ratelimited("rds_ext: %s: an MR stays with the device (error %d)\n",
				    dev->name, ret);
	spin_lock_irqsave(&dev->lock, flags);
	dev->count.deallocated++;
	spin_unlock_irqrestore(&dev->lock, flags);
	kfree(slot);
}

/**
 * rext_pool_take() - take an MR
 * @dev: the device, entered
 * @pages: pages that it has to hold, 1 to REXT_LARGE_PAGES
 *
 * A full pool is waited for where MRs are about to come back to it.
 *
 * Context: process, may sleep.
 * Return: the MR; -EMSGSIZE where there is none that large, -ENOBUFS where the
 * pool is at its limit, or the error of the device.
 */
struct rext_slot *rext_pool_take(struct rext_mrdev *dev, unsigned int pages)
{
	enum rext_slot_size size = REXT_SMALL;
	enum outcome outcome;
	struct rext_slot *slot;
	unsigned long flags;

	while (size < REXT_SIZES && pages_of[size] < pages)
		size++;
	if (size == REXT_SIZES)
		return ERR_PTR(-EMSGSIZE);

	outcome = look(dev, size, &slot);
	if (outcome == FULL)
		wait_event_timeout(dev->wait,
				   look_again(dev, size, &slot, &outcome),
				   PATIENCE);
	switch (outcome) {
	case FOUND:
		return slot;
	case REPLACE:
		deallocate(dev, slot);
		return allocate(dev, size);
	case ALLOCATE:
		return allocate(dev, size);
	case FULL:
		break;
	}
	spin_lock_irqsave(&dev->lock, flags);
	dev->count.exhausted++;
	spin_unlock_irqrestore(&dev->lock, flags);
	return ERR_PTR(-ENOBUFS);
}

/**
 * rext_pool_put() - give an MR back
 * @dev: the device
 * @slot: the MR; its key is invalid, and nothing is in flight for it
 *
 * Context: any, with the lock of the device held. What is above the limit is
 * deallocated later, by rext_pool_trim().
 */
void rext_pool_put(struct rext_mrdev *dev, struct rext_slot *slot)
{
	lockdep_assert_held(&dev->lock);
	/* Used last: its key comes up again as late as can be. */
	list_add_tail(&slot->node, &dev->free[slot->size]);
	dev->gauge.free++;
	if (dev->gauge.mrs > rext_mrdev_max(dev))
		queue_work(rext_mr_wq, &dev->work);
	wake_up(&dev->wait);
}

/**
 * rext_pool_drop() - deallocate an MR instead of giving it back
 * @dev: the device
 * @slot: the MR, of whatever state; nothing is in flight for it
 *
 * Context: process, may sleep.
 */
void rext_pool_drop(struct rext_mrdev *dev, struct rext_slot *slot)
{
	unsigned long flags;

	deallocate(dev, slot);
	spin_lock_irqsave(&dev->lock, flags);
	dev->gauge.mrs--;
	spin_unlock_irqrestore(&dev->lock, flags);
	wake_up(&dev->wait);
}

/* Deallocates free MRs until no more than @most are allocated. */
static void shrink(struct rext_mrdev *dev, unsigned int most)
{
	struct rext_slot *slot;
	unsigned long flags;

	do {
		slot = NULL;
		spin_lock_irqsave(&dev->lock, flags);
		if (dev->gauge.mrs > most)
			slot = pop_any(dev);
		spin_unlock_irqrestore(&dev->lock, flags);
		if (slot)
			rext_pool_drop(dev, slot);
	} while (slot);
}

/**
 * rext_pool_trim() - deallocate free MRs above the limit
 * @dev: the device
 *
 * Context: process, may sleep.
 */
void rext_pool_trim(struct rext_mrdev *dev)
{
	shrink(dev, rext_mrdev_max(dev));
}

/**
 * rext_pool_exit() - deallocate all free MRs
 * @dev: the device, which nobody maps with any more
 *
 * Context: process, may sleep.
 */
void rext_pool_exit(struct rext_mrdev *dev)
{
	shrink(dev, 0);
}
