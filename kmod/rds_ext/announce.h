/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the two sides of a connection tell each other about themselves, by the
 * version extension header. docs/protocol.md has the rules.
 */
#ifndef RDS_EXT_ANNOUNCE_H
#define RDS_EXT_ANNOUNCE_H

#include <linux/types.h>

struct rds_connection;
struct rds_header;

/* Features that this module knows. */
#define REXT_FEATURES	(RDS_EXT_FEATURE_EXT_TYPES | \
			 RDS_EXT_FEATURE_REMOTE_INVALIDATE)

/**
 * struct rext_announce - both announcements on this incarnation of a connection
 * @due: the next message with room has to carry our version header
 * @due_ack: the next acknowledgment without a message has to
 * @either: one of both will do
 * @ask: that header asks the peer to announce (once more)
 * @await_seq: we have asked, and the next message with a sequence number sets
 *	@ask_seq
 * @announced: our version header has left
 * @expect: nothing of the peer with room for a version header has come yet
 * @asked: @ask_seq is set
 * @learnt: the peer's version header has come
 * @features: what we announced, where @announced
 * @peer_version: what the peer announced, where @learnt
 * @peer_features: what the peer announced, where @learnt
 * @peer_kind: RDS_EXT_PEER_KIND_*
 * @ask_seq: a peer that acknowledges this number has seen that we asked
 *
 * Part of struct rext_conn, under its lock. The send and receive paths look at
 * @due, @await_seq, @expect and @asked without the lock first, since nearly
 * every message finds them all unset.
 */
struct rext_announce {
	bool due;
	bool due_ack;
	bool either;
	bool ask;
	bool await_seq;
	bool announced;
	bool expect;
	bool asked;
	bool learnt;
	u16 features;
	u16 peer_version;
	u16 peer_features;
	u8 peer_kind;
	u64 ask_seq;
};

void rext_announce_reset(struct rext_announce *a);
void rext_announce_midway(struct rext_announce *a);
u16 rext_announce_agreed(const struct rext_announce *a);

bool rext_announce_tx(struct rds_connection *rds, struct rds_header *hdr,
		      bool ack);
void rext_announce_rx(struct rds_connection *rds,
		      const struct rds_header *hdr);

#endif /* RDS_EXT_ANNOUNCE_H */
