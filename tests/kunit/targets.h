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

struct target_pair { u64 low; u32 high; };	/* 12 bytes in two registers, with 4 of padding */
struct target_large { u64 words[3]; };

/* They return what depends on all of their arguments. */
TARGET u64 target_value(u64 a, u64 b, u64 c);
TARGET s32 target_narrow(s32 a);
TARGET struct target_pair target_pair(u64 a, u32 b);
TARGET __int128 target_wide(u64 a, u64 b);
TARGET struct target_large target_by_memory(u64 a);
TARGET u64 target_many(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i, u64 j);
TARGET u64 target_by_value(struct target_large large, u64 a);
TARGET u64 target_recursive(u64 depth);

/* Calls the function with the argument, and returns its result. */
TARGET u64 target_calls(u64 (*function)(void *), void *argument);

/* The same function by another name. */
TARGET void target_alias(u64 a, u64 b, u64 c);

/* ftrace does not know it. */
TARGET void target_untraceable(void);

#endif
