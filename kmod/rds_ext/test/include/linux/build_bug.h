/* SPDX-License-Identifier: GPL-2.0 */
/* Stands in for the kernel's header of this name in user space. */
#ifndef RDS_EXT_TEST_BUILD_BUG_H
#define RDS_EXT_TEST_BUILD_BUG_H

#define static_assert(cond) _Static_assert(cond, #cond)

#endif
