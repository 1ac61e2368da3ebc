// SPDX-License-Identifier: GPL-2.0
/*
 * What peers may do with MRs: release them, and invalidate those that were
 * leased to them.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "rds.h"
#include "ib.h"

#include "conn.h"
#include "counters.h"
#include "engine.h"
#include "exthdr.h"
#include "fence.h"
#include "lease.h"
#include "mr.h"
#include "mrdev.h"
#include "mrstats.h"
#include "outside.h"
#include "suites.h"

#define STATE(name)	RDS_EXT_MR_STATE_##name

/**
 * struct peer - a connection to a peer
 * @rds: the connection, of which net/rds knows nothing
 * @path: its path
 * @ic: what it is to the transport
 * @conn: what rds_ext knows of it
 * @hdr: the header of a message
 */
struct peer {
	struct rds_connection rds;
	struct rds_conn_path path;
	struct rds_ib_connection ic;
	struct rext_conn conn;
	struct rds_header hdr;
};

static struct peer *make_peer(struct kunit *test, u8 last_byte)
{
	struct peer *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	struct engine *e = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, p);
	ipv6_addr_set_v4mapped(htonl(0x0a4d0001), &p->rds.c_laddr);
	ipv6_addr_set_v4mapped(htonl(0x0a4d0000 | last_byte),
			       &p->rds.c_faddr);
	p->rds.c_path = &p->path;
	p->path.cp_conn = &p->rds;
	p->path.cp_transport_data = &p->ic;
	p->ic.rds_ibdev = e->ibdev;
	spin_lock_init(&p->conn.lock);
	p->conn.rds = &p->rds;
	p->conn.id = last_byte;
	rext_leases_init(&p->conn.leases);
	return p;
}

/* The peer that rds_ext knows, with which both sides agree on everything. */
static struct peer *known_peer(struct kunit *test)
{
	struct peer *p = make_peer(test, 2);

	outside.conn = &p->conn;
	outside.agreed = RDS_EXT_FEATURE_REMOTE_INVALIDATE;
	return p;
}

static struct rext_mr *get(struct kunit *test, unsigned int page)
{
	struct rext_mr *m = engine_get(test, page, 1, true);

	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(m));
	return m;
}

/* Sends a message with the key of an MR; returns whether that is leased. */
static bool advertise(struct kunit *test, struct peer *p, u32 key)
{
	__be32 dest[] = { cpu_to_be32(key), 0 };
	bool changed;

	memset(&p->hdr, 0, sizeof(p->hdr));
	KUNIT_EXPECT_EQ(test, exthdr_add(p->hdr.h_exthdr, EXTHDR_RDMA_DEST,
					 dest), EXTHDR_OK);
	rcu_read_lock();
	changed = rext_lease_tx(&p->rds, &p->hdr);
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, changed,
			!!exthdr_find(p->hdr.h_exthdr,
				      EXTHDR_RDMA_DEST_FLAGS));
	return changed;
}

static bool release(struct kunit *test, struct peer *p, u32 key)
{
	struct engine *e = test->priv;
	bool may;

	rcu_read_lock();
	may = rext_mr_release(&p->rds, e->rs, key);
	rcu_read_unlock();
	return may;
}

/* What a message with invalidate does to a key, and what then comes in. */
static void invalidate(struct kunit *test, struct peer *p, struct rext_mr *m)
{
	struct rext_proxy_op *op = &m->slot->op;
	u32 key = m->key;

	KUNIT_ASSERT_EQ(test, rext_proxy_invalidate(&m->dev->proxy, &op, &key,
						    1), 0);
	rcu_read_lock();
	rext_lease_rx_invalidate(&p->rds, key);
	rcu_read_unlock();
}

/* The peer that a key went to may release the MR, and no other. */
static void released_by_whom(struct kunit *test)
{
	struct peer *other = make_peer(test, 3);
	struct peer *p = make_peer(test, 2);
	struct rext_mr *m = get(test, 0);
	u64 refused = rext_mrstats_read(REXT_MRSTAT_RELEASE_REFUSED);

	/* Nobody has the key yet. */
	KUNIT_EXPECT_FALSE(test, release(test, p, m->key));
	KUNIT_EXPECT_FALSE(test, advertise(test, p, m->key));
	KUNIT_EXPECT_EQ(test, m->state, STATE(ADVERTISED));
	KUNIT_EXPECT_FALSE(test, release(test, other, m->key));
	KUNIT_EXPECT_EQ(test, m->state, STATE(ADVERTISED));
	KUNIT_EXPECT_EQ(test, rext_mrstats_read(REXT_MRSTAT_RELEASE_REFUSED),
			refused + 2);
	KUNIT_EXPECT_TRUE(test, release(test, p, m->key));
	KUNIT_EXPECT_EQ(test, m->state, STATE(RELEASED));
	rext_mr_free(m);
	engine_settle(test);
}

/* A key that was mapped for a peer is that peer's from the beginning. */
static void for_dest(struct kunit *test)
{
	struct engine *e = test->priv;
	struct peer *other = make_peer(test, 3);
	struct peer *p = make_peer(test, 2);
	struct rext_mr *m = get(test, 0);

	rcu_read_lock();
	rext_mr_for_dest(e->rs, m->key, &p->rds.c_faddr);
	rcu_read_unlock();
	KUNIT_EXPECT_FALSE(test, release(test, other, m->key));
	KUNIT_EXPECT_TRUE(test, release(test, p, m->key));
	KUNIT_EXPECT_EQ(test, m->state, STATE(RELEASED));
	rext_mr_free(m);
	engine_settle(test);
}

/* What is not for one use is not released by its use. */
static void not_once(struct kunit *test)
{
	struct peer *p = make_peer(test, 2);
	struct rext_mr *m = engine_get(test, 0, 1, false);

	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(m));
	KUNIT_EXPECT_TRUE(test, release(test, p, m->key));
	KUNIT_EXPECT_EQ(test, m->state, STATE(MAPPED));
	rext_mr_free(m);
	engine_settle(test);
}

/* The message that invalidates a leased key ends the MR; nobody else has to. */
static void invalidated(struct kunit *test)
{
	struct peer *p = known_peer(test);
	struct rext_mr *m = get(test, 0);
	struct rext_mrdev *dev = engine_dev(test);

	KUNIT_EXPECT_TRUE(test, advertise(test, p, m->key));
	KUNIT_EXPECT_EQ(test, p->conn.leases.n_given, 1);
	invalidate(test, p, m);
	KUNIT_EXPECT_EQ(test, p->conn.leases.n_given, 0);
	KUNIT_EXPECT_EQ(test, m->state, STATE(REMOTELY_INVALIDATED));
	rext_mr_free(m);
	engine_settle(test);
	KUNIT_EXPECT_EQ(test, dev->count.remote_inv, 1);
	KUNIT_EXPECT_EQ(test, dev->count.local_inv, 0);
	KUNIT_EXPECT_EQ(test, dev->count.stale, 0);
	/* The slot is fit for use. */
	m = get(test, 0);
	rext_mr_free(m);
	engine_settle(test);
	KUNIT_EXPECT_EQ(test, dev->count.allocated, 1);
	KUNIT_EXPECT_EQ(test, dev->proxy.recoveries, 0);
}

/* Without leave, it costs the MR of the device, whose state nobody knows. */
static void invalidated_without_leave(struct kunit *test)
{
	struct peer *p = known_peer(test);
	struct rext_mr *m = get(test, 0);
	struct rext_mrdev *dev = engine_dev(test);
	u64 foreign = rext_mrstats_read(REXT_MRSTAT_INVALIDATE_FOREIGN);

	invalidate(test, p, m);
	KUNIT_EXPECT_EQ(test, rext_mrstats_read(REXT_MRSTAT_INVALIDATE_FOREIGN),
			foreign + 1);
	rext_mr_free(m);
	engine_settle(test);
	KUNIT_EXPECT_EQ(test, dev->count.stale, 1);
	KUNIT_EXPECT_EQ(test, dev->count.remote_inv, 0);
	KUNIT_EXPECT_EQ(test, dev->gauge.mrs, 0);
	KUNIT_EXPECT_EQ(test, dev->proxy.recoveries, 0);
}

/*
 * While a lease is out, the key is nobody else's, although the MR has ended; it
 * comes back with the message that used it, or when the connection goes down.
 */
static void quarantined(struct kunit *test)
{
	struct peer *p = known_peer(test);
	struct rext_mr *m = get(test, 0);
	struct rext_mrdev *dev = engine_dev(test);

	KUNIT_EXPECT_TRUE(test, advertise(test, p, m->key));
	rext_mr_free(m);
	rext_mrdev_flush();
	KUNIT_EXPECT_FALSE(test, engine_pinned(test, 0, 1));
	KUNIT_EXPECT_EQ(test, dev->gauge.quarantined, 1);
	KUNIT_EXPECT_EQ(test, dev->gauge.free, 0);
	rext_leases_end(&p->conn);
	engine_settle(test);
	KUNIT_EXPECT_EQ(test, dev->gauge.free, 1);

	m = get(test, 0);
	KUNIT_EXPECT_TRUE(test, advertise(test, p, m->key));
	KUNIT_EXPECT_TRUE(test, release(test, p, m->key));
	KUNIT_EXPECT_EQ(test, p->conn.leases.n_given, 0);
	rext_mr_free(m);
	engine_settle(test);
	KUNIT_EXPECT_EQ(test, dev->gauge.free, 1);
}

/* No lease to a peer without the feature, nor where two have the key. */
static void not_leased(struct kunit *test)
{
	struct peer *p = known_peer(test);
	struct peer *other = make_peer(test, 3);
	struct rext_mr *m = get(test, 0);

	outside.agreed = 0;
	KUNIT_EXPECT_FALSE(test, advertise(test, p, m->key));
	outside.agreed = RDS_EXT_FEATURE_REMOTE_INVALIDATE;
	outside.conn = &other->conn;
	KUNIT_EXPECT_FALSE(test, advertise(test, other, m->key));
	rext_mr_free(m);

	/* Nor on a connection of this host to itself. */
	m = get(test, 1);
	other->rds.c_faddr = other->rds.c_laddr;
	KUNIT_EXPECT_FALSE(test, advertise(test, other, m->key));
	rext_mr_free(m);
	engine_settle(test);
}

/* The last lease that a peer may have is given, and one more is not. */
static void leases_bounded(struct kunit *test)
{
	struct peer *p = known_peer(test);
	struct rext_mr *m = get(test, 0);

	p->conn.leases.n_given = REXT_LEASES_GIVEN;
	KUNIT_EXPECT_FALSE(test, advertise(test, p, m->key));
	rext_mr_free(m);
	m = get(test, 1);
	p->conn.leases.n_given = REXT_LEASES_GIVEN - 1;
	KUNIT_EXPECT_TRUE(test, advertise(test, p, m->key));
	KUNIT_EXPECT_EQ(test, p->conn.leases.n_given, REXT_LEASES_GIVEN);
	rext_leases_end(&p->conn);
	rext_mr_free(m);
	engine_settle(test);
}

static void take(struct kunit *test, struct peer *p, u32 key, bool leave)
{
	__be32 dest[] = { cpu_to_be32(key), 0 };
	u8 flags = leave ? EXTHDR_DEST_MAY_INVALIDATE : 0;

	memset(&p->hdr, 0, sizeof(p->hdr));
	KUNIT_EXPECT_EQ(test, exthdr_add(p->hdr.h_exthdr, EXTHDR_RDMA_DEST,
					 dest), EXTHDR_OK);
	KUNIT_EXPECT_EQ(test, exthdr_add(p->hdr.h_exthdr,
					 EXTHDR_RDMA_DEST_FLAGS, &flags),
			EXTHDR_OK);
	rcu_read_lock();
	rext_lease_rx(&p->rds, &p->hdr);
	rcu_read_unlock();
}

/* Sends the message behind an RDMA write to a key. */
static bool sent_with_invalidate(struct peer *p, struct rds_message *rm,
				 u32 key)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND };

	rm->rdma.op_active = 1;
	rm->rdma.op_write = 1;
	rm->rdma.op_rkey = key;
	rcu_read_lock();
	rext_lease_tx_last(&p->rds, rm, &wr);
	rcu_read_unlock();
	return wr.opcode == IB_WR_SEND_WITH_INV &&
	       wr.ex.invalidate_rkey == key;
}

/* A lease that was taken is good for one message, and can be taken back. */
static void taken(struct kunit *test)
{
	struct peer *p = known_peer(test);
	struct rds_message *rm = kunit_kzalloc(test, sizeof(*rm), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rm);
	KUNIT_EXPECT_FALSE(test, sent_with_invalidate(p, rm, 0x101));
	take(test, p, 0x101, true);
	take(test, p, 0x102, true);
	KUNIT_EXPECT_TRUE(test, rext_lease_taken(&p->conn, 0x101));
	KUNIT_EXPECT_TRUE(test, sent_with_invalidate(p, rm, 0x101));
	KUNIT_EXPECT_FALSE(test, sent_with_invalidate(p, rm, 0x101));
	/* The key has come up again, without leave. */
	take(test, p, 0x102, false);
	KUNIT_EXPECT_FALSE(test, sent_with_invalidate(p, rm, 0x102));
	/* None outlives the connection. */
	take(test, p, 0x103, true);
	rext_leases_end(&p->conn);
	KUNIT_EXPECT_FALSE(test, sent_with_invalidate(p, rm, 0x103));
}

/* A peer cannot make us keep more leases than there is a bound to. */
static void taken_bounded(struct kunit *test)
{
	struct peer *p = known_peer(test);
	u32 key;

	for (key = 1; key <= REXT_LEASES_TAKEN + 10; key++)
		take(test, p, key, true);
	KUNIT_EXPECT_EQ(test, p->conn.leases.n_taken, REXT_LEASES_TAKEN);
	KUNIT_EXPECT_FALSE(test, rext_lease_taken(&p->conn, 10));
	KUNIT_EXPECT_TRUE(test, rext_lease_taken(&p->conn, 11));
	KUNIT_EXPECT_TRUE(test, rext_lease_taken(&p->conn, key - 1));
	rext_leases_end(&p->conn);
	KUNIT_EXPECT_EQ(test, p->conn.leases.n_taken, 0);
}

/*
 * The message behind a read whose key it would invalidate, or that asked for a
 * fence, waits for the read; and for no other.
 */
static void fenced(struct kunit *test)
{
	struct peer *p = known_peer(test);
	struct rds_message *rm = kunit_kzalloc(test, sizeof(*rm), GFP_KERNEL);
	struct rds_message *other;
	struct ib_send_wr wr = { };

	other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rm);
	KUNIT_ASSERT_NOT_NULL(test, other);
	rm->rdma.op_rkey = 0x201;
	rm->rdma.op_mapped = 1;
	other->rdma = rm->rdma;
	rcu_read_lock();
	KUNIT_EXPECT_EQ(test, rext_fence_rdma_last(&p->rds, &rm->rdma, &wr), 1);
	KUNIT_EXPECT_TRUE(test, wr.send_flags & IB_SEND_SIGNALED);
	KUNIT_EXPECT_EQ(test, rext_fence_rdma_last(&p->rds, &rm->rdma, &wr), 0);
	KUNIT_EXPECT_FALSE(test, rext_fence_tx_wait(&p->rds, rm));
	rcu_read_unlock();
	take(test, p, 0x201, true);
	rcu_read_lock();
	KUNIT_EXPECT_TRUE(test, rext_fence_tx_wait(&p->rds, rm));
	KUNIT_EXPECT_FALSE(test, rext_fence_tx_wait(&p->rds, other));
	/* It has completed. */
	rm->rdma.op_mapped = 0;
	KUNIT_EXPECT_FALSE(test, rext_fence_tx_wait(&p->rds, rm));
	rcu_read_unlock();
	rext_leases_end(&p->conn);
	rm->rdma.op_mapped = 1;
	rcu_read_lock();
	KUNIT_EXPECT_FALSE(test, rext_fence_tx_wait(&p->rds, rm));
	rm->rdma.op_fence = 1;
	KUNIT_EXPECT_TRUE(test, rext_fence_tx_wait(&p->rds, rm));
	rcu_read_unlock();
}

static int begin(struct kunit *test)
{
	int ret = rext_counters_init();

	return ret ?: engine_init(test);
}

static void end(struct kunit *test)
{
	engine_exit(test);
	rext_counters_exit();
}

static struct kunit_case cases[] = {
	KUNIT_CASE(released_by_whom),
	KUNIT_CASE(for_dest),
	KUNIT_CASE(not_once),
	KUNIT_CASE(invalidated),
	KUNIT_CASE(invalidated_without_leave),
	KUNIT_CASE(quarantined),
	KUNIT_CASE(not_leased),
	KUNIT_CASE(leases_bounded),
	KUNIT_CASE(taken),
	KUNIT_CASE(taken_bounded),
	KUNIT_CASE(fenced),
	{ }
};

struct kunit_suite rext_lease_suite = {
	.name = "rds_ext_lease",
	.init = begin,
	.exit = end,
	.test_cases = cases,
};
