/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions to trace. noipa keeps GCC from cloning them, dropping arguments or omitting calls. */
#ifndef ARGTRACE_KUNIT_TARGETS_H
#define ARGTRACE_KUNIT_TARGETS_H

#include <linux/types.h>

#define TARGET __attribute__((__noipa__))

TARGET void target_none(void);
TARGET void target_three(u64 a, u64 b, u64 c);
TARGET void target_six(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f);
TARGET void target_eight(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h);

/* The same function by another name. */
TARGET void target_alias(u64 a, u64 b, u64 c);

/* ftrace does not know it. */
TARGET void target_untraceable(void);

#endif
