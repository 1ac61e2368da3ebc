// SPDX-License-Identifier: GPL-2.0
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "mr.h"
#include "mrdev.h"
#include "mrend.h"

/* MRs that are worked off together, and what of them is still to invalidate. */
struct batch {
	struct rext_mr *mrs[REXT_PROXY_CHAIN];
	unsigned int n;
	struct rext_proxy_op *ops[REXT_PROXY_CHAIN];
	u32 keys[REXT_PROXY_CHAIN];
	unsigned int n_valid;
	unsigned long stale;	/* bit of each MR that an error has left so */
	unsigned long doubtful;	/* bit of each MR whose key may be dead or not */
};

/*
 * A key that the peer has invalidated is dead already. One that somebody without
 * leave says to have invalidated may be or not.
 */
static bool take(struct rext_mrdev *dev, struct list_head *ending,
		 struct batch *b)
{
	struct rext_mr *m;
	unsigned long flags;

	b->n = 0;
	b->n_valid = 0;
	b->stale = 0;
	b->doubtful = 0;
	spin_lock_irqsave(&dev->lock, flags);
	while (b->n < REXT_PROXY_CHAIN) {
		m = list_first_entry_or_null(ending, struct rext_mr, node);
		if (!m)
			break;
		list_del_init(&m->node);
		if (m->doubtful) {
			b->doubtful |= BIT(b->n);
		} else if (m->valid) {
			b->ops[b->n_valid] = &m->slot->op;
			b->keys[b->n_valid++] = m->key;
			b->stale |= BIT(b->n);
		}
		b->mrs[b->n++] = m;
	}
	if (b->n_valid) {
		dev->count.local_inv += b->n_valid;
		dev->count.chains++;
	}
	spin_unlock_irqrestore(&dev->lock, flags);
	return b->n;
}

static void unpin(struct scatterlist *sg, unsigned int nents)
{
	struct page *pages[16];
	unsigned int i, n = 0;

	for (i = 0; i < nents; i++) {
		pages[n++] = sg_page(&sg[i]);
		if (n == ARRAY_SIZE(pages) || i + 1 == nents) {
			unpin_user_pages_dirty_lock(pages, n, true);
			n = 0;
		}
	}
}

/* The key is dead, or the device has no MR of it any more. */
static void finish(struct rext_mrdev *dev, struct rext_mr *m)
{
	struct scatterlist *sg = m->sg;
	unsigned int nents = m->nents;
	unsigned long flags;
	bool uncharge;

	/* Synchronised at its end, see rext_mr_end_locked(). */
	ib_dma_unmap_sg_attrs(dev->device, sg, nents, DMA_BIDIRECTIONAL,
			      DMA_ATTR_SKIP_CPU_SYNC);
	unpin(sg, nents);
	kfree(sg);

	spin_lock_irqsave(&dev->lock, flags);
	m->sg = NULL;
	m->nents = 0;
	m->valid = false;
	m->flags &= ~RDS_EXT_MR_FLAG_INVALIDATING;
	dev->gauge.pinned -= nents;
	/* A shell counts for its owner until that is done with it. */
	uncharge = m->app_done;
	if (m->lease_conn) {
		m->quarantined = true;
		dev->gauge.quarantined++;
	}
	list_add_tail(&m->node, &dev->ended);
	spin_unlock_irqrestore(&dev->lock, flags);
	if (uncharge)
		rext_limit_uncharge(&m->charge);
	rext_mr_put(m);

	/* Only now: whoever waits for a slot waits while there are such MRs. */
	spin_lock_irqsave(&dev->lock, flags);
	dev->gauge.invalidating--;
	spin_unlock_irqrestore(&dev->lock, flags);
}

/**
 * rext_mrend_work() - work off what has ended
 * @work: that of the device
 *
 * What ends meanwhile has the work queued once more. So who flushes it waits for
 * what had ended by then, and not for as long as there is traffic.
 *
 * Context: process, may sleep; one at a time for each device.
 */
void rext_mrend_work(struct work_struct *work)
{
	struct rext_mrdev *dev = container_of(work, struct rext_mrdev, work);
	LIST_HEAD(ending);
	struct batch b;
	unsigned int i;

	spin_lock_irq(&dev->lock);
	list_splice_init(&dev->ending, &ending);
	spin_unlock_irq(&dev->lock);

	while (take(dev, &ending, &b)) {
		if (!b.n_valid ||
		    !rext_proxy_invalidate(&dev->proxy, b.ops, b.keys,
					   b.n_valid))
			b.stale = 0;
		b.stale |= b.doubtful;
		for (i = 0; i < b.n; i++) {
			if (b.stale & BIT(i))
				rext_mr_drop_stale(b.mrs[i]);
			finish(dev, b.mrs[i]);
		}
		wake_up_all(&dev->wait);
		cond_resched();
	}
	rext_pool_trim(dev);
}
