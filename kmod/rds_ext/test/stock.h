/* SPDX-License-Identifier: GPL-2.0 */
/* How a stock kernel reads the extension space, by the rules of docs/protocol.md. */
#ifndef RDS_EXT_TEST_STOCK_H
#define RDS_EXT_TEST_STOCK_H

#include "exthdr.h"

enum stock_kernel {
	STOCK_6_1,		/* and 6.12 */
	STOCK_7_3,
	STOCK_KERNELS,
};

struct stock_ext {
	unsigned int type;
	const u8 *payload;
	unsigned int len;
};

/* The kernel knows the type and its length. */
bool stock_knows(enum stock_kernel kernel, unsigned int type);

/* Fill @ext with up to EXTHDR_SPACE headers and return how many there are. */
unsigned int stock_parse(enum stock_kernel kernel, const u8 *space,
			 struct stock_ext *ext);

#endif
