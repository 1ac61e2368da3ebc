// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the seeds of the fuzzer into a directory: each type alone, at the end
 * of the space, truncated, in pairs, and a script of all operations.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exthdr.h"
#include "invariants.h"

static const char *dir;
static unsigned int written;

static void seed(const u8 *data, size_t size)
{
	char path[4096];
	FILE *out;

	if (snprintf(path, sizeof(path), "%s/seed-%03u", dir, written) >=
	    (int)sizeof(path)) {
		fprintf(stderr, "%s: path too long\n", dir);
		exit(1);
	}
	out = fopen(path, "wb");
	if (!out || fwrite(data, 1, size, out) != size || fclose(out)) {
		perror(path);
		exit(1);
	}
	written++;
}

/* Space as it stands, then every operation on @type. */
static void seed_ops(const u8 *space, unsigned int index)
{
	u8 script[EXTHDR_SPACE + OPS * (2 + EXTHDR_SPACE)];
	unsigned int n = EXTHDR_SPACE, op;

	memcpy(script, space, EXTHDR_SPACE);
	for (op = 0; op < OPS; op++) {
		script[n++] = op;
		script[n++] = index;
		if (op == OP_ADD) {
			memset(script + n, 0x11 * (op + 1), EXTHDR_SPACE);
			n += EXTHDR_SPACE;
		}
	}
	seed(script, n);
}

int main(int argc, char **argv)
{
	unsigned int type, other, index = 0;
	u8 payload[EXTHDR_SPACE] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	u8 space[EXTHDR_SPACE] = { 0 };

	if (argc != 2) {
		fprintf(stderr, "usage: %s directory\n", argv[0]);
		return 2;
	}
	dir = argv[1];

	seed(space, sizeof(space));
	for (type = 0; type < 256; type++) {
		const struct exthdr_desc *desc = exthdr_lookup(type);

		if (!desc)
			continue;
		memset(space, 0, sizeof(space));
		seed_ops(space, index);
		exthdr_add(space, type, payload);
		seed_ops(space, index++);
		for (other = 0; other < 256; other++) {
			u8 pair[EXTHDR_SPACE];

			memcpy(pair, space, sizeof(pair));
			if (exthdr_add(pair, other, payload) == EXTHDR_OK)
				seed(pair, sizeof(pair));
		}

		/* At the very end, then one byte too late. */
		memset(space, EXTHDR_SPORT_IDX, sizeof(space));
		if ((EXTHDR_SPACE - 1 - desc->len) % 2 == 0)
			space[EXTHDR_SPACE - 1 - desc->len] = type;
		else
			space[EXTHDR_SPACE - desc->len] = type;
		seed(space, sizeof(space));
	}
	memset(space, 7, sizeof(space));
	seed(space, sizeof(space));
	memset(space, 0xff, sizeof(space));
	seed(space, sizeof(space));
	printf("%u seeds in %s\n", written, dir);
	return 0;
}
