/* SPDX-License-Identifier: GPL-2.0 */
/* Stands in for the kernel's header of this name in user space. */
#ifndef RDS_EXT_TEST_KERNEL_H
#define RDS_EXT_TEST_KERNEL_H

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif
