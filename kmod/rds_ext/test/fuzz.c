// SPDX-License-Identifier: GPL-2.0
/* libFuzzer target: the input is a script, see invariants.h. */
#include <stdio.h>
#include <stdlib.h>

#include "invariants.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const char *err = invariant_script(data, size);

	if (err) {
		fprintf(stderr, "violated: %s\n", err);
		abort();
	}
	return 0;
}
