/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The suites. Those that need an RDMA device run on the first one with an
 * address of IPv4.
 */
#ifndef RDS_EXT_KUNIT_SUITES_H
#define RDS_EXT_KUNIT_SUITES_H

#include <kunit/test.h>

extern struct kunit_suite rext_exthdr_suite;
extern struct kunit_suite rext_mrlimit_suite;
extern struct kunit_suite rext_mrtable_suite;
extern struct kunit_suite rext_proxy_suite;
extern struct kunit_suite rext_proxy_fault_suite;
extern struct kunit_suite rext_mr_suite;
extern struct kunit_suite rext_lease_suite;

#endif /* RDS_EXT_KUNIT_SUITES_H */
