/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_MEMORY_H
#define ARGTRACE_MEMORY_H

#include <linux/types.h>

/*
 * What all sessions take together is bounded by the module parameter
 * memory_limit_mb, and charged before it is allocated. Not charged is what is gone again
 * before an ioctl returns, what a session or an open file takes beside rings and probes (less
 * than a page), and what ftrace itself allocates for the functions that it calls us for.
 */

/* Returns 0, or -ENOSPC if the limit would be passed. */
int argtrace_memory_charge(u64 bytes);
void argtrace_memory_uncharge(u64 bytes);

/*
 * What kvmalloc() and alloc_percpu() take for so many bytes, at most: it is rounded up to
 * the next size that there is, and alloc_percpu() gives it to every possible CPU.
 */
u64 argtrace_kvmalloc_size(u64 bytes);
u64 argtrace_percpu_size(u64 bytes);

u64 argtrace_memory_limit(void);
u64 argtrace_memory_used(void);

#endif
