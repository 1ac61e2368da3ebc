// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invariants.h"
#include "reference.h"
#include "stock.h"

#define MUST(cond)							\
	do {								\
		if (!(cond)) {						\
			err = #cond;					\
			goto out;					\
		}							\
	} while (0)

static void *exact_copy(const void *data, size_t size)
{
	void *copy = malloc(size);

	if (!copy && size) {
		fputs("out of memory\n", stderr);
		abort();
	}
	if (size)
		memcpy(copy, data, size);
	return copy;
}

unsigned int known_types(const unsigned int **types)
{
	static unsigned int known[256], n;
	unsigned int type;

	if (!n)
		for (type = 0; type < 256; type++)
			if (exthdr_lookup(type))
				known[n++] = type;
	*types = known;
	return n;
}

/* What exthdr_find() and exthdr_fits() say of a type. */
static const char *invariant_type(const u8 *blk, const struct ref_list *list,
				  unsigned int type)
{
	const struct exthdr_desc *desc = exthdr_lookup(type);
	const struct ref_ext *ext = ref_find(list, type);
	const char *err = NULL;

	MUST(exthdr_find(blk, type) == (ext ? blk + ext->off + 1 : NULL));
	MUST(exthdr_fits(blk, type) ==
	     (desc && ref_room(blk) >= 1u + desc->len));
out:
	return err;
}

const char *invariant_parse(const u8 *space)
{
	u8 *blk = exact_copy(space, EXTHDR_SPACE);
	const unsigned int *known;
	unsigned int n = known_types(&known);
	unsigned int pos = 0, type, len, i, steps = 0;
	const struct ref_ext *ext;
	const char *err = NULL;
	enum exthdr_result res;
	struct ref_list list;
	const u8 *payload;

	ref_parse(space, &list);

	for (i = 0; i < list.n; i++) {
		ext = &list.ext[i];
		res = exthdr_next(blk, &pos, &type, &payload, &len);
		MUST(++steps <= EXTHDR_SPACE);
		MUST(res == (ext->duplicate ? EXTHDR_DUPLICATE : EXTHDR_OK));
		MUST(type == ext->type);
		MUST(payload == blk + ext->off + 1);
		MUST(len == ext->len);
		MUST(pos == ext->off + 1 + ext->len);
		MUST(pos <= EXTHDR_SPACE);
	}
	type = 0xdead;
	res = exthdr_next(blk, &pos, &type, &payload, &len);
	MUST(res == list.end);
	MUST(!payload && len == 0);
	MUST(res == EXTHDR_END ? type == 0xdead : type == space[list.end_off]);
	MUST(exthdr_next(blk, &pos, &type, &payload, &len) == EXTHDR_END);

	MUST(exthdr_room(blk) == ref_room(space));
	for (i = 0; i < n; i++) {
		err = invariant_type(blk, &list, known[i]);
		if (err)
			goto out;
	}
	for (i = 0; i < EXTHDR_SPACE; i++) {
		err = invariant_type(blk, &list, space[i]);
		if (!err)
			err = invariant_type(blk, &list, space[i] + 256);
		if (err)
			goto out;
	}
	MUST(memcmp(blk, space, EXTHDR_SPACE) == 0);
out:
	free(blk);
	return err;
}

const char *invariant_pos(const u8 *space, unsigned int pos)
{
	u8 *blk = exact_copy(space, EXTHDR_SPACE);
	const struct ref_ext *ext = NULL;
	enum exthdr_result res, want;
	unsigned int type, len, i, was = pos;
	const char *err = NULL;
	struct ref_list list;
	const u8 *payload;

	ref_parse(space, &list);
	for (i = 0; i < list.n && !ext; i++)
		if (list.ext[i].off >= pos)
			ext = &list.ext[i];
	if (ext)
		want = ext->duplicate ? EXTHDR_DUPLICATE : EXTHDR_OK;
	else
		want = list.end_off >= pos ? list.end : EXTHDR_END;

	res = exthdr_next(blk, &pos, &type, &payload, &len);
	MUST(res == want);
	MUST(pos <= EXTHDR_SPACE);
	MUST(pos > was || pos == EXTHDR_SPACE);
	if (ext) {
		MUST(type == ext->type && len == ext->len);
		MUST(payload == blk + ext->off + 1);
	}
out:
	free(blk);
	return err;
}

/* A stock kernel sees the headers up to the first that it does not know. */
static const char *stock_sees(const u8 *space, enum stock_kernel kernel)
{
	struct stock_ext seen[EXTHDR_SPACE];
	const char *err = NULL;
	struct ref_list list;
	unsigned int i, n;

	ref_parse(space, &list);
	n = stock_parse(kernel, space, seen);
	for (i = 0; i < list.n && stock_knows(kernel, list.ext[i].type); i++) {
		MUST(i < n);
		MUST(seen[i].type == list.ext[i].type);
		MUST(seen[i].len == list.ext[i].len);
		MUST(memcmp(seen[i].payload, list.ext[i].payload,
			    seen[i].len) == 0);
	}
	if (i == list.n && list.end == EXTHDR_END)
		MUST(n == i);
out:
	return err;
}

static const char *after_add(const u8 *blk, const u8 *before,
			     unsigned int type, const u8 *payload)
{
	const struct exthdr_desc *desc = exthdr_lookup(type);
	unsigned int off = EXTHDR_SPACE - exthdr_room(before);
	const char *err = NULL;
	enum stock_kernel kernel;
	unsigned int i;

	/* What was there, the new header behind it, then nothing but zeroes. */
	MUST(memcmp(blk, before, off) == 0);
	MUST(blk[off] == type);
	MUST(exthdr_find(blk, type) == blk + off + 1);
	MUST(memcmp(blk + off + 1, payload, desc->len) == 0);
	MUST(exthdr_room(blk) == EXTHDR_SPACE - off - 1 - desc->len);
	for (i = EXTHDR_SPACE - exthdr_room(blk); i < EXTHDR_SPACE; i++)
		MUST(blk[i] == 0);
	for (kernel = 0; kernel < STOCK_KERNELS; kernel++) {
		err = stock_sees(blk, kernel);
		if (err)
			goto out;
	}
out:
	return err;
}

const char *invariant_op(u8 *space, enum op op, unsigned int type,
			 const u8 *payload)
{
	const struct exthdr_desc *desc = exthdr_lookup(type);
	u8 *blk = exact_copy(space, EXTHDR_SPACE);
	u8 *pay = exact_copy(payload, desc ? desc->len : 0);
	enum exthdr_result res, want;
	const char *err = NULL;
	u8 model[EXTHDR_SPACE];

	memcpy(model, space, EXTHDR_SPACE);
	switch (op) {
	case OP_ADD:
		res = exthdr_add(blk, type, pay);
		want = ref_add(model, type, payload);
		MUST(res == want);
		if (res == EXTHDR_OK)
			err = after_add(blk, space, type, payload);
		else
			MUST(memcmp(blk, space, EXTHDR_SPACE) == 0);
		break;
	default:
		err = invariant_pos(space, type * 0x01010101u);
		if (!err)
			err = invariant_pos(space, type % (EXTHDR_SPACE + 2));
		break;
	}
	if (err)
		goto out;
	MUST(memcmp(blk, model, EXTHDR_SPACE) == 0);
	memcpy(space, blk, EXTHDR_SPACE);
	err = invariant_parse(space);
out:
	free(pay);
	free(blk);
	return err;
}

struct reader {
	const u8 *data;
	size_t left;
};

static u8 take(struct reader *rd)
{
	if (!rd->left)
		return 0;
	rd->left--;
	return *rd->data++;
}

/* Most scripts would die of unknown types if types were taken as they come. */
static unsigned int pick_type(u8 byte, bool any)
{
	const unsigned int *known;
	unsigned int n = known_types(&known);

	if (any)
		return byte;
	return known[byte % n];
}

const char *invariant_script(const u8 *data, size_t size)
{
	struct reader rd = { data, size };
	u8 space[EXTHDR_SPACE], payload[EXTHDR_SPACE];
	const char *err;
	unsigned int i;

	for (i = 0; i < EXTHDR_SPACE; i++)
		space[i] = take(&rd);
	err = invariant_parse(space);

	while (!err && rd.left) {
		const struct exthdr_desc *desc;
		unsigned int kind = take(&rd), type;

		type = pick_type(take(&rd), kind & 0x80);
		desc = exthdr_lookup(type);
		memset(payload, 0, sizeof(payload));
		if (kind % OPS == OP_ADD)
			for (i = 0; desc && i < desc->len; i++)
				payload[i] = take(&rd);
		err = invariant_op(space, kind % OPS, type, payload);
	}
	return err;
}
