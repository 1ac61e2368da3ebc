/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Extension headers: the 16 bytes at the end of each RDS header.
 *
 * Pure functions on those bytes. They allocate nothing, take no lock, write
 * nothing but the space they are given, and so may be called in any context,
 * hard interrupts included. Whoever calls them makes sure that nobody else
 * writes the space meanwhile. docs/protocol.md describes the wire format.
 */
#ifndef RDS_EXT_EXTHDR_H
#define RDS_EXT_EXTHDR_H

#include <linux/types.h>

/* Bytes of extension space in a header. */
#define EXTHDR_SPACE		16

/* First type number of this project; lower ones belong to stock kernels. */
#define EXTHDR_FIRST_OWN	9

/* Length of the payload of EXTHDR_VERSION. */
#define EXTHDR_VERSION_LEN	4

/* Feature bits of EXTHDR_VERSION. */
#define EXTHDR_FEAT_EXT_TYPES		0x0001
#define EXTHDR_FEAT_REMOTE_INVALIDATE	0x0002

/*
 * Travels among the feature bits and is none: asks the peer to announce once
 * more, for a side that could not do so when the connection came up.
 */
#define EXTHDR_REPLY_WANTED	0x8000

/* Length of the payload of EXTHDR_RDMA_DEST_FLAGS. */
#define EXTHDR_RDMA_DEST_FLAGS_LEN	1

/*
 * The bit of EXTHDR_RDMA_DEST_FLAGS: whoever does an RDMA to the key of this
 * message may invalidate it with the message that follows. The other bits are
 * sent as 0 and not looked at.
 */
#define EXTHDR_DEST_MAY_INVALIDATE	0x01

/**
 * enum exthdr_type - type numbers on the wire
 * @EXTHDR_NONE: not a type: ends the list
 * @EXTHDR_VERSION: protocol version and features of the sender
 * @EXTHDR_RDMA: key that an RDMA operation of the sender has used
 * @EXTHDR_RDMA_DEST: key and offset that the receiver may use
 * @EXTHDR_RDMA_BYTES: length and direction of that RDMA operation
 * @EXTHDR_NPATHS: number of paths, over TCP
 * @EXTHDR_GEN_NUM: random number that the sender's RDS drew when it was loaded,
 *	over TCP
 * @EXTHDR_SPORT_IDX: the source port tells the path, over TCP
 * @EXTHDR_RDMA_DEST_FLAGS: what the receiver may do with the key of RDMA_DEST
 *	in the same message, EXTHDR_DEST_*
 *
 * Number 7 is missing: another vendor's tree uses it, with a length that no
 * mainline kernel knows.
 */
enum exthdr_type {
	EXTHDR_NONE		= 0,
	EXTHDR_VERSION		= 1,
	EXTHDR_RDMA		= 2,
	EXTHDR_RDMA_DEST	= 3,
	EXTHDR_RDMA_BYTES	= 4,
	EXTHDR_NPATHS		= 5,
	EXTHDR_GEN_NUM		= 6,
	EXTHDR_SPORT_IDX	= 8,
	EXTHDR_RDMA_DEST_FLAGS	= 9,
};

/**
 * struct exthdr_desc - what is known about a type
 * @name: name of the type, e.g. "RDMA_DEST"
 * @len: length of the payload in bytes; the type byte comes on top
 * @features: bits of EXTHDR_FEAT_* that both sides must have announced on this
 *	incarnation of the connection before the type may be sent, 0 if it is a
 *	type of stock kernels
 */
struct exthdr_desc {
	const char *name;
	u8 len;
	u16 features;
};

/**
 * enum exthdr_result - what came of an operation on the extension space
 * @EXTHDR_OK: done; or the cursor stands on a header to be used
 * @EXTHDR_END: no further header
 * @EXTHDR_SAME: the header stood there with this payload already
 * @EXTHDR_DUPLICATE: a header of the type stands there with another payload;
 *	from the cursor: an earlier header has this type, ignore this one
 * @EXTHDR_NO_ROOM: too few free bytes
 * @EXTHDR_UNKNOWN: a type of unknown length; whatever follows it is hidden
 * @EXTHDR_TRUNCATED: a payload runs past the end of the space
 */
enum exthdr_result {
	EXTHDR_OK,
	EXTHDR_END,
	EXTHDR_SAME,
	EXTHDR_DUPLICATE,
	EXTHDR_NO_ROOM,
	EXTHDR_UNKNOWN,
	EXTHDR_TRUNCATED,
};

const struct exthdr_desc *exthdr_lookup(unsigned int type);

enum exthdr_result exthdr_next(const u8 *space, unsigned int *pos,
			       unsigned int *type, const u8 **payload,
			       unsigned int *len);
const u8 *exthdr_find(const u8 *space, unsigned int type);
unsigned int exthdr_room(const u8 *space);
bool exthdr_fits(const u8 *space, unsigned int type);

enum exthdr_result exthdr_add(u8 *space, unsigned int type,
			      const void *payload);

void exthdr_version_pack(u8 *payload, u16 version, u16 features);
void exthdr_version_unpack(const u8 *payload, u16 *version, u16 *features);

#endif /* RDS_EXT_EXTHDR_H */
