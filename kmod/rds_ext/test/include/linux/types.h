/* SPDX-License-Identifier: GPL-2.0 */
/* Stands in for the kernel's header of this name in user space. */
#ifndef RDS_EXT_TEST_TYPES_H
#define RDS_EXT_TEST_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;

#endif
