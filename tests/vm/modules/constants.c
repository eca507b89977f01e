// SPDX-License-Identifier: GPL-2.0-only
/* Whether the kernel has the constants that the tool has of it. Nothing is executed. */
#include <linux/build_bug.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/namei.h>
#include <linux/sched.h>
#include <linux/socket.h>

#include "../../../user/lang/kernel_macros.h"

#define HAS(name, value) static_assert((__force u32)(name) == value);
ARGTRACE_KERNEL_MACROS(HAS)
