/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The calls that the semantic patches in this folder plant in net/rds.
 *
 * Each is a jump over nothing (a static key) until rds_ext.ko registers its
 * operations. None may sleep: they run under rcu_read_lock(), which is also
 * what rds_hooks_unregister() waits for. So once it has returned, no operation
 * runs any more, and the module that they belong to may go; while it is
 * loaded, its use of the symbols below keeps rds.ko in place.
 */
#ifndef RDS_HOOKS_H
#define RDS_HOOKS_H

#include <linux/jump_label.h>
#include <linux/types.h>

struct rds_connection;
struct rds_conn_path;
struct rds_header;

/**
 * struct rds_hooks_ops - what rds_ext.ko does at the planted calls
 * @conn_created: a connection has been added. Process or softirq context, irqs
 *	off, under the lock of the connection hash.
 * @conn_destroyed: a connection is about to be freed; nothing else uses it any
 *	more. Process context.
 * @path_up: a path has entered the state UP. Process or softirq context.
 * @path_down: the transport of a path has shut down. No header passes until
 *	the path connects anew. Process context.
 * @tx_header: the header of the first fragment of a message, or that of an
 *	acknowledgment without one, is about to leave over IB. Returns true
 *	where it has changed the header, whose checksum is then made anew.
 *	Process or softirq context.
 * @rx_header: such a header has come in over IB, its checksum is right.
 *	Softirq context, one caller at a time for each connection.
 * @rx_incoming: a whole message has come in over any transport. Any context
 *	but hard irq.
 * @ext_add: add an extension header. Returns 1 where the message carries it
 *	then, 0 where not, a negative value to leave it to net/rds. Any context.
 * @ext_next: get the extension header at the byte *pos and move *pos behind
 *	it. Returns its type, with up to *buflen bytes of payload in buf and
 *	their number in *buflen; 0 behind the last one. Any context.
 */
struct rds_hooks_ops {
	void (*conn_created)(struct rds_connection *conn);
	void (*conn_destroyed)(struct rds_connection *conn);
	void (*path_up)(struct rds_conn_path *cp);
	void (*path_down)(struct rds_conn_path *cp);
	bool (*tx_header)(struct rds_connection *conn, struct rds_header *hdr);
	void (*rx_header)(struct rds_connection *conn,
			  const struct rds_header *hdr);
	void (*rx_incoming)(struct rds_connection *conn,
			    const struct rds_header *hdr);
	int (*ext_add)(struct rds_header *hdr, unsigned int type,
		       const void *data);
	int (*ext_next)(const struct rds_header *hdr, unsigned int *pos,
			void *buf, unsigned int *buflen);
};

int rds_hooks_register(const struct rds_hooks_ops *ops);
void rds_hooks_unregister(const struct rds_hooks_ops *ops);

typedef void (*rds_hooks_visit)(struct rds_connection *conn);

void rds_hooks_walk_conns(rds_hooks_visit visit);

DECLARE_STATIC_KEY_FALSE(rds_hooks_key);

void rds_hooks_call_conn_created(struct rds_connection *conn);
void rds_hooks_call_conn_destroyed(struct rds_connection *conn);
void rds_hooks_call_path_up(struct rds_conn_path *cp);
void rds_hooks_call_path_down(struct rds_conn_path *cp);
void rds_hooks_call_tx_header(struct rds_connection *conn,
			      struct rds_header *hdr);
void rds_hooks_call_tx_ack(struct rds_connection *conn,
			   struct rds_header *hdr);
void rds_hooks_call_rx_header(struct rds_connection *conn,
			      const struct rds_header *hdr);
void rds_hooks_call_rx_incoming(struct rds_connection *conn,
				const struct rds_header *hdr);
int rds_hooks_call_ext_add(struct rds_header *hdr, unsigned int type,
			   const void *data);
int rds_hooks_call_ext_next(const struct rds_header *hdr, unsigned int *pos,
			    void *buf, unsigned int *buflen);

static inline void rds_hooks_conn_created(struct rds_connection *conn)
{
	if (static_branch_unlikely(&rds_hooks_key))
		rds_hooks_call_conn_created(conn);
}

static inline void rds_hooks_conn_destroyed(struct rds_connection *conn)
{
	if (static_branch_unlikely(&rds_hooks_key))
		rds_hooks_call_conn_destroyed(conn);
}

static inline void rds_hooks_path_up(struct rds_conn_path *cp)
{
	if (static_branch_unlikely(&rds_hooks_key))
		rds_hooks_call_path_up(cp);
}

static inline void rds_hooks_path_down(struct rds_conn_path *cp)
{
	if (static_branch_unlikely(&rds_hooks_key))
		rds_hooks_call_path_down(cp);
}

static inline void rds_hooks_tx_header(struct rds_connection *conn,
				       struct rds_header *hdr)
{
	if (static_branch_unlikely(&rds_hooks_key))
		rds_hooks_call_tx_header(conn, hdr);
}

static inline void rds_hooks_tx_ack(struct rds_connection *conn,
				    struct rds_header *hdr)
{
	if (static_branch_unlikely(&rds_hooks_key))
		rds_hooks_call_tx_ack(conn, hdr);
}

static inline void rds_hooks_rx_header(struct rds_connection *conn,
				       const struct rds_header *hdr)
{
	if (static_branch_unlikely(&rds_hooks_key))
		rds_hooks_call_rx_header(conn, hdr);
}

static inline void rds_hooks_rx_incoming(struct rds_connection *conn,
					 const struct rds_header *hdr)
{
	if (static_branch_unlikely(&rds_hooks_key))
		rds_hooks_call_rx_incoming(conn, hdr);
}

/* The last two return a negative value where net/rds is to do it. */
static inline int rds_hooks_ext_add(struct rds_header *hdr, unsigned int type,
				    const void *data)
{
	if (static_branch_unlikely(&rds_hooks_key))
		return rds_hooks_call_ext_add(hdr, type, data);
	return -1;
}

static inline int rds_hooks_ext_next(const struct rds_header *hdr,
				     unsigned int *pos, void *buf,
				     unsigned int *buflen)
{
	if (static_branch_unlikely(&rds_hooks_key))
		return rds_hooks_call_ext_next(hdr, pos, buf, buflen);
	return -1;
}

#endif /* RDS_HOOKS_H */
