/* SPDX-License-Identifier: GPL-2.0 */
/* Stands in for the kernel's header of this name in user space. */
#include <string.h>
