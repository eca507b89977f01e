/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_MEMORY_H
#define ARGTRACE_MEMORY_H

#include <linux/types.h>

/*
 * What all sessions take together is bounded by the module parameter
 * memory_limit_mb, and charged before it is allocated.
 */

/* Returns 0, or -ENOSPC if the limit would be passed. */
int argtrace_memory_charge(u64 bytes);
void argtrace_memory_uncharge(u64 bytes);

u64 argtrace_memory_limit(void);
u64 argtrace_memory_used(void);

#endif
