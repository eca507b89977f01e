/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_MEMORY_H
#define ARGTRACE_MEMORY_H

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/types.h>

/*
 * The memory of all sessions together is bounded by the module parameter
 * memory_limit_mb, and charged before it is allocated. Not charged are what is freed before
 * an ioctl returns, what a session or an open file takes beside rings and probes (less
 * than a page), and what ftrace itself allocates for the functions it calls us for. What fprobes
 * and kretprobes allocate for the calls that they follow is charged (source/fallback.c).
 *
 * The memory cgroup of the calling process is charged as well, and an allocation that finds no
 * memory fails: the OOM killer is not called for a trace.
 */
#define ARGTRACE_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* For removing things, which a full memory cgroup must not prevent. */
#define ARGTRACE_GFP_REMOVAL	(GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* All of these return NULL if there is no memory; free the result with kvfree(). */
static inline void *argtrace_kvmalloc(size_t bytes)
{
	return kvmalloc(bytes, ARGTRACE_GFP);
}

static inline void *argtrace_kvzalloc(size_t bytes)
{
	return kvzalloc(bytes, ARGTRACE_GFP);
}

static inline void *argtrace_kvzalloc_node(size_t bytes, int node)
{
	return kvzalloc_node(bytes, ARGTRACE_GFP, node);
}

static inline void *argtrace_kvmalloc_array(size_t count, size_t size)
{
	return kvmalloc_array(count, size, ARGTRACE_GFP);
}

static inline void *argtrace_kvcalloc(size_t count, size_t size)
{
	return kvcalloc(count, size, ARGTRACE_GFP);
}

/* Returns 0, or -ENOSPC if that would exceed the limit. */
int argtrace_memory_charge(u64 bytes);
/*
 * The same for what one can do without, and what may be large: leaves a sixteenth of the limit to
 * the others, such as hooks, which note what they are told of or never know it.
 */
int argtrace_memory_charge_optional(u64 bytes);
/* For what cannot be refused: exceeds the limit if necessary. */
void argtrace_memory_charge_anyway(u64 bytes);
void argtrace_memory_uncharge(u64 bytes);

/*
 * The most that kvmalloc() and alloc_percpu() take for so many bytes: kvmalloc() rounds up to
 * its next size, and alloc_percpu() allocates for every possible CPU.
 */
u64 argtrace_kvmalloc_size(u64 bytes);
u64 argtrace_percpu_size(u64 bytes);

u64 argtrace_memory_limit(void);
u64 argtrace_memory_used(void);

#endif
