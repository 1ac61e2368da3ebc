/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What must hold for any 16 bytes and any sequence of operations, used by the
 * property tests and by the fuzzer.
 *
 * Each function returns NULL, or says what was violated. The codec always works
 * on heap blocks of exactly the right size, so that AddressSanitizer sees any
 * access outside.
 */
#ifndef RDS_EXT_TEST_INVARIANTS_H
#define RDS_EXT_TEST_INVARIANTS_H

#include "exthdr.h"

enum op {
	OP_ADD,
	OP_NEXT,
	OPS,
};

/* The types of the codec's table in rising order, and how many there are. */
unsigned int known_types(const unsigned int **types);

/* The whole parse, look-up of all types, and room. */
const char *invariant_parse(const u8 *space);

/* One step of the cursor from any position. */
const char *invariant_pos(const u8 *space, unsigned int pos);

/* One change; @payload has EXTHDR_SPACE bytes. @space takes the outcome. */
const char *invariant_op(u8 *space, enum op op, unsigned int type,
			 const u8 *payload);

/*
 * A script: 16 bytes of space, then operations of a byte for the kind, one for
 * the type and the payload. What is missing at the end reads as 0.
 */
const char *invariant_script(const u8 *data, size_t size);

#endif
