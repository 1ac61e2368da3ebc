/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A second, naive implementation of the rules, to compare the codec with: it
 * takes the space apart into a list, changes the list, and writes a whole new
 * space. It shares only the table of types with the codec.
 */
#ifndef RDS_EXT_TEST_REFERENCE_H
#define RDS_EXT_TEST_REFERENCE_H

#include "exthdr.h"

struct ref_ext {
	unsigned int type;
	unsigned int off;		/* of the type byte */
	unsigned int len;		/* of the payload */
	bool duplicate;
	u8 payload[EXTHDR_SPACE];
};

struct ref_list {
	struct ref_ext ext[EXTHDR_SPACE];
	unsigned int n;
	enum exthdr_result end;		/* END, UNKNOWN or TRUNCATED */
	unsigned int end_off;
};

void ref_parse(const u8 *space, struct ref_list *list);
const struct ref_ext *ref_find(const struct ref_list *list, unsigned int type);
unsigned int ref_room(const u8 *space);
enum exthdr_result ref_add(u8 *space, unsigned int type, const u8 *payload);

#endif
