// SPDX-License-Identifier: GPL-2.0
#include "stock.h"

/*
 * Written out here and not taken from the codec's table: these lengths are
 * those of kernels in the field, and a change of ours must show as a failure.
 * Types from 16 on end the list.
 */
static const u8 stock_len[STOCK_KERNELS][16] = {
	[STOCK_6_1] = { [1] = 4, [2] = 4, [3] = 8, [5] = 2, [6] = 4 },
	[STOCK_7_3] = { [1] = 4, [2] = 4, [3] = 8, [4] = 8, [5] = 2, [6] = 4,
			[8] = 1 },
};

bool stock_knows(enum stock_kernel kernel, unsigned int type)
{
	return type < 16 && stock_len[kernel][type] != 0;
}

unsigned int stock_parse(enum stock_kernel kernel, const u8 *space,
			 struct stock_ext *ext)
{
	unsigned int pos = 0, n = 0, type, len;

	while (pos < EXTHDR_SPACE) {
		type = space[pos];
		if (type == 0 || type >= 16)
			break;
		len = stock_len[kernel][type];
		if (pos + 1 + len > EXTHDR_SPACE)
			break;
		ext[n].type = type;
		ext[n].payload = space + pos + 1;
		ext[n].len = len;
		n++;
		pos += 1 + len;
	}
	return n;
}
