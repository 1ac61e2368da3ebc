// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <rdma/ib_verbs.h>

#include "rds.h"
#include "ib.h"

#include "announce.h"
#include "conn.h"
#include "counters.h"
#include "exthdr.h"
#include "lease.h"
#include "mr.h"
#include "mrdev.h"
#include "mrstats.h"
#include "mrtable.h"

/**
 * rext_leases_init() - begin without leases
 * @leases: those of a connection that nobody else knows yet
 *
 * Context: any.
 */
void rext_leases_init(struct rext_leases *leases)
{
	INIT_LIST_HEAD(&leases->given);
	leases->n_given = 0;
	xa_init(&leases->taken);
	leases->n_taken = 0;
}

/*
 * Called with the locks of the connection and of the device held. The references
 * of the lease are the caller's then, to be dropped without them.
 */
static void take_back(struct rext_conn *c, struct rext_mr *m)
{
	list_del_init(&m->lease);
	c->leases.n_given--;
	m->lease_conn = 0;
	if (m->quarantined) {
		m->quarantined = false;
		m->dev->gauge.quarantined--;
	}
}

/*
 * In a hook, so that the end of the module waits for us although we may be the
 * last to keep it.
 */
static void put_lease(struct rext_mr *m)
{
	rext_mr_put(m);
	module_put(THIS_MODULE);
}

/* Returns an MR that was leased, with the references of the lease. */
static struct rext_mr *take_one_back(struct rext_conn *c)
{
	unsigned long flags;
	struct rext_mr *m;

	spin_lock_irqsave(&c->lock, flags);
	m = list_first_entry_or_null(&c->leases.given, struct rext_mr, lease);
	if (m) {
		spin_lock(&m->dev->lock);
		take_back(c, m);
		spin_unlock(&m->dev->lock);
	}
	spin_unlock_irqrestore(&c->lock, flags);
	return m;
}

/**
 * rext_leases_end() - an incarnation of a connection is over
 * @c: the connection
 *
 * Context: process. No message of it comes or goes any more.
 */
void rext_leases_end(struct rext_conn *c)
{
	struct rext_mr *m;
	unsigned long flags;

	while ((m = take_one_back(c)))
		put_lease(m);
	spin_lock_irqsave(&c->lock, flags);
	xa_destroy(&c->leases.taken);
	c->leases.n_taken = 0;
	spin_unlock_irqrestore(&c->lock, flags);
}

/* Called with the lock of the connection held. */
static bool agreed(const struct rext_conn *c)
{
	return rext_announce_agreed(&c->announce) &
	       RDS_EXT_FEATURE_REMOTE_INVALIDATE;
}

/*
 * Called with the locks of the connection and of the device held. Only where the
 * answer comes back over this very connection: one of this host to itself has
 * two halves. A peer that answers over another one, or never, ties up no more
 * than a bounded number of MRs.
 */
static bool may_give(const struct rds_connection *rds,
		     const struct rext_conn *c, const struct rext_mr *m)
{
	const u32 flags = RDS_EXT_MR_FLAG_USE_ONCE |
			  RDS_EXT_MR_FLAG_IN_SENDMSG;

	return agreed(c) && !ipv6_addr_equal(&rds->c_laddr, &rds->c_faddr) &&
	       (m->flags & flags) == flags && m->n_peers == 1 &&
	       !m->lease_conn && c->leases.n_given < REXT_LEASES_GIVEN;
}

/* Called with the locks of the connection and of the device held. */
static bool give(const struct rds_connection *rds, struct rext_conn *c,
		 struct rext_mr *m, struct rds_header *hdr)
{
	u8 dest_flags = EXTHDR_DEST_MAY_INVALIDATE;

	/* The key is kept for the peer, and with it the module. */
	if (!may_give(rds, c, m) || !try_module_get(THIS_MODULE))
		return false;
	if (!rext_counters_add(hdr->h_exthdr, EXTHDR_RDMA_DEST_FLAGS,
			       &dest_flags)) {
		module_put(THIS_MODULE);
		return false;
	}
	refcount_inc(&m->refs);
	m->lease_conn = c->id;
	m->flags |= RDS_EXT_MR_FLAG_REMOTE_INVALIDATE;
	list_add_tail(&m->lease, &c->leases.given);
	c->leases.n_given++;
	return true;
}

/* The payload of RDMA_DEST begins with the key, and stands anywhere. */
static u32 key_of(const u8 *dest)
{
	return (u32)dest[0] << 24 | dest[1] << 16 | dest[2] << 8 | dest[3];
}

/* Returns NULL where the header has none. */
static const u8 *find_dest(const struct rds_header *hdr)
{
	/* Nearly every message: no extension header at all. */
	if (!hdr->h_exthdr[0])
		return NULL;
	return exthdr_find(hdr->h_exthdr, EXTHDR_RDMA_DEST);
}

/* The same key may be another MR's on another device. */
static struct rext_mr *find_mr(const struct rds_connection *rds, u32 key)
{
	const struct rds_ib_connection *ic =
		rds->c_path[0].cp_transport_data;

	return rext_mrtable_of_device(READ_ONCE(ic->rds_ibdev), key);
}

/* Without memory for the connection there is no lease, and else as ever. */
static void advertise_unknown(const struct rds_connection *rds,
			      struct rext_mr *m)
{
	unsigned long flags;

	spin_lock_irqsave(&m->dev->lock, flags);
	if (rext_mr_in_use(m))
		rext_mr_advertised(m, 0, &rds->c_faddr);
	spin_unlock_irqrestore(&m->dev->lock, flags);
}

/**
 * rext_lease_tx() - a message is about to leave over IB
 * @rds: its connection
 * @hdr: the header that goes on the wire
 *
 * Context: process or softirq, under rcu_read_lock().
 * Return: true where the header has changed.
 */
bool rext_lease_tx(struct rds_connection *rds, struct rds_header *hdr)
{
	const u8 *dest = find_dest(hdr);
	struct rext_conn *c;
	struct rext_mr *m;
	unsigned long flags;
	bool changed = false;

	if (!dest)
		return false;
	m = find_mr(rds, key_of(dest));
	if (!m)
		return false;
	c = rext_conn_obtain(rds);
	if (!c) {
		advertise_unknown(rds, m);
		return false;
	}

	spin_lock_irqsave(&c->lock, flags);
	spin_lock(&m->dev->lock);
	if (rext_mr_in_use(m)) {
		rext_mr_advertised(m, c->id, &rds->c_faddr);
		changed = give(rds, c, m, hdr);
	}
	spin_unlock(&m->dev->lock);
	spin_unlock_irqrestore(&c->lock, flags);
	return changed;
}

/* Called with the lock of the connection held. */
static bool forget(struct rext_leases *leases, u32 key)
{
	if (!xa_erase(&leases->taken, key))
		return false;
	WRITE_ONCE(leases->n_taken, leases->n_taken - 1);
	return true;
}

/*
 * Called with the lock of the connection held. A lease that is forgotten costs
 * no more than that the peer invalidates the key itself: so a peer that never
 * has its leases used cannot fill the table for good.
 */
static void take(struct rext_conn *c, u32 key)
{
	struct rext_leases *leases = &c->leases;
	unsigned long oldest = 0;

	if (!agreed(c))
		return;
	if (leases->n_taken >= REXT_LEASES_TAKEN &&
	    xa_find(&leases->taken, &oldest, ULONG_MAX, XA_PRESENT))
		forget(leases, oldest);
	/* Without memory it is forgotten as well. */
	if (!xa_store(&leases->taken, key, xa_mk_value(1), GFP_ATOMIC))
		WRITE_ONCE(leases->n_taken, leases->n_taken + 1);
}

/**
 * rext_lease_rx() - a message has come in over IB
 * @rds: its connection
 * @hdr: the header of its first fragment
 *
 * Context: softirq, one caller at a time for each connection.
 */
void rext_lease_rx(struct rds_connection *rds, const struct rds_header *hdr)
{
	const u8 *dest = find_dest(hdr);
	const u8 *dest_flags;
	struct rext_conn *c;
	unsigned long flags;

	if (!dest)
		return;
	c = rext_conn_find(rds);
	if (!c)
		return;
	dest_flags = exthdr_find(hdr->h_exthdr, EXTHDR_RDMA_DEST_FLAGS);
	spin_lock_irqsave(&c->lock, flags);
	/* A key that comes up again, without leave, is another MR by now. */
	if (dest_flags && (*dest_flags & EXTHDR_DEST_MAY_INVALIDATE))
		take(c, key_of(dest));
	else if (c->leases.n_taken)
		forget(&c->leases, key_of(dest));
	spin_unlock_irqrestore(&c->lock, flags);
}

/**
 * rext_lease_taken() - whether a message would invalidate a key
 * @c: its connection
 * @key: the key that its RDMA operation has used
 *
 * Context: any.
 * Return: true where the peer has given leave to.
 */
bool rext_lease_taken(struct rext_conn *c, u32 key)
{
	return READ_ONCE(c->leases.n_taken) && xa_load(&c->leases.taken, key);
}

/**
 * rext_lease_tx_last() - the message behind an RDMA is about to leave
 * @rds: its connection
 * @rm: the message
 * @wr: the send of its last fragment
 *
 * Context: process or softirq, under rcu_read_lock().
 */
void rext_lease_tx_last(struct rds_connection *rds,
			const struct rds_message *rm, struct ib_send_wr *wr)
{
	struct rext_conn *c = rext_conn_find(rds);
	u32 key = rm->rdma.op_rkey;
	unsigned long flags;
	bool taken;

	if (!c || !READ_ONCE(c->leases.n_taken))
		return;
	spin_lock_irqsave(&c->lock, flags);
	taken = forget(&c->leases, key);
	spin_unlock_irqrestore(&c->lock, flags);
	if (!taken)
		return;
	/* A read that was not waited for: loaded between it and its message. */
	if (!rm->rdma.op_write && (rm->rdma.op_mapped || rm->rdma.op_odp_mr))
		wr->send_flags |= IB_SEND_FENCE;
	wr->opcode = IB_WR_SEND_WITH_INV;
	wr->ex.invalidate_rkey = key;
}

/**
 * rext_lease_rx_invalidate() - a message has invalidated a key
 * @rds: its connection
 * @key: the key
 *
 * Context: softirq, under rcu_read_lock(); before the message is looked at.
 */
void rext_lease_rx_invalidate(struct rds_connection *rds, u32 key)
{
	struct rext_mr *m = find_mr(rds, key);
	struct rext_conn *c = rext_conn_find(rds);
	unsigned long flags;
	bool leased = false;

	if (m && c) {
		spin_lock_irqsave(&c->lock, flags);
		spin_lock(&m->dev->lock);
		leased = m->lease_conn == c->id;
		if (leased) {
			take_back(c, m);
			m->dev->count.remote_inv++;
			m->valid = false;
		} else {
			/* Whose key it was by then, nobody knows. */
			m->doubtful = true;
		}
		rext_mr_end_locked(m, RDS_EXT_MR_STATE_REMOTELY_INVALIDATED);
		spin_unlock(&m->dev->lock);
		spin_unlock_irqrestore(&c->lock, flags);
	}
	if (leased)
		put_lease(m);
	else
		rext_mrstats_inc(REXT_MRSTAT_INVALIDATE_FOREIGN);
}

/**
 * rext_lease_used() - a message tells that its sender is done with a key
 * @rds: its connection
 * @m: the MR
 *
 * Context: any, under rcu_read_lock().
 */
void rext_lease_used(struct rds_connection *rds, struct rext_mr *m)
{
	struct rext_conn *c;
	unsigned long flags;
	bool leased;

	if (!READ_ONCE(m->lease_conn))
		return;
	c = rext_conn_find(rds);
	if (!c)
		return;
	spin_lock_irqsave(&c->lock, flags);
	spin_lock(&m->dev->lock);
	leased = m->lease_conn == c->id;
	if (leased)
		take_back(c, m);
	spin_unlock(&m->dev->lock);
	spin_unlock_irqrestore(&c->lock, flags);
	if (leased)
		put_lease(m);
}
