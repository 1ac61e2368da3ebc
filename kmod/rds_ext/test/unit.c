// SPDX-License-Identifier: GPL-2.0
/* One test a rule of docs/protocol.md, on bytes written out by hand. */
#include <linux/kernel.h>
#include <string.h>

#include "check.h"
#include "exthdr.h"
#include "stock.h"

static const u8 ver[] = { 0x00, 0x01, 0x03, 0x01 };
static const u8 ver2[] = { 0x80, 0x01, 0x03, 0x01 };
static const u8 rkey[] = { 0xa1, 0xa2, 0xa3, 0xa4 };
static const u8 dest[] = { 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8 };
static const u8 bytes[] = { 0x00, 0x10, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00 };
static const u8 npaths[] = { 0x00, 0x08 };
static const u8 one[] = { 0x00 };
static const u8 inval[] = { EXTHDR_DEST_MAY_INVALIDATE };

/* What the next call of the cursor must give. */
static void expect_next(const u8 *space, unsigned int *pos,
			enum exthdr_result res, unsigned int type,
			unsigned int off, unsigned int len)
{
	const u8 *payload = NULL;
	unsigned int t = 0, l = 0;

	CHECK_EQ(exthdr_next(space, pos, &t, &payload, &l), res);
	if (res != EXTHDR_END)
		CHECK_EQ(t, type);
	CHECK_EQ(l, len);
	if (res == EXTHDR_OK || res == EXTHDR_DUPLICATE)
		CHECK(payload == space + off);
	else
		CHECK(!payload);
}

static void stock_types(void)
{
	static const struct {
		unsigned int type, number, len;
		const char *name;
	} want[] = {
		{ EXTHDR_VERSION, 1, 4, "VERSION" },
		{ EXTHDR_RDMA, 2, 4, "RDMA" },
		{ EXTHDR_RDMA_DEST, 3, 8, "RDMA_DEST" },
		{ EXTHDR_RDMA_BYTES, 4, 8, "RDMA_BYTES" },
		{ EXTHDR_NPATHS, 5, 2, "NPATHS" },
		{ EXTHDR_GEN_NUM, 6, 4, "GEN_NUM" },
		{ EXTHDR_SPORT_IDX, 8, 1, "SPORT_IDX" },
	};
	const struct exthdr_desc *desc;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(want); i++) {
		desc = exthdr_lookup(want[i].number);
		CHECK_EQ(want[i].type, want[i].number);
		CHECK(desc);
		if (!desc)
			continue;
		CHECK_EQ(desc->len, want[i].len);
		CHECK_EQ(desc->features, 0);
		CHECK(!strcmp(desc->name, want[i].name));
		CHECK(stock_knows(STOCK_7_3, want[i].number));
	}
}

static void own_types(void)
{
	static const struct {
		unsigned int type, number, len, features;
		const char *name;
	} want[] = {
		{ EXTHDR_RDMA_DEST_FLAGS, 9, 1, 0x0002, "RDMA_DEST_FLAGS" },
	};
	const struct exthdr_desc *desc;
	enum stock_kernel kernel;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(want); i++) {
		desc = exthdr_lookup(want[i].number);
		CHECK_EQ(want[i].type, want[i].number);
		CHECK(desc);
		if (!desc)
			continue;
		CHECK_EQ(desc->len, want[i].len);
		CHECK_EQ(desc->features, want[i].features);
		CHECK(!strcmp(desc->name, want[i].name));
		for (kernel = 0; kernel < STOCK_KERNELS; kernel++)
			CHECK(!stock_knows(kernel, want[i].number));
	}
	CHECK_EQ(EXTHDR_FEAT_EXT_TYPES, 0x0001);
	CHECK_EQ(EXTHDR_FEAT_REMOTE_INVALIDATE, 0x0002);
	CHECK_EQ(EXTHDR_DEST_MAY_INVALIDATE, 0x01);
}

static void unknown_types(void)
{
	CHECK(!exthdr_lookup(0));
	CHECK(!exthdr_lookup(7));
	CHECK(!exthdr_lookup(255));
	CHECK(!exthdr_lookup(256));
	CHECK(!exthdr_lookup(257));
	CHECK(!exthdr_lookup(~0u));
}

static void table_is_sound(void)
{
	const struct exthdr_desc *desc, *other;
	unsigned int type, t, known = 0;

	for (type = 0; type < 256; type++) {
		desc = exthdr_lookup(type);
		if (!desc)
			continue;
		known++;
		CHECK(type != EXTHDR_NONE);
		CHECK(desc->name && *desc->name);
		CHECK(desc->len < EXTHDR_SPACE);
		/* Ours need negotiation; that one bit is not a feature. */
		CHECK_EQ(desc->features != 0, type >= EXTHDR_FIRST_OWN);
		CHECK(!(desc->features & EXTHDR_REPLY_WANTED));
		for (t = 0; t < type; t++) {
			other = exthdr_lookup(t);
			CHECK(!other || strcmp(other->name, desc->name));
		}
	}
	CHECK(known >= 8);
#ifdef EXTRA_TYPES
	/* The variant with types added: see the Makefile. */
	CHECK_EQ(known, 8 + 4);
#endif
}

static void empty_space(void)
{
	u8 space[EXTHDR_SPACE] = { 0 };
	unsigned int pos = 0;

	expect_next(space, &pos, EXTHDR_END, 0, 0, 0);
	expect_next(space, &pos, EXTHDR_END, 0, 0, 0);
	CHECK_EQ(exthdr_room(space), 16);
	CHECK(!exthdr_find(space, EXTHDR_VERSION));
	CHECK(!exthdr_find(space, EXTHDR_NONE));
}

static void add_several(void)
{
	static const u8 want[EXTHDR_SPACE] = {
		2, 0xa1, 0xa2, 0xa3, 0xa4, 1, 0x00, 0x01, 0x03, 0x01,
		5, 0x00, 0x08, 8, 0x00, 0,
	};
	u8 space[EXTHDR_SPACE] = { 0 };

	CHECK_EQ(exthdr_add(space, EXTHDR_RDMA, rkey), EXTHDR_OK);
	CHECK_EQ(exthdr_room(space), 11);
	CHECK_EQ(exthdr_add(space, EXTHDR_VERSION, ver), EXTHDR_OK);
	CHECK_EQ(exthdr_room(space), 6);
	CHECK_EQ(exthdr_add(space, EXTHDR_NPATHS, npaths), EXTHDR_OK);
	CHECK_EQ(exthdr_add(space, EXTHDR_SPORT_IDX, one), EXTHDR_OK);
	CHECK_EQ(exthdr_room(space), 1);
	CHECK_BYTES(space, want, EXTHDR_SPACE);
}

static void parse_in_any_order(void)
{
	static const u8 a[EXTHDR_SPACE] = { 1, 0, 1, 3, 1, 3, 1, 2, 3, 4, 5, 6, 7, 8 };
	static const u8 b[EXTHDR_SPACE] = { 3, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0, 1, 3, 1 };
	unsigned int pos;

	CHECK(exthdr_find(a, EXTHDR_VERSION) == a + 1);
	CHECK(exthdr_find(b, EXTHDR_VERSION) == b + 10);
	CHECK(exthdr_find(a, EXTHDR_RDMA_DEST) == a + 6);
	CHECK(exthdr_find(b, EXTHDR_RDMA_DEST) == b + 1);
	pos = 0;
	expect_next(a, &pos, EXTHDR_OK, EXTHDR_VERSION, 1, 4);
	expect_next(a, &pos, EXTHDR_OK, EXTHDR_RDMA_DEST, 6, 8);
	expect_next(a, &pos, EXTHDR_END, 0, 0, 0);
	pos = 0;
	expect_next(b, &pos, EXTHDR_OK, EXTHDR_RDMA_DEST, 1, 8);
	expect_next(b, &pos, EXTHDR_OK, EXTHDR_VERSION, 10, 4);
	expect_next(b, &pos, EXTHDR_END, 0, 0, 0);
}

static void same_type_again(void)
{
	u8 space[EXTHDR_SPACE] = { 0 }, before[EXTHDR_SPACE];

	CHECK_EQ(exthdr_add(space, EXTHDR_VERSION, ver), EXTHDR_OK);
	space[7] = 0x55;
	memcpy(before, space, sizeof(before));
	CHECK_EQ(exthdr_add(space, EXTHDR_VERSION, ver), EXTHDR_SAME);
	CHECK_BYTES(space, before, EXTHDR_SPACE);
	CHECK_EQ(exthdr_add(space, EXTHDR_VERSION, ver2), EXTHDR_DUPLICATE);
	CHECK_BYTES(space, before, EXTHDR_SPACE);
}

static void unknown_is_not_added(void)
{
	static const u8 want[EXTHDR_SPACE] = {
		1, 0x00, 0x01, 0x03, 0x01, 3, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5,
		0xb6, 0xb7, 0xb8,
	};
	u8 space[EXTHDR_SPACE] = { 0 };

	CHECK_EQ(exthdr_add(space, EXTHDR_VERSION, ver), EXTHDR_OK);
	CHECK_EQ(exthdr_add(space, EXTHDR_RDMA_DEST, dest), EXTHDR_OK);
	CHECK_EQ(exthdr_add(space, 7, ver2), EXTHDR_UNKNOWN);
	CHECK_EQ(exthdr_add(space, 0, ver2), EXTHDR_UNKNOWN);
	CHECK_BYTES(space, want, EXTHDR_SPACE);
}

static void no_room(void)
{
	u8 space[EXTHDR_SPACE] = { 0 }, before[EXTHDR_SPACE];

	/* What a 7.3 kernel puts behind an RDMA operation leaves 2 bytes. */
	CHECK_EQ(exthdr_add(space, EXTHDR_RDMA, rkey), EXTHDR_OK);
	CHECK_EQ(exthdr_add(space, EXTHDR_RDMA_BYTES, bytes), EXTHDR_OK);
	CHECK_EQ(exthdr_room(space), 2);
	memcpy(before, space, sizeof(before));
	CHECK(!exthdr_fits(space, EXTHDR_VERSION));
	CHECK_EQ(exthdr_add(space, EXTHDR_VERSION, ver), EXTHDR_NO_ROOM);
	CHECK_BYTES(space, before, EXTHDR_SPACE);
	CHECK(exthdr_fits(space, EXTHDR_SPORT_IDX));
	CHECK(!exthdr_fits(space, 7));
}

static void exactly_full(void)
{
	static const u8 full[EXTHDR_SPACE] = {
		2, 1, 1, 1, 1, 8, 9, 3, 2, 2, 2, 2, 2, 2, 2, 2,
	};
	u8 space[EXTHDR_SPACE] = { 2, 1, 1, 1, 1, 8, 9 };
	unsigned int pos = 0;

	/* No terminator behind the last byte, and none needed. */
	CHECK_EQ(exthdr_add(space, EXTHDR_RDMA_DEST, full + 8), EXTHDR_OK);
	CHECK_BYTES(space, full, EXTHDR_SPACE);
	CHECK_EQ(exthdr_room(space), 0);
	CHECK(!exthdr_fits(space, EXTHDR_SPORT_IDX));
	expect_next(space, &pos, EXTHDR_OK, EXTHDR_RDMA, 1, 4);
	expect_next(space, &pos, EXTHDR_OK, EXTHDR_SPORT_IDX, 6, 1);
	expect_next(space, &pos, EXTHDR_OK, EXTHDR_RDMA_DEST, 8, 8);
	expect_next(space, &pos, EXTHDR_END, 0, 0, 0);
}

/*
 * The fullest message that we send: a key on offer with its flags, and the
 * announcement on the connection's first message.
 */
static void offer_and_announcement(void)
{
	static const u8 want[EXTHDR_SPACE] = {
		3, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8,
		9, 0x01, 1, 0x00, 0x01, 0x03, 0x01,
	};
	u8 space[EXTHDR_SPACE] = { 0 };

	CHECK_EQ(exthdr_add(space, EXTHDR_RDMA_DEST, dest), EXTHDR_OK);
	CHECK_EQ(exthdr_add(space, EXTHDR_RDMA_DEST_FLAGS, inval), EXTHDR_OK);
	CHECK_EQ(exthdr_room(space), 5);
	CHECK_EQ(exthdr_add(space, EXTHDR_VERSION, ver), EXTHDR_OK);
	CHECK_EQ(exthdr_room(space), 0);
	CHECK_BYTES(space, want, EXTHDR_SPACE);
	CHECK(exthdr_find(space, EXTHDR_RDMA_DEST_FLAGS) == space + 10);

	/* The message is sent again: nothing changes, with the bit or without. */
	CHECK_EQ(exthdr_add(space, EXTHDR_RDMA_DEST_FLAGS, inval), EXTHDR_SAME);
	CHECK_EQ(exthdr_add(space, EXTHDR_RDMA_DEST_FLAGS, one),
		 EXTHDR_DUPLICATE);
	CHECK_BYTES(space, want, EXTHDR_SPACE);
}

static void one_byte_short(void)
{
	/* Full but for one byte: a type byte fits, a payload does not. */
	u8 space[EXTHDR_SPACE] = { 1, 0, 0, 3, 1, 2, 0, 0, 0, 1, 6, 0, 0, 0, 2 };
	u8 before[EXTHDR_SPACE];

	memcpy(before, space, sizeof(before));
	CHECK_EQ(exthdr_room(space), 1);
	CHECK_EQ(exthdr_add(space, EXTHDR_SPORT_IDX, one), EXTHDR_NO_ROOM);
	CHECK_BYTES(space, before, EXTHDR_SPACE);
}

static void stray_bytes_are_free(void)
{
	/* 6.1 clears only the first byte when it fills in a header. */
	static const u8 want[EXTHDR_SPACE] = { 1, 0x00, 0x01, 0x03, 0x01 };
	u8 space[EXTHDR_SPACE];
	unsigned int pos = 0;

	memset(space, 0xee, sizeof(space));
	space[0] = 0;
	CHECK_EQ(exthdr_room(space), 16);
	expect_next(space, &pos, EXTHDR_END, 0, 0, 0);
	CHECK_EQ(exthdr_add(space, EXTHDR_VERSION, ver), EXTHDR_OK);
	CHECK_BYTES(space, want, EXTHDR_SPACE);
}

static void unknown_ends_parse(void)
{
	static const unsigned int unknown[] = { 7, 99, 255 };
	unsigned int i, pos;

	for (i = 0; i < 3; i++) {
		u8 space[EXTHDR_SPACE] = { 2, 1, 2, 3, 4, 0, 1, 0, 1, 3, 1 };
		u8 before[EXTHDR_SPACE];

		space[5] = unknown[i];
		memcpy(before, space, sizeof(before));
		pos = 0;
		expect_next(space, &pos, EXTHDR_OK, EXTHDR_RDMA, 1, 4);
		expect_next(space, &pos, EXTHDR_UNKNOWN, unknown[i], 0, 0);
		expect_next(space, &pos, EXTHDR_END, 0, 0, 0);
		CHECK(!exthdr_find(space, EXTHDR_VERSION));
		CHECK(exthdr_find(space, EXTHDR_RDMA));
		CHECK(!exthdr_find(space, unknown[i]));
		CHECK_EQ(exthdr_room(space), 0);
		CHECK_EQ(exthdr_add(space, EXTHDR_VERSION, ver), EXTHDR_UNKNOWN);
		CHECK_EQ(exthdr_add(space, unknown[i], ver), EXTHDR_UNKNOWN);
		CHECK_BYTES(space, before, EXTHDR_SPACE);
	}
}

static void truncated(void)
{
	u8 space[EXTHDR_SPACE] = { 2, 1, 2, 3, 4, 5, 0, 8, 3, 1, 2, 3, 4, 5, 6, 7 };
	u8 before[EXTHDR_SPACE];
	unsigned int pos = 0;

	memcpy(before, space, sizeof(before));
	expect_next(space, &pos, EXTHDR_OK, EXTHDR_RDMA, 1, 4);
	expect_next(space, &pos, EXTHDR_OK, EXTHDR_NPATHS, 6, 2);
	expect_next(space, &pos, EXTHDR_TRUNCATED, EXTHDR_RDMA_DEST, 0, 0);
	expect_next(space, &pos, EXTHDR_END, 0, 0, 0);
	CHECK(!exthdr_find(space, EXTHDR_RDMA_DEST));
	CHECK_EQ(exthdr_room(space), 0);
	CHECK_EQ(exthdr_add(space, EXTHDR_VERSION, ver), EXTHDR_TRUNCATED);
	CHECK_EQ(exthdr_add(space, EXTHDR_RDMA_DEST, dest), EXTHDR_TRUNCATED);
	CHECK_EQ(exthdr_add(space, EXTHDR_RDMA, space + 1), EXTHDR_SAME);
	CHECK_BYTES(space, before, EXTHDR_SPACE);

	/* A type in the very last byte has no payload at all. */
	memset(space, 0, sizeof(space));
	memcpy(space, before, 8);
	space[8] = 1;
	space[13] = 5;
	space[14] = 0;
	pos = 0;
	expect_next(space, &pos, EXTHDR_OK, EXTHDR_RDMA, 1, 4);
	expect_next(space, &pos, EXTHDR_OK, EXTHDR_NPATHS, 6, 2);
	expect_next(space, &pos, EXTHDR_OK, EXTHDR_VERSION, 9, 4);
	expect_next(space, &pos, EXTHDR_DUPLICATE, EXTHDR_NPATHS, 14, 2);
	expect_next(space, &pos, EXTHDR_END, 0, 0, 0);
	space[13] = 8;
	space[15] = 2;
	pos = 13;
	expect_next(space, &pos, EXTHDR_OK, EXTHDR_SPORT_IDX, 14, 1);
	expect_next(space, &pos, EXTHDR_TRUNCATED, EXTHDR_RDMA, 0, 0);
}

static void first_of_duplicates_counts(void)
{
	u8 space[EXTHDR_SPACE] = { 2, 1, 1, 1, 1, 5, 0, 8, 2, 9, 9, 9, 9 };
	unsigned int pos = 0;

	expect_next(space, &pos, EXTHDR_OK, EXTHDR_RDMA, 1, 4);
	expect_next(space, &pos, EXTHDR_OK, EXTHDR_NPATHS, 6, 2);
	expect_next(space, &pos, EXTHDR_DUPLICATE, EXTHDR_RDMA, 9, 4);
	expect_next(space, &pos, EXTHDR_END, 0, 0, 0);
	CHECK(exthdr_find(space, EXTHDR_RDMA) == space + 1);
}

static void cursor_from_anywhere(void)
{
	static const u8 space[EXTHDR_SPACE] = { 2, 5, 5, 5, 5, 5, 0, 8, 7, 1 };
	unsigned int at, pos;

	for (at = 1; at <= 5; at++) {
		pos = at;
		expect_next(space, &pos, EXTHDR_OK, EXTHDR_NPATHS, 6, 2);
		CHECK_EQ(pos, 8);
	}
	for (at = 6; at <= 8; at++) {
		pos = at;
		expect_next(space, &pos, EXTHDR_UNKNOWN, 7, 0, 0);
		CHECK_EQ(pos, EXTHDR_SPACE);
	}
	for (at = 9; at <= 20; at++) {
		pos = at;
		expect_next(space, &pos, EXTHDR_END, 0, 0, 0);
		CHECK_EQ(pos, EXTHDR_SPACE);
	}
	pos = ~0u;
	expect_next(space, &pos, EXTHDR_END, 0, 0, 0);
	pos = ~0u - 15;
	expect_next(space, &pos, EXTHDR_END, 0, 0, 0);
}

static void version_payload(void)
{
	u16 version = 0, features = 0;
	u8 payload[EXTHDR_VERSION_LEN];

	exthdr_version_pack(payload, 0x0301,
			    EXTHDR_FEAT_EXT_TYPES | EXTHDR_REPLY_WANTED);
	CHECK_BYTES(payload, ver2, sizeof(payload));
	exthdr_version_unpack(ver2, &version, &features);
	CHECK_EQ(version, 0x0301);
	CHECK_EQ(features, 0x8001);

	/* Every bit, also those without a meaning, comes through. */
	exthdr_version_pack(payload, 0xffee, 0xddcc);
	exthdr_version_unpack(payload, &version, &features);
	CHECK_EQ(version, 0xffee);
	CHECK_EQ(features, 0xddcc);
	CHECK_EQ(exthdr_lookup(EXTHDR_VERSION)->len, EXTHDR_VERSION_LEN);
}

static void stock_skips_version(void)
{
	struct stock_ext seen[EXTHDR_SPACE];
	u8 space[EXTHDR_SPACE] = { 0 };
	enum stock_kernel kernel;

	CHECK_EQ(exthdr_add(space, EXTHDR_RDMA_DEST, dest), EXTHDR_OK);
	CHECK_EQ(exthdr_add(space, EXTHDR_VERSION, ver), EXTHDR_OK);
	for (kernel = 0; kernel < STOCK_KERNELS; kernel++) {
		CHECK_EQ(stock_parse(kernel, space, seen), 2);
		CHECK_EQ(seen[0].type, EXTHDR_RDMA_DEST);
		CHECK_BYTES(seen[0].payload, dest, 8);
		CHECK_EQ(seen[1].type, EXTHDR_VERSION);
		CHECK_BYTES(seen[1].payload, ver, 4);
	}
}

/*
 * Leave to invalidate, sent to a stock peer: its one byte would make what
 * follows the payload of a version header, and hide a key.
 */
static void stock_misreads_flags(void)
{
	static const u8 space[EXTHDR_SPACE] = {
		9, EXTHDR_DEST_MAY_INVALIDATE, 2, 0xde, 0xad, 0xbe, 0xef,
	};
	struct stock_ext seen[EXTHDR_SPACE];
	enum stock_kernel kernel;
	unsigned int i, n;

	for (kernel = 0; kernel < STOCK_KERNELS; kernel++) {
		n = stock_parse(kernel, space, seen);
		CHECK(n >= 2);
		CHECK_EQ(seen[1].type, EXTHDR_VERSION);
		for (i = 0; i < n; i++)
			CHECK(seen[i].type != EXTHDR_RDMA);
	}
}

/*
 * A peer may go on sending flags for a while after rds_ext.ko was unloaded
 * here. In the order that we send it must do no harm.
 */
static void stock_survives_flags(void)
{
	/* With VERSION behind, in front, and without it. */
	static const unsigned int types[3][2] = {
		{ EXTHDR_RDMA_DEST_FLAGS, EXTHDR_VERSION },
		{ EXTHDR_VERSION, EXTHDR_RDMA_DEST_FLAGS },
		{ EXTHDR_RDMA_DEST_FLAGS, EXTHDR_NONE },
	};
	struct stock_ext seen[EXTHDR_SPACE];
	enum stock_kernel kernel;
	unsigned int way, i, n;

	for (way = 0; way < ARRAY_SIZE(types); way++) {
		u8 space[EXTHDR_SPACE] = { 0 };

		CHECK_EQ(exthdr_add(space, EXTHDR_RDMA_DEST, dest), EXTHDR_OK);
		for (i = 0; i < 2 && types[way][i] != EXTHDR_NONE; i++)
			CHECK_EQ(exthdr_add(space, types[way][i],
					    types[way][i] == EXTHDR_VERSION ?
					    ver : inval), EXTHDR_OK);
		for (kernel = 0; kernel < STOCK_KERNELS; kernel++) {
			n = stock_parse(kernel, space, seen);
			CHECK(n >= 3);
			CHECK_EQ(seen[0].type, EXTHDR_RDMA_DEST);
			CHECK_BYTES(seen[0].payload, dest, 8);
			for (i = 1; i < n; i++)
				CHECK(seen[i].type == EXTHDR_VERSION ||
				      seen[i].type == EXTHDR_RDMA_DEST_FLAGS);
		}
	}
}

/* Why an own type may not go to a stock peer: its payload becomes types. */
static void stock_misreads_unknown(void)
{
	static const u8 space[EXTHDR_SPACE] = { 9, 2, 0xde, 0xad, 0xbe, 0xef };
	struct stock_ext seen[EXTHDR_SPACE];

	CHECK_EQ(stock_parse(STOCK_6_1, space, seen), 2);
	CHECK_EQ(seen[0].type, 9);
	CHECK_EQ(seen[0].len, 0);
	CHECK_EQ(seen[1].type, EXTHDR_RDMA);
	CHECK_BYTES(seen[1].payload, space + 2, 4);
}

const struct test unit_tests[] = {
	{ "types and lengths of stock kernels", stock_types },
	{ "types, lengths and bits of this project", own_types },
	{ "unknown types are unknown", unknown_types },
	{ "table is sound", table_is_sound },
	{ "empty space", empty_space },
	{ "several headers in one message", add_several },
	{ "order does not matter", parse_in_any_order },
	{ "same type again", same_type_again },
	{ "unknown type is not added", unknown_is_not_added },
	{ "no room", no_room },
	{ "exactly full, without terminator", exactly_full },
	{ "offer, its flags and announcement in one", offer_and_announcement },
	{ "one byte short", one_byte_short },
	{ "stray bytes behind the terminator are free", stray_bytes_are_free },
	{ "unknown type ends the parse", unknown_ends_parse },
	{ "truncated payload ends the parse", truncated },
	{ "first of duplicates counts", first_of_duplicates_counts },
	{ "cursor from any position", cursor_from_anywhere },
	{ "payload of the version header", version_payload },
	{ "stock kernels see what was added", stock_skips_version },
	{ "stock kernels misread unknown types", stock_misreads_unknown },
	{ "stock kernels misread the flags of a key", stock_misreads_flags },
	{ "flags behind their key do no harm", stock_survives_flags },
	{ 0 },
};
