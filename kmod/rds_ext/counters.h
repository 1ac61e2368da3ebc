/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts what becomes of each extension header, for each type and direction,
 * and puts the codec behind net/rds's own two functions for them.
 */
#ifndef RDS_EXT_COUNTERS_H
#define RDS_EXT_COUNTERS_H

#include <linux/types.h>

struct rds_header;

/* Types are one byte on the wire. */
#define REXT_TYPES	256

/**
 * enum rext_counter - what can become of an extension header
 * @REXT_TX: put into a message
 * @REXT_RX: received and understood
 * @REXT_TX_NO_ROOM: left out, the space was full
 * @REXT_TX_DUPLICATE: left out, the message has one with another payload
 * @REXT_TX_REJECTED: left out, the type is unknown or the space does not parse
 * @REXT_RX_UNKNOWN: received, of a type without known length
 * @REXT_RX_TRUNCATED: received, payload runs past the end of the space
 * @REXT_RX_DUPLICATE: received for the second time in a message
 * @REXT_COUNTERS: their number
 */
enum rext_counter {
	REXT_TX,
	REXT_RX,
	REXT_TX_NO_ROOM,
	REXT_TX_DUPLICATE,
	REXT_TX_REJECTED,
	REXT_RX_UNKNOWN,
	REXT_RX_TRUNCATED,
	REXT_RX_DUPLICATE,
	REXT_COUNTERS,
};

int rext_counters_init(void);
void rext_counters_exit(void);
bool rext_counters_read(unsigned int type, u64 sum[REXT_COUNTERS]);

bool rext_counters_add(u8 *space, unsigned int type, const void *payload);
void rext_counters_rx(const struct rds_header *hdr);

int rext_ext_add(struct rds_header *hdr, unsigned int type, const void *data);
int rext_ext_next(const struct rds_header *hdr, unsigned int *pos, void *buf,
		  unsigned int *buflen);

#endif /* RDS_EXT_COUNTERS_H */
