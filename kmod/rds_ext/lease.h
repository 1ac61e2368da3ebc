/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Remote invalidation: which peer may invalidate which key. docs/protocol.md
 * has the rules.
 *
 * A lease is given when a message with the key of an MR leaves, and holds until
 * the peer's message has used it, or told that it has used the key without it,
 * or until the connection goes down: no message of the old incarnation arrives
 * after that. Meanwhile it keeps the MR, and with that the key, from being used
 * for anything else, whatever has become of the MR: so a message that comes
 * late finds an invalid key of its own, which harms nobody.
 *
 * A lease that was taken is a key of the peer, good for one message.
 *
 * Both belong to a struct rext_conn, under its lock; what a lease changes in an
 * MR is changed with the lock of its device held inside that.
 */
#ifndef RDS_EXT_LEASE_H
#define RDS_EXT_LEASE_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/xarray.h>

struct ib_send_wr;
struct rds_connection;
struct rds_header;
struct rds_message;
struct rext_conn;
struct rext_mr;

/* Leases that are kept of a peer; one more makes another one forgotten. */
#define REXT_LEASES_TAKEN	4096

/* Leases that are out on a connection, above which no more are given. */
#define REXT_LEASES_GIVEN	1024

/**
 * struct rext_leases - the leases on an incarnation of a connection
 * @given: to the peer, struct rext_mr
 * @n_given: their number
 * @taken: from the peer, by key
 * @n_taken: their number; looked at without the lock first
 */
struct rext_leases {
	struct list_head given;
	unsigned int n_given;
	struct xarray taken;
	unsigned int n_taken;
};

void rext_leases_init(struct rext_leases *leases);
void rext_leases_end(struct rext_conn *c);

bool rext_lease_tx(struct rds_connection *rds, struct rds_header *hdr);
void rext_lease_rx(struct rds_connection *rds, const struct rds_header *hdr);
void rext_lease_tx_last(struct rds_connection *rds,
			const struct rds_message *rm, struct ib_send_wr *wr);
void rext_lease_rx_invalidate(struct rds_connection *rds, u32 key);
bool rext_lease_taken(struct rext_conn *c, u32 key);
void rext_lease_used(struct rds_connection *rds, struct rext_mr *m);

#endif /* RDS_EXT_LEASE_H */
