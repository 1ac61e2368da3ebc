/* SPDX-License-Identifier: GPL-2.0 */
/* The few lines of a test framework that these tests need. */
#ifndef RDS_EXT_TEST_CHECK_H
#define RDS_EXT_TEST_CHECK_H

#include <stdbool.h>

struct test {
	const char *name;
	void (*fn)(void);
};

/* Note a failure of the running test; the test goes on. */
void check_failed(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* True once the running test has failed. */
bool check_has_failed(void);

#define CHECK(cond)							\
	do {								\
		if (!(cond))						\
			check_failed(__FILE__, __LINE__, "%s", #cond);	\
	} while (0)

#define CHECK_EQ(got, want)						\
	do {								\
		long long got_ = (got), want_ = (want);			\
									\
		if (got_ != want_)					\
			check_failed(__FILE__, __LINE__,		\
				     "%s is %lld, want %s (%lld)",	\
				     #got, got_, #want, want_);		\
	} while (0)

#define CHECK_BYTES(got, want, n)					\
	check_bytes(__FILE__, __LINE__, #got, got, want, n)

void check_bytes(const char *file, int line, const char *what,
		 const unsigned char *got, const unsigned char *want,
		 unsigned int n);

/* Tests, ended by one without a name. */
extern const struct test unit_tests[];
extern const struct test property_tests[];

/* Seed of the random tests. */
extern unsigned long long test_seed;

#endif
