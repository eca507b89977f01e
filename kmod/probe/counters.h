/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_COUNTERS_H
#define ARGTRACE_COUNTERS_H

#include <linux/percpu.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

/* What became of the calls of one probe: each adds one to one of these, on its CPU. */
struct argtrace_counters {
	unsigned long records;
	unsigned long filtered;
	unsigned long lost[ARGTRACE_LOST_COUNT];
};

/*
 * Those of several probes in one allocation: alloc_percpu() searches for its place, and one
 * search for each of all functions takes longer than to read and check their descriptors.
 */
struct argtrace_counters_block {
	struct argtrace_counters __percpu *counters;
	u32 users;			/* probes that have theirs here */
	u64 charged;
};

/*
 * One for as many of `wanted` probes as one allocation has room for, all zero: `users` says how many, and
 * each is to put it once. ERR_PTR: -ENOSPC, -ENOMEM.
 */
struct argtrace_counters_block *argtrace_counters_block_create(u32 wanted);

/* The last of a block's users frees it. Serialised by the caller. */
void argtrace_counters_block_put(struct argtrace_counters_block *block);

/* The sum over all CPUs. */
struct argtrace_counters argtrace_counters_sum(const struct argtrace_counters __percpu *counters);

#endif
