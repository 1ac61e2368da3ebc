// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of rds_ext.ko: its own files are compiled into this module, and
 * what they need of the rest is replaced by outside.c. They run when the module
 * is loaded, before its init. rds_ext.ko is not to be loaded meanwhile: both
 * have the same tracepoints.
 */
#include <linux/module.h>

#include "mrage.h"
#include "suites.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

kunit_test_suites(&rext_exthdr_suite, &rext_mrlimit_suite,
		  &rext_mrtable_suite, &rext_proxy_suite,
		  &rext_proxy_fault_suite, &rext_mr_suite, &rext_lease_suite);

static int __init rds_ext_kunit_init(void)
{
	return 0;
}

static void __exit rds_ext_kunit_exit(void)
{
	rext_mrage_exit();
}

module_init(rds_ext_kunit_init);
module_exit(rds_ext_kunit_exit);

MODULE_DESCRIPTION("KUnit tests of rds_ext.ko");
MODULE_AUTHOR("The rds_ext developers");
MODULE_LICENSE("GPL");
