// SPDX-License-Identifier: GPL-2.0
/*
 * Prints what the codec knows, one item a line, fields separated by tabs:
 *
 *	space <bytes>
 *	first-own <number>
 *	type <number> <name> <length of payload> <feature bits>
 *	feature <name> <bit mask>
 *	flag <name> <bit mask>
 *	dest-flag <name> <bit mask>
 */
#include <stdio.h>

#include "exthdr.h"

int main(void)
{
	unsigned int type;

	printf("space\t%u\n", EXTHDR_SPACE);
	printf("first-own\t%u\n", EXTHDR_FIRST_OWN);
	for (type = 0; type < 256; type++) {
		const struct exthdr_desc *desc = exthdr_lookup(type);

		if (desc)
			printf("type\t%u\t%s\t%u\t0x%04x\n", type, desc->name,
			       desc->len, desc->features);
	}
	printf("feature\tEXT_TYPES\t0x%04x\n", EXTHDR_FEAT_EXT_TYPES);
	printf("feature\tREMOTE_INVALIDATE\t0x%04x\n",
	       EXTHDR_FEAT_REMOTE_INVALIDATE);
	printf("flag\tREPLY_WANTED\t0x%04x\n", EXTHDR_REPLY_WANTED);
	printf("dest-flag\tMAY_INVALIDATE\t0x%02x\n",
	       EXTHDR_DEST_MAY_INVALIDATE);
	return ferror(stdout) || fclose(stdout);
}
