// SPDX-License-Identifier: GPL-2.0
/* Exhaustive and random tests against the reference. */
#include <stdio.h>
#include <linux/kernel.h>
#include <string.h>

#include "check.h"
#include "exthdr.h"
#include "invariants.h"

#define RANDOM_SCRIPTS	20000
#define RANDOM_SPACES	50000
#define MAX_SCRIPT	160

/* xorshift64*: good enough, and the same everywhere. */
static unsigned long long rnd_state;

static void rnd_start(void)
{
	rnd_state = test_seed ? test_seed : 1;
}

static unsigned int rnd(unsigned int below)
{
	rnd_state ^= rnd_state >> 12;
	rnd_state ^= rnd_state << 25;
	rnd_state ^= rnd_state >> 27;
	return ((rnd_state * 2685821657736338717ull) >> 33) % below;
}

static void fail_space(const char *err, const u8 *space)
{
	char hex[3 * EXTHDR_SPACE + 1];
	unsigned int i;

	for (i = 0; i < EXTHDR_SPACE; i++)
		sprintf(hex + 3 * i, "%02x ", space[i]);
	check_failed(__FILE__, __LINE__, "violated: %s, by %s", err, hex);
}

static void parse_space(const u8 *space)
{
	const char *err = invariant_parse(space);

	if (err)
		fail_space(err, space);
}

static void op_space(u8 *space, enum op op, unsigned int type,
		     const u8 *payload)
{
	const char *err = invariant_op(space, op, type, payload);

	if (err)
		fail_space(err, space);
}

/* All values of the first two bytes, and of any one byte at any place. */
static void all_short_spaces(void)
{
	u8 space[EXTHDR_SPACE];
	unsigned int v, at;

	for (v = 0; v < 65536 && !check_has_failed(); v++) {
		/* Of the pairs of two unknown types a sample does. */
		if (!exthdr_lookup(v >> 8) && !exthdr_lookup(v & 0xff) &&
		    v % 61)
			continue;
		memset(space, 0, sizeof(space));
		space[0] = v >> 8;
		space[1] = v & 0xff;
		parse_space(space);
	}
	for (at = 0; at < EXTHDR_SPACE; at++)
		for (v = 0; v < 256; v++) {
			memset(space, EXTHDR_SPORT_IDX, sizeof(space));
			space[at] = v;
			parse_space(space);
		}
}

/* All positions of the cursor, on a space of each kind. */
static void all_positions(void)
{
	static const u8 spaces[][EXTHDR_SPACE] = {
		{ 0 },
		{ 1, 0, 1, 3, 1 },
		{ 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 },
		{ 2, 1, 1, 1, 1, 8, 9, 3, 2, 2, 2, 2, 2, 2, 2, 2 },
		{ 2, 1, 1, 1, 1, 7, 9, 3, 2, 2, 2, 2, 2, 2, 2, 2 },
		{ 2, 1, 1, 1, 1, 5, 0, 8, 3, 1, 2, 3, 4, 5, 6, 7 },
	};
	unsigned int i, pos;
	const char *err;

	for (i = 0; i < ARRAY_SIZE(spaces); i++)
		for (pos = 0; pos < 40; pos++) {
			err = invariant_pos(spaces[i], pos);
			if (!err)
				err = invariant_pos(spaces[i], ~pos);
			if (err)
				fail_space(err, spaces[i]);
		}
}

/* Every pair of types: add both, again, and each with the other payload. */
static void all_pairs(void)
{
	static const u8 a[EXTHDR_SPACE] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	static const u8 b[EXTHDR_SPACE] = { 3, 0, 7, 1, 255, 6, 7, 8, 9 };
	const unsigned int *known;
	unsigned int n = known_types(&known), i, j, k;
	u8 space[EXTHDR_SPACE];

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			for (k = 0; k < 2; k++) {
				memset(space, k ? 0xee : 0, sizeof(space));
				space[0] = 0;
				op_space(space, OP_ADD, known[i], a);
				op_space(space, OP_ADD, known[j], b);
				op_space(space, OP_ADD, known[i], a);
				op_space(space, OP_ADD, known[i], b);
				op_space(space, OP_ADD, known[j], b);
				op_space(space, OP_ADD, known[j], a);
			}
}

/* Every sequence of types, up to three and one that does not fit any more. */
static void all_triples(void)
{
	/* Four payloads, by offset. */
	static const u8 p[EXTHDR_SPACE + 3] = { 8, 7, 6, 5, 4, 3, 2, 1 };
	const unsigned int *known;
	unsigned int n = known_types(&known), i, j, k, l;
	u8 three[EXTHDR_SPACE], space[EXTHDR_SPACE];

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			for (k = 0; k < n; k++) {
				memset(three, 0, sizeof(three));
				op_space(three, OP_ADD, known[i], p);
				op_space(three, OP_ADD, known[j], p + 1);
				op_space(three, OP_ADD, known[k], p + 2);
				for (l = 0; l < n; l++) {
					memcpy(space, three, sizeof(space));
					op_space(space, OP_ADD, known[l], p + 3);
				}
			}
}

/* Whatever the order, the same headers are found with the same payloads. */
static void order_is_irrelevant(void)
{
	const unsigned int *known;
	unsigned int n = known_types(&known), round, i, j, m;

	rnd_start();
	for (round = 0; round < 5000; round++) {
		unsigned int order[EXTHDR_SPACE], swap;
		u8 first[EXTHDR_SPACE] = { 0 }, other[EXTHDR_SPACE] = { 0 };
		u8 payload[EXTHDR_SPACE];

		m = 0;
		for (i = 0; i < 12 && m < EXTHDR_SPACE; i++) {
			unsigned int type = known[rnd(n)];

			memset(payload, type * 37, sizeof(payload));
			if (exthdr_add(first, type, payload) == EXTHDR_OK)
				order[m++] = type;
		}
		for (i = m; i > 1; i--) {
			j = rnd(i);
			swap = order[j];
			order[j] = order[i - 1];
			order[i - 1] = swap;
		}
		for (i = 0; i < m; i++) {
			memset(payload, order[i] * 37, sizeof(payload));
			CHECK_EQ(exthdr_add(other, order[i], payload),
				 EXTHDR_OK);
		}
		CHECK_EQ(exthdr_room(first), exthdr_room(other));
		for (i = 0; i < n; i++) {
			const u8 *x = exthdr_find(first, known[i]);
			const u8 *y = exthdr_find(other, known[i]);

			CHECK_EQ(!x, !y);
			if (x && y)
				CHECK_BYTES(x, y, exthdr_lookup(known[i])->len);
		}
	}
}

/* Random bytes, mostly of known types, so that the parse gets somewhere. */
static void random_spaces(void)
{
	const unsigned int *known;
	unsigned int n = known_types(&known), round, i;
	u8 space[EXTHDR_SPACE];
	const char *err;

	rnd_start();
	for (round = 0; round < RANDOM_SPACES && !check_has_failed(); round++) {
		for (i = 0; i < EXTHDR_SPACE; i++)
			space[i] = rnd(8) ? known[rnd(n)] : rnd(256);
		parse_space(space);
		err = invariant_pos(space, rnd(18));
		if (err)
			fail_space(err, space);
	}
}

static void random_scripts(void)
{
	const unsigned int *known;
	unsigned int n = known_types(&known), round, i, size;
	u8 script[MAX_SCRIPT];
	const char *err;

	rnd_start();
	for (round = 0; round < RANDOM_SCRIPTS && !check_has_failed(); round++) {
		size = rnd(MAX_SCRIPT + 1);
		for (i = 0; i < size; i++)
			script[i] = rnd(3) ? known[rnd(n)] : rnd(256);
		/* Half of them start from an empty space. */
		if (rnd(2) && size)
			script[0] = 0;
		err = invariant_script(script, size);
		if (err)
			check_failed(__FILE__, __LINE__,
				     "script %u of seed %llu violates: %s",
				     round, test_seed, err);
	}
}

/* The version payload is a bijection on 32 bits. */
static void version_round_trip(void)
{
	unsigned int v, back;
	u16 version, features;
	u8 payload[EXTHDR_VERSION_LEN];

	for (v = 0; v < 65536; v++) {
		exthdr_version_pack(payload, v, v * 40503u);
		exthdr_version_unpack(payload, &version, &features);
		CHECK_EQ(version, v);
		CHECK_EQ(features, (u16)(v * 40503u));
		back = (u32)payload[0] << 24 | payload[1] << 16 |
		       payload[2] << 8 | payload[3];
		CHECK_EQ(back, (u32)features << 16 | version);
	}
}

const struct test property_tests[] = {
	{ "parse: all short spaces", all_short_spaces },
	{ "parse: all cursor positions", all_positions },
	{ "parse: random spaces", random_spaces },
	{ "change: all pairs of types", all_pairs },
	{ "change: all triples of types", all_triples },
	{ "change: random scripts", random_scripts },
	{ "order is irrelevant", order_is_irrelevant },
	{ "version payload round trip", version_round_trip },
	{ 0 },
};
