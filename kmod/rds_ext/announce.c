// SPDX-License-Identifier: GPL-2.0
#include "rds.h"

#include "announce.h"
#include "conn.h"
#include "counters.h"
#include "exthdr.h"
#include "netlink_conn.h"
#include "rds_ext_uapi.h"
#include "settings.h"

/* Reserved among the feature bits, so no feature may ever have its value. */
static_assert(!(REXT_FEATURES & EXTHDR_REPLY_WANTED));
static_assert(EXTHDR_SPACE == RDS_HEADER_EXT_SPACE);
/* What netlink shows are the bits of the wire. */
static_assert(RDS_EXT_FEATURE_EXT_TYPES == EXTHDR_FEAT_EXT_TYPES);
static_assert(RDS_EXT_FEATURE_REMOTE_INVALIDATE ==
	      EXTHDR_FEAT_REMOTE_INVALIDATE);

/**
 * rext_announce_reset() - begin an incarnation: nothing is known
 * @a: the announcements, locked or not published yet
 *
 * Context: any.
 */
void rext_announce_reset(struct rext_announce *a)
{
	memset(a, 0, sizeof(*a));
	/*
	 * Messages and mere acknowledgments are posted by two senders that do
	 * not wait for each other: whichever is first has to carry it, and none
	 * knows.
	 */
	a->due = true;
	a->due_ack = true;
	a->expect = true;
	a->peer_kind = RDS_EXT_PEER_KIND_UNKNOWN;
}

/**
 * rext_announce_midway() - take up an incarnation that is under way
 * @a: the announcements, not published yet
 *
 * The peer's first message may have gone by unseen, so its version has to be
 * asked for, and a message without it says nothing until the peer has seen the
 * question.
 *
 * Context: any.
 */
void rext_announce_midway(struct rext_announce *a)
{
	rext_announce_reset(a);
	a->ask = true;
	a->either = true;
	a->expect = false;
}

/**
 * rext_announce_agreed() - features in use on this incarnation
 * @a: the announcements, locked
 *
 * Context: any.
 * Return: bits of RDS_EXT_FEATURE_* that both sides have announced.
 */
u16 rext_announce_agreed(const struct rext_announce *a)
{
	if (!a->announced || !a->learnt)
		return 0;
	return a->features & a->peer_features;
}

static u64 sequence(const struct rds_header *hdr)
{
	return be64_to_cpu(hdr->h_sequence);
}

/* Returns true where the header has changed. */
static bool announce(struct rext_announce *a, struct rds_header *hdr,
		     bool *due)
{
	u8 payload[EXTHDR_VERSION_LEN];
	u16 features;

	/*
	 * Settings hold from the first message on: what was announced is
	 * repeated, what was not stays so, even if they change meanwhile.
	 */
	if (!a->announced && !rext_settings_version_header()) {
		*due = false;
		return false;
	}

	features = a->announced ? a->features : rext_settings_feature_mask();
	exthdr_version_pack(payload, RDS_EXT_PROTOCOL_VERSION,
			    features | (a->ask ? EXTHDR_REPLY_WANTED : 0));
	if (!rext_counters_add(hdr->h_exthdr, EXTHDR_VERSION, payload))
		return false;	/* no room: the next message has to do it */

	*due = false;
	if (a->either) {
		a->due = false;
		a->due_ack = false;
	}
	a->announced = true;
	a->features = features;
	if (a->ask) {
		a->ask = false;
		a->await_seq = true;
	}
	return true;
}

/**
 * rext_announce_tx() - a message or an acknowledgment is about to leave over IB
 * @rds: its connection
 * @hdr: the header that goes on the wire
 * @ack: an acknowledgment without a message
 *
 * Context: process or softirq.
 * Return: true where the header has changed.
 */
bool rext_announce_tx(struct rds_connection *rds, struct rds_header *hdr,
		      bool ack)
{
	struct rext_conn *c = rext_conn_find(rds);
	struct rext_announce *a;
	unsigned long flags;
	bool changed = false;
	bool *due;

	if (!c)
		return false;
	a = &c->announce;
	due = ack ? &a->due_ack : &a->due;
	if (!READ_ONCE(*due) && !READ_ONCE(a->await_seq))
		return false;

	spin_lock_irqsave(&c->lock, flags);
	if (*due)
		changed = announce(a, hdr, due);
	/* Congestion maps and acknowledgments have no number of their own. */
	if (a->await_seq && hdr->h_sequence) {
		a->await_seq = false;
		a->ask_seq = sequence(hdr);
		a->asked = true;
	}
	spin_unlock_irqrestore(&c->lock, flags);
	return changed;
}

/* Returns true where this is news. */
static bool learn(struct rext_announce *a, const u8 *payload)
{
	u16 version, features;
	bool news;

	exthdr_version_unpack(payload, &version, &features);
	if (features & EXTHDR_REPLY_WANTED) {
		features &= ~EXTHDR_REPLY_WANTED;
		if (a->announced) {
			a->due = true;
			a->due_ack = true;
			a->either = true;
		}
	}

	news = !a->learnt || a->peer_version != version ||
	       a->peer_features != features;
	a->learnt = true;
	a->expect = false;
	a->asked = false;
	a->peer_version = version;
	a->peer_features = features;
	a->peer_kind = RDS_EXT_PEER_KIND_RDS_EXT;
	return news;
}

/* A header without version header, which had room for one. */
static void miss(struct rext_announce *a, const struct rds_header *hdr)
{
	bool answered = a->asked && be64_to_cpu(hdr->h_ack) >= a->ask_seq;

	if (!a->expect && !answered)
		return;
	a->expect = false;
	a->asked = false;
	if (!a->learnt)
		a->peer_kind = RDS_EXT_PEER_KIND_STOCK;
}

/**
 * rext_announce_rx() - a message or an acknowledgment has come in over IB
 * @rds: its connection
 * @hdr: its header, of a message that of the first fragment
 *
 * Context: softirq, one caller at a time for each connection.
 */
void rext_announce_rx(struct rds_connection *rds, const struct rds_header *hdr)
{
	const u8 *payload = exthdr_find(hdr->h_exthdr, EXTHDR_VERSION);
	struct rext_conn *c = rext_conn_obtain(rds);
	struct rext_announce *a;
	unsigned long flags;
	bool news = false;

	if (!c)
		return;
	a = &c->announce;
	if (!payload && !READ_ONCE(a->expect) && !READ_ONCE(a->asked))
		return;

	spin_lock_irqsave(&c->lock, flags);
	if (payload)
		news = learn(a, payload);
	else if (exthdr_fits(hdr->h_exthdr, EXTHDR_VERSION))
		miss(a, hdr);
	spin_unlock_irqrestore(&c->lock, flags);

	if (news)
		rext_netlink_conn_event(c, RDS_EXT_CMD_VERSION_LEARNT);
}
