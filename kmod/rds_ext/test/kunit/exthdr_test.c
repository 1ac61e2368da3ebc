// SPDX-License-Identifier: GPL-2.0
/*
 * The codec of the extension headers, as the kernel's compiler and checkers see
 * it. The tests in user space, one folder up, are the thorough ones.
 */
#include "exthdr.h"
#include "suites.h"

static const u8 dest[] = { 0xa1, 0xa2, 0xa3, 0xa4, 0xb1, 0xb2, 0xb3, 0xb4 };

/* What is added is found, and takes its type byte and its payload. */
static void adds(struct kunit *test)
{
	u8 space[EXTHDR_SPACE] = { };
	u8 flags = EXTHDR_DEST_MAY_INVALIDATE;
	const u8 *found;

	KUNIT_EXPECT_EQ(test, exthdr_room(space), EXTHDR_SPACE);
	KUNIT_EXPECT_EQ(test, exthdr_add(space, EXTHDR_RDMA_DEST, dest),
			EXTHDR_OK);
	KUNIT_EXPECT_EQ(test, exthdr_room(space), EXTHDR_SPACE - 9);
	KUNIT_EXPECT_EQ(test, exthdr_add(space, EXTHDR_RDMA_DEST_FLAGS, &flags),
			EXTHDR_OK);
	KUNIT_EXPECT_EQ(test, exthdr_room(space), EXTHDR_SPACE - 11);
	found = exthdr_find(space, EXTHDR_RDMA_DEST);
	KUNIT_ASSERT_NOT_NULL(test, found);
	KUNIT_EXPECT_EQ(test, memcmp(found, dest, sizeof(dest)), 0);
	found = exthdr_find(space, EXTHDR_RDMA_DEST_FLAGS);
	KUNIT_ASSERT_NOT_NULL(test, found);
	KUNIT_EXPECT_EQ(test, *found, flags);
	KUNIT_EXPECT_PTR_EQ(test, exthdr_find(space, EXTHDR_VERSION),
			    (const u8 *)NULL);
}

/* Where something does not fit, or stands there already, nothing changes. */
static void adds_not(struct kunit *test)
{
	u8 space[EXTHDR_SPACE] = { };
	u8 other[sizeof(dest)] = { };
	u8 before[EXTHDR_SPACE];

	KUNIT_ASSERT_EQ(test, exthdr_add(space, EXTHDR_RDMA_DEST, dest),
			EXTHDR_OK);
	KUNIT_ASSERT_EQ(test, exthdr_add(space, EXTHDR_RDMA, dest), EXTHDR_OK);
	memcpy(before, space, sizeof(space));
	KUNIT_EXPECT_EQ(test, exthdr_room(space), 2);
	KUNIT_EXPECT_FALSE(test, exthdr_fits(space, EXTHDR_VERSION));
	KUNIT_EXPECT_TRUE(test, exthdr_fits(space, EXTHDR_RDMA_DEST_FLAGS));
	KUNIT_EXPECT_EQ(test, exthdr_add(space, EXTHDR_VERSION, dest),
			EXTHDR_NO_ROOM);
	KUNIT_EXPECT_EQ(test, exthdr_add(space, EXTHDR_RDMA_DEST, dest),
			EXTHDR_SAME);
	KUNIT_EXPECT_EQ(test, exthdr_add(space, EXTHDR_RDMA_DEST, other),
			EXTHDR_DUPLICATE);
	KUNIT_EXPECT_EQ(test, exthdr_add(space, 7, dest), EXTHDR_UNKNOWN);
	KUNIT_EXPECT_EQ(test, memcmp(before, space, sizeof(space)), 0);
}

/* What a peer sends is not read beyond its end, wherever it stands. */
static void reads_no_further(struct kunit *test)
{
	const struct exthdr_desc *desc = exthdr_lookup(EXTHDR_RDMA_DEST);
	u8 *space = kunit_kzalloc(test, EXTHDR_SPACE, GFP_KERNEL);
	unsigned int pos, type, len, at, i;
	enum exthdr_result want;
	const u8 *payload;

	KUNIT_ASSERT_NOT_NULL(test, space);
	/* Behind headers of two bytes each, which fill it at last. */
	for (at = 0; at < EXTHDR_SPACE; at += 2) {
		memset(space + at, 0, EXTHDR_SPACE - at);
		space[at] = EXTHDR_RDMA_DEST;
		want = at + 1 + desc->len <= EXTHDR_SPACE ? EXTHDR_OK :
							    EXTHDR_TRUNCATED;
		pos = 0;
		for (i = 0; i < at; i += 2)
			KUNIT_EXPECT_EQ(test,
					exthdr_next(space, &pos, &type,
						    &payload, &len),
					i ? EXTHDR_DUPLICATE : EXTHDR_OK);
		KUNIT_EXPECT_EQ(test, exthdr_next(space, &pos, &type, &payload,
						  &len), want);
		KUNIT_EXPECT_EQ(test, type, EXTHDR_RDMA_DEST);
		KUNIT_EXPECT_EQ(test, len, want == EXTHDR_OK ? desc->len : 0);
		KUNIT_EXPECT_EQ(test, exthdr_next(space, &pos, &type, &payload,
						  &len), EXTHDR_END);
		space[at] = EXTHDR_RDMA_DEST_FLAGS;
	}
}

/* A version and features come back as they were put in. */
static void version(struct kunit *test)
{
	u8 payload[EXTHDR_VERSION_LEN];
	u16 number, features;

	exthdr_version_pack(payload, 0x0301, 0x8002);
	exthdr_version_unpack(payload, &number, &features);
	KUNIT_EXPECT_EQ(test, number, 0x0301);
	KUNIT_EXPECT_EQ(test, features, 0x8002);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(adds),
	KUNIT_CASE(adds_not),
	KUNIT_CASE(reads_no_further),
	KUNIT_CASE(version),
	{ }
};

struct kunit_suite rext_exthdr_suite = {
	.name = "rds_ext_exthdr",
	.test_cases = cases,
};
