/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_COUNTERS_H
#define ARGTRACE_COUNTERS_H

#include <linux/percpu.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

/* The outcomes of one probe's calls: each call adds one to one of these, on its CPU. */
struct argtrace_counters {
	unsigned long records;
	unsigned long filtered;
	unsigned long lost[ARGTRACE_LOST_COUNT];
};

/*
 * The counters of several probes in one allocation: alloc_percpu() searches for a place, and a search for
 * each function takes longer than reading and checking its descriptor.
 */
struct argtrace_counters_block {
	struct argtrace_counters __percpu *counters;
	u32 users;			/* probes that have their counters here */
	u64 charged;
};

/*
 * Allocates counters, all zero, for up to `wanted` probes; `users` says how many. Each drops its reference once.
 * ERR_PTR: -ENOSPC, -ENOMEM.
 */
struct argtrace_counters_block *argtrace_counters_block_create(u32 wanted);

/* The last of a block's users frees it. Serialised by the caller. */
void argtrace_counters_block_put(struct argtrace_counters_block *block);

/* At module load and unload. */
int argtrace_counters_init(void);
void argtrace_counters_exit(void);

/* The sum over all CPUs. */
struct argtrace_counters argtrace_counters_sum(const struct argtrace_counters __percpu *counters);

#endif
