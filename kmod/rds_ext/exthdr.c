// SPDX-License-Identifier: GPL-2.0
/*
 * Codec of the extension headers. User-space tests compile this file as well,
 * with four headers of their own in place of the kernel's: it can use no more.
 */
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#include "exthdr.h"

#define TYPE(_name, _len, _features)			\
	[EXTHDR_##_name] = {				\
		.name = #_name,				\
		.len = (_len),				\
		.features = (_features),		\
	}

/*
 * All that the module knows of a type. To add one, give it a number in enum
 * exthdr_type, a line here and a line in docs/protocol.md: parser, counters and
 * tests go by this table. Types of this project must name the feature bits that
 * have to be negotiated, since a stock receiver takes an unknown type for an
 * empty one and reads its payload as further types.
 */
static const struct exthdr_desc exthdr_table[] = {
	TYPE(VERSION,	EXTHDR_VERSION_LEN, 0),
	TYPE(RDMA,	4, 0),
	TYPE(RDMA_DEST,	8, 0),
	TYPE(RDMA_BYTES, 8, 0),
	TYPE(NPATHS,	2, 0),
	TYPE(GEN_NUM,	4, 0),
	TYPE(SPORT_IDX,	1, 0),
	TYPE(RDMA_DEST_FLAGS, EXTHDR_RDMA_DEST_FLAGS_LEN,
	     EXTHDR_FEAT_REMOTE_INVALIDATE),
};

/* A type number is one byte on the wire. */
static_assert(ARRAY_SIZE(exthdr_table) <= 256);

/**
 * exthdr_lookup() - what is known about a type
 * @type: type number, any value
 *
 * Context: any.
 * Return: the description, or NULL for a type that this module does not know.
 */
const struct exthdr_desc *exthdr_lookup(unsigned int type)
{
	if (type >= ARRAY_SIZE(exthdr_table) || !exthdr_table[type].name)
		return NULL;
	return &exthdr_table[type];
}

/*
 * Judge what begins at @off. With EXTHDR_OK the header lies within the space
 * and @size is its length, type byte included.
 */
static enum exthdr_result exthdr_at(const u8 *space, unsigned int off,
				    unsigned int *size)
{
	const struct exthdr_desc *desc;

	if (off >= EXTHDR_SPACE || space[off] == EXTHDR_NONE)
		return EXTHDR_END;
	desc = exthdr_lookup(space[off]);
	if (!desc)
		return EXTHDR_UNKNOWN;
	*size = 1 + desc->len;
	if (*size > EXTHDR_SPACE - off)
		return EXTHDR_TRUNCATED;
	return EXTHDR_OK;
}

/*
 * Walk to the first header of @type, EXTHDR_OK, or to where the walk ends, with
 * the reason for that. @off is where it stopped. EXTHDR_NONE matches nothing.
 */
static enum exthdr_result exthdr_seek(const u8 *space, unsigned int type,
				      unsigned int *off)
{
	enum exthdr_result res;
	unsigned int size;

	*off = 0;
	while ((res = exthdr_at(space, *off, &size)) == EXTHDR_OK) {
		if (space[*off] == type)
			break;
		*off += size;
	}
	return res;
}

/**
 * exthdr_next() - step through the headers in the order they have in the space
 * @space: the EXTHDR_SPACE bytes
 * @pos: cursor; start with 0, then pass on what came back. Every value is safe:
 *	one inside a header means the header behind it
 * @type: type number, set except with EXTHDR_END
 * @payload: the payload within @space, set with EXTHDR_OK and EXTHDR_DUPLICATE,
 *	NULL otherwise. Not aligned
 * @len: length of the payload, 0 where there is none
 *
 * Of several headers of one type the first counts. The others are reported, so
 * that they can be counted, and are to be ignored otherwise.
 *
 * Context: any.
 * Return: EXTHDR_OK or EXTHDR_DUPLICATE, after which the caller goes on; or
 * EXTHDR_UNKNOWN, EXTHDR_TRUNCATED or EXTHDR_END, after which every further
 * call with the same cursor gives EXTHDR_END.
 */
enum exthdr_result exthdr_next(const u8 *space, unsigned int *pos,
			       unsigned int *type, const u8 **payload,
			       unsigned int *len)
{
	unsigned int off = 0, first, size;
	enum exthdr_result res;

	*payload = NULL;
	*len = 0;

	/* Only a walk from the start knows where headers begin. */
	while ((res = exthdr_at(space, off, &size)) == EXTHDR_OK && off < *pos)
		off += size;

	if (res != EXTHDR_OK) {
		/* What ended the walk was reported when the cursor met it. */
		if (off < *pos)
			res = EXTHDR_END;
		if (res != EXTHDR_END)
			*type = space[off];
		*pos = EXTHDR_SPACE;
		return res;
	}

	*type = space[off];
	*payload = space + off + 1;
	*len = size - 1;
	*pos = off + size;

	exthdr_seek(space, *type, &first);
	return first == off ? EXTHDR_OK : EXTHDR_DUPLICATE;
}

/**
 * exthdr_find() - look a header up, wherever it stands
 * @space: the EXTHDR_SPACE bytes
 * @type: type number
 *
 * Context: any.
 * Return: the payload of the first header of this type, not aligned; NULL if
 * there is none, or if it stands behind an unknown type.
 */
const u8 *exthdr_find(const u8 *space, unsigned int type)
{
	unsigned int off;

	if (exthdr_seek(space, type, &off) != EXTHDR_OK)
		return NULL;
	return space + off + 1;
}

/**
 * exthdr_room() - count the free bytes
 * @space: the EXTHDR_SPACE bytes
 *
 * Bytes behind the terminator are free, whatever they hold. A space that does
 * not parse has no room, since its end is not known.
 *
 * Context: any.
 * Return: bytes that headers may still take, type bytes included: a header with
 * a payload of n bytes fits if there are n + 1.
 */
unsigned int exthdr_room(const u8 *space)
{
	unsigned int off;

	if (exthdr_seek(space, EXTHDR_NONE, &off) != EXTHDR_END)
		return 0;
	return EXTHDR_SPACE - off;
}

/**
 * exthdr_fits() - tell whether there is room for one more header of a type
 * @space: the EXTHDR_SPACE bytes
 * @type: type number
 *
 * Context: any.
 * Return: true if there is. Whether the type stands there already does not
 * matter.
 */
bool exthdr_fits(const u8 *space, unsigned int type)
{
	const struct exthdr_desc *desc = exthdr_lookup(type);

	return desc && exthdr_room(space) > desc->len;
}

/**
 * exthdr_add() - add a header behind those that are there
 * @space: the EXTHDR_SPACE bytes
 * @type: type number
 * @payload: payload, as long as exthdr_lookup() says; must not lie in @space
 *
 * The bytes behind the new header become 0: the first of them ends the list for
 * stock receivers, and the others must not leak what was there before.
 *
 * Context: any.
 * Return: EXTHDR_OK if it was added. In all other cases nothing changes:
 * EXTHDR_SAME (a message being sent again), EXTHDR_DUPLICATE, EXTHDR_NO_ROOM;
 * EXTHDR_UNKNOWN for an unknown @type, or where the space holds one;
 * EXTHDR_TRUNCATED where the space does not parse.
 */
enum exthdr_result exthdr_add(u8 *space, unsigned int type,
			      const void *payload)
{
	const struct exthdr_desc *desc = exthdr_lookup(type);
	enum exthdr_result res;
	unsigned int off;

	if (!desc)
		return EXTHDR_UNKNOWN;

	res = exthdr_seek(space, type, &off);
	if (res == EXTHDR_OK) {
		if (memcmp(space + off + 1, payload, desc->len))
			return EXTHDR_DUPLICATE;
		return EXTHDR_SAME;
	}
	if (res != EXTHDR_END)
		return res;
	if (EXTHDR_SPACE - off <= desc->len)
		return EXTHDR_NO_ROOM;

	space[off++] = type;
	memcpy(space + off, payload, desc->len);
	off += desc->len;
	memset(space + off, 0, EXTHDR_SPACE - off);
	return EXTHDR_OK;
}

/**
 * exthdr_version_pack() - write the payload of a version header
 * @payload: EXTHDR_VERSION_LEN bytes to write
 * @version: protocol version, 0xMMmm
 * @features: EXTHDR_FEAT_* and EXTHDR_REPLY_WANTED
 *
 * Context: any.
 */
void exthdr_version_pack(u8 *payload, u16 version, u16 features)
{
	payload[0] = features >> 8;
	payload[1] = features & 0xff;
	payload[2] = version >> 8;
	payload[3] = version & 0xff;
}

/**
 * exthdr_version_unpack() - read the payload of a version header
 * @payload: EXTHDR_VERSION_LEN bytes to read
 * @version: protocol version, 0xMMmm
 * @features: EXTHDR_FEAT_* and EXTHDR_REPLY_WANTED, bits unknown here included
 *
 * Context: any.
 */
void exthdr_version_unpack(const u8 *payload, u16 *version, u16 *features)
{
	*features = payload[0] << 8 | payload[1];
	*version = payload[2] << 8 | payload[3];
}
