/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The calls that the semantic patches in this folder plant in net/rds.
 *
 * Each is a jump over nothing (a static key) until rds_ext.ko registers its
 * operations. Those that may not sleep run under rcu_read_lock(); those that
 * may hold a reference to the module or the semaphore that is taken to
 * unregister. rds_hooks_unregister() waits for all of them. So once it has
 * returned, no operation runs any more, and the module that they belong to may
 * go; while it is loaded, its use of the symbols below keeps rds.ko in place.
 *
 * Memory regions
 *
 * What the transport's get_mr() returns is opaque to the core. One that the
 * engine in rds_ext.ko has made is told from the transport's own by its lowest
 * bit, so that each goes back to where it came from, also when the engine is
 * switched on or off meanwhile. It holds a reference to rds_ext.ko until it is
 * freed: a module with MRs in the hands of applications is in use.
 */
#ifndef RDS_HOOKS_H
#define RDS_HOOKS_H

#include <linux/jump_label.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

#include "rds.h"

struct in6_addr;
struct module;
struct rdma_cm_event;
struct rds_ib_device;

/**
 * enum rds_hooks_error - what makes net/rds give an IB connection up
 * @RDS_HOOKS_SEND_ERROR: a send queue completion, with its status
 * @RDS_HOOKS_RECEIVE_ERROR: a receive queue completion, with its status
 * @RDS_HOOKS_BAD_MESSAGE: a message that does not parse
 */
enum rds_hooks_error {
	RDS_HOOKS_SEND_ERROR,
	RDS_HOOKS_RECEIVE_ERROR,
	RDS_HOOKS_BAD_MESSAGE,
};

/**
 * struct rds_hooks_ib - functions of rds_rdma.ko that the engine calls back
 * @get_device: find the device by the last four bytes of a local address that
 *	a connection has used; takes a reference. Any context.
 * @get_client_data: find what RDS has made of an RDMA device; takes a
 *	reference. Any context.
 * @dev_put: drop such a reference. Any context.
 */
struct rds_hooks_ib {
	struct rds_ib_device *(*get_device)(__be32 addr);
	struct rds_ib_device *(*get_client_data)(struct ib_device *device);
	void (*dev_put)(struct rds_ib_device *rds_ibdev);
};

/**
 * struct rds_hooks_region - what is to be registered
 * @sg: pinned pages; the engine's where it returns an MR, else still the
 *	caller's
 * @nents: their number
 * @rs: the socket
 * @key: set to the R_Key
 * @length: in bytes, as the application gave it
 */
struct rds_hooks_region {
	struct scatterlist *sg;
	unsigned int nents;
	struct rds_sock *rs;
	u32 *key;
	u64 length;
};

/**
 * struct rds_hooks_ops - what rds_ext.ko does at the planted calls
 * @owner: the module, kept by each MR of the engine
 * @conn_created: a connection has been added. Process or softirq context, irqs
 *	off, under the lock of the connection hash.
 * @conn_destroyed: a connection is about to be freed; nothing else uses it any
 *	more. Process context.
 * @path_up: a path has entered the state UP. Process or softirq context.
 * @path_down: the transport of a path has shut down. No header passes until
 *	the path connects anew. Process context.
 * @conn_error: an IB connection is about to be given up. Softirq context.
 * @cm_event: the connection manager has news of an IB connection that is not
 *	being shut down. Process context, under the CM lock of the connection.
 * @tx_header: the header of the first fragment of a message is about to leave
 *	over IB. Returns true where it has changed the header, whose checksum is
 *	then made anew. Process or softirq context.
 * @tx_ack: the header of an acknowledgment without a message is about to leave
 *	over IB. Runs beside @tx_header. Process or softirq context.
 * @rx_header: such a header has come in over IB, its checksum is right.
 *	Softirq context, one caller at a time for each connection.
 * @rx_incoming: a whole message has come in over any transport. Any context
 *	but hard irq.
 * @ext_add: add an extension header. Returns 1 where the message carries it
 *	then, 0 where not, a negative value to leave it to net/rds. Any context.
 * @ext_next: get the extension header at the byte *pos and move *pos behind
 *	it. Returns its type, with up to *buflen bytes of payload in buf and
 *	their number in *buflen; 0 behind the last one. Any context.
 * @rdma_last: the last work request of an RDMA operation is about to be posted.
 *	Returns 1 where it has turned it into one that is signalled, else 0.
 *	Process or softirq context, one caller at a time for each connection.
 * @tx_wait: a message is about to be posted whose RDMA read has not completed.
 *	Returns whether it has to wait for that. As @rdma_last.
 * @tx_last: the last fragment of a message with an RDMA operation is about to
 *	be posted. May turn the send into one with invalidate. Process or
 *	softirq context.
 * @rx_invalidate: a message has come in whose sender had a key invalidated.
 *	Softirq context, before the message is looked at.
 * @mr_get: register a region. Returns an MR of the engine, an error, or NULL to
 *	leave it to the transport. Process context, may sleep.
 * @mr_free: the last reference to an MR of the engine is gone. Any context.
 * @mr_freed: an application frees an MR of the engine, which a message may hold
 *	for longer. Process context, irqs off.
 * @mr_sync: hand the memory of an MR of the engine to the CPU or the device.
 *	Any context.
 * @mr_mapped: an MR of the engine has got its flags and is about to be found
 *	by its key. @conn is that of the sendmsg() that maps it, or NULL.
 *	Process context.
 * @mr_for_dest: it was mapped for one peer. Process context.
 * @mr_unsent: the sendmsg() that mapped it has failed. Process context.
 * @mr_release: a peer tells that it has used a key of this socket. Returns
 *	false where it has no business to. Softirq or process context.
 * @mr_orphaned: the socket of an MR of the engine is being closed. Process
 *	context, irqs off.
 * @mr_flush: wait until what was freed is invalidated and unpinned. Process
 *	context, may sleep.
 * @ibdev_removed: RDS gives up an RDMA device. Nobody finds it any more; the
 *	engine has to let go of it. Process context, may sleep.
 */
struct rds_hooks_ops {
	struct module *owner;
	void (*conn_created)(struct rds_connection *conn);
	void (*conn_destroyed)(struct rds_connection *conn);
	void (*path_up)(struct rds_conn_path *cp);
	void (*path_down)(struct rds_conn_path *cp);
	void (*conn_error)(struct rds_connection *conn,
			   enum rds_hooks_error error, unsigned int status);
	void (*cm_event)(struct rds_connection *conn,
			 const struct rdma_cm_event *event);
	bool (*tx_header)(struct rds_connection *conn, struct rds_header *hdr);
	void (*tx_ack)(struct rds_connection *conn, struct rds_header *hdr);
	void (*rx_header)(struct rds_connection *conn,
			  const struct rds_header *hdr);
	void (*rx_incoming)(struct rds_connection *conn,
			    const struct rds_header *hdr);
	int (*ext_add)(struct rds_header *hdr, unsigned int type,
		       const void *data);
	int (*ext_next)(const struct rds_header *hdr, unsigned int *pos,
			void *buf, unsigned int *buflen);
	int (*rdma_last)(struct rds_connection *conn,
			 const struct rm_rdma_op *op, struct ib_send_wr *wr);
	bool (*tx_wait)(struct rds_connection *conn,
			const struct rds_message *rm);
	void (*tx_last)(struct rds_connection *conn,
			const struct rds_message *rm, struct ib_send_wr *wr);
	void (*rx_invalidate)(struct rds_connection *conn, u32 key);
	void *(*mr_get)(const struct rds_hooks_ib *ib,
			const struct rds_hooks_region *region);
	void (*mr_free)(void *mr);
	void (*mr_freed)(void *mr);
	void (*mr_sync)(void *mr, int direction);
	void (*mr_mapped)(void *mr, const struct rds_mr *rds,
			  struct rds_connection *conn);
	void (*mr_for_dest)(struct rds_sock *rs, u32 key,
			    const struct in6_addr *peer);
	void (*mr_unsent)(struct rds_sock *rs, u32 key);
	bool (*mr_release)(struct rds_connection *conn, struct rds_sock *rs,
			   u32 key);
	void (*mr_orphaned)(void *mr);
	void (*mr_flush)(void);
	void (*ibdev_removed)(struct rds_ib_device *rds_ibdev);
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
void rds_hooks_call_conn_error(struct rds_connection *conn,
			       enum rds_hooks_error error, unsigned int status);
void rds_hooks_call_cm_event(struct rds_connection *conn,
			     const struct rdma_cm_event *event);
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

int rds_hooks_call_rdma_last(struct rds_connection *conn,
			     const struct rm_rdma_op *op,
			     struct ib_send_wr *wr);
bool rds_hooks_call_tx_wait(struct rds_connection *conn,
			    const struct rds_message *rm);
void rds_hooks_call_tx_last(struct rds_connection *conn,
			    const struct rds_message *rm,
			    struct ib_send_wr *wr);
void rds_hooks_call_rx_invalidate(struct rds_connection *conn, u32 key);
void *rds_hooks_call_mr_get(const struct rds_hooks_ib *ib,
			    const struct rds_hooks_region *region);
void rds_hooks_call_mr_free(void *trans_private);
void rds_hooks_call_mr_freed(const struct rds_mr *mr);
void rds_hooks_call_mr_sync(void *trans_private, int direction);
void rds_hooks_call_mr_mapped(const struct rds_mr *mr,
			      struct rds_connection *conn);
void rds_hooks_call_mr_for_dest(struct rds_sock *rs, u32 key,
				const struct sockaddr_storage *dest);
void rds_hooks_call_mr_unsent(struct rds_sock *rs, u32 key);
bool rds_hooks_call_mr_release(struct rds_connection *conn,
			       struct rds_sock *rs, u32 key);
void rds_hooks_call_mr_orphaned(const struct rds_mr *mr);
void rds_hooks_call_mr_flush(void);
void rds_hooks_call_ibdev_removed(struct rds_ib_device *rds_ibdev);

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

static inline void rds_hooks_conn_error(struct rds_connection *conn,
					enum rds_hooks_error error,
					unsigned int status)
{
	if (static_branch_unlikely(&rds_hooks_key))
		rds_hooks_call_conn_error(conn, error, status);
}

static inline void rds_hooks_cm_event(struct rds_connection *conn,
				      const struct rdma_cm_event *event)
{
	if (static_branch_unlikely(&rds_hooks_key))
		rds_hooks_call_cm_event(conn, event);
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

/* Writes need no fence. With on-demand paging nobody sees a read complete. */
static inline int rds_hooks_rdma_last(struct rds_connection *conn,
				      const struct rm_rdma_op *op,
				      struct ib_send_wr *wr)
{
	if (static_branch_unlikely(&rds_hooks_key) && !op->op_write &&
	    !op->op_odp_mr)
		return rds_hooks_call_rdma_last(conn, op, wr);
	return 0;
}

/* What an operation reads into is mapped for the device until it completes. */
static inline bool rds_hooks_tx_wait(struct rds_connection *conn,
				     const struct rds_message *rm)
{
	if (static_branch_unlikely(&rds_hooks_key) && rm->rdma.op_active &&
	    !rm->rdma.op_write && rm->rdma.op_mapped)
		return rds_hooks_call_tx_wait(conn, rm);
	return false;
}

/* Returns true where the fence of the queue pair has nothing to wait for. */
static inline bool rds_hooks_tx_fenced(const struct rds_message *rm)
{
	if (static_branch_unlikely(&rds_hooks_key))
		return rm->rdma.op_write ||
		       (!rm->rdma.op_mapped && !rm->rdma.op_odp_mr);
	return false;
}

/* Only messages with an RDMA operation can name a key of the peer. */
static inline void rds_hooks_tx_last(struct rds_connection *conn,
				     const struct rds_message *rm,
				     struct ib_send_wr *wr)
{
	if (static_branch_unlikely(&rds_hooks_key) && rm->rdma.op_active)
		rds_hooks_call_tx_last(conn, rm, wr);
}

static inline enum ib_wr_opcode rds_hooks_send_opcode(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_SEND_WITH_INV ? IB_WR_SEND : opcode;
}

static inline void rds_hooks_rx_invalidate(struct rds_connection *conn,
					   const struct ib_wc *wc)
{
	if (static_branch_unlikely(&rds_hooks_key) &&
	    wc->status == IB_WC_SUCCESS &&
	    (wc->wc_flags & IB_WC_WITH_INVALIDATE))
		rds_hooks_call_rx_invalidate(conn, wc->ex.invalidate_rkey);
}

/* Memory regions. Of the engine's are pointers with the lowest bit set. */

static inline bool rds_hooks_mr_ours(const void *trans_private)
{
	return (unsigned long)trans_private & 1;
}

/* Returns NULL where the transport is to do it. */
static inline void *rds_hooks_mr_get(const struct rds_hooks_ib *ib,
				     struct scatterlist *sg,
				     unsigned int nents, struct rds_sock *rs,
				     u32 *key, u64 length)
{
	const struct rds_hooks_region region = {
		.sg = sg, .nents = nents, .rs = rs, .key = key,
		.length = length,
	};

	if (static_branch_unlikely(&rds_hooks_key) && sg)
		return rds_hooks_call_mr_get(ib, &region);
	return NULL;
}

/* The next two return false where the transport is to do it. */
static inline bool rds_hooks_mr_free(void *trans_private)
{
	if (static_branch_unlikely(&rds_hooks_key) &&
	    rds_hooks_mr_ours(trans_private)) {
		rds_hooks_call_mr_free(trans_private);
		return true;
	}
	return false;
}

static inline bool rds_hooks_mr_sync(void *trans_private, int direction)
{
	if (static_branch_unlikely(&rds_hooks_key) &&
	    rds_hooks_mr_ours(trans_private)) {
		rds_hooks_call_mr_sync(trans_private, direction);
		return true;
	}
	return false;
}

static inline void rds_hooks_mr_mapped(const struct rds_mr *mr,
				       const struct rds_conn_path *cp)
{
	if (static_branch_unlikely(&rds_hooks_key) &&
	    rds_hooks_mr_ours(mr->r_trans_private))
		rds_hooks_call_mr_mapped(mr, cp ? cp->cp_conn : NULL);
}

static inline void
rds_hooks_mr_for_dest(struct rds_sock *rs, rds_rdma_cookie_t cookie,
		      const struct sockaddr_storage *dest)
{
	if (static_branch_unlikely(&rds_hooks_key))
		rds_hooks_call_mr_for_dest(rs, rds_rdma_cookie_key(cookie),
					   dest);
}

static inline void rds_hooks_mr_unsent(struct rds_sock *rs,
				       rds_rdma_cookie_t cookie)
{
	if (static_branch_unlikely(&rds_hooks_key))
		rds_hooks_call_mr_unsent(rs, rds_rdma_cookie_key(cookie));
}

/* Returns whether the MR may be released. */
static inline bool rds_hooks_mr_release(struct rds_connection *conn,
					struct rds_sock *rs, u32 key)
{
	if (static_branch_unlikely(&rds_hooks_key))
		return rds_hooks_call_mr_release(conn, rs, key);
	return true;
}

static inline void rds_hooks_mr_freed(const struct rds_mr *mr)
{
	if (static_branch_unlikely(&rds_hooks_key) &&
	    rds_hooks_mr_ours(mr->r_trans_private))
		rds_hooks_call_mr_freed(mr);
}

static inline void rds_hooks_mr_orphaned(const struct rds_mr *mr)
{
	if (static_branch_unlikely(&rds_hooks_key) &&
	    rds_hooks_mr_ours(mr->r_trans_private))
		rds_hooks_call_mr_orphaned(mr);
}

static inline void rds_hooks_mr_flush(void)
{
	if (static_branch_unlikely(&rds_hooks_key))
		rds_hooks_call_mr_flush();
}

static inline void rds_hooks_ibdev_removed(struct rds_ib_device *rds_ibdev)
{
	if (static_branch_unlikely(&rds_hooks_key))
		rds_hooks_call_ibdev_removed(rds_ibdev);
}

#endif /* RDS_HOOKS_H */
