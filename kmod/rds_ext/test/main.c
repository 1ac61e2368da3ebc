// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the tests. An argument is the seed of the random ones, which otherwise
 * is always the same, so that a failure comes back.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

/* Further complaints of one test help nobody. */
#define MAX_COMPLAINTS 10

unsigned long long test_seed = 20080131;

static unsigned int complaints;

bool check_has_failed(void)
{
	return complaints != 0;
}

void check_failed(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	if (++complaints > MAX_COMPLAINTS)
		return;
	printf("%s:%d: ", file, line);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static void hex(char *out, const unsigned char *bytes, unsigned int n)
{
	unsigned int i;

	*out = '\0';
	for (i = 0; i < n; i++)
		sprintf(out + 3 * i, "%02x ", bytes[i]);
}

void check_bytes(const char *file, int line, const char *what,
		 const unsigned char *got, const unsigned char *want,
		 unsigned int n)
{
	char got_hex[3 * 64 + 1], want_hex[3 * 64 + 1];
	unsigned int i;

	for (i = 0; i < n && got[i] == want[i]; i++)
		;
	if (i == n)
		return;
	if (n > 64)
		n = 64;
	hex(got_hex, got, n);
	hex(want_hex, want, n);
	check_failed(file, line, "%s differs from byte %u on\n\tgot  %s\n\twant %s",
		     what, i, got_hex, want_hex);
}

static void run(const struct test *test, unsigned int *passed,
		unsigned int *failed)
{
	for (; test->name; test++) {
		complaints = 0;
		test->fn();
		if (complaints)
			++*failed;
		else
			++*passed;
		printf("%s %s\n", complaints ? "FAIL" : "PASS", test->name);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	unsigned int passed = 0, failed = 0;

	if (argc > 2) {
		fprintf(stderr, "usage: %s [seed]\n", argv[0]);
		return 2;
	}
	if (argc == 2) {
		char *end;

		errno = 0;
		test_seed = strtoull(argv[1], &end, 0);
		if (errno || end == argv[1] || *end) {
			fprintf(stderr, "%s: seed '%s' is not a number\n",
				argv[0], argv[1]);
			return 2;
		}
	}
	printf("seed %llu\n", test_seed);
	run(unit_tests, &passed, &failed);
	run(property_tests, &passed, &failed);
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
