/* SPDX-License-Identifier: GPL-2.0-only */
/* Fewer calls of a probe than there are: one in so many, or no more than so many in a second. */
#ifndef ARGTRACE_THROTTLE_H
#define ARGTRACE_THROTTLE_H

#include <linux/jiffies.h>
#include <asm/local.h>

#include "probe/plan.h"

/* Whether it is this call's turn, where the plan takes one in so many on each CPU. Preemption is off. */
static __always_inline bool argtrace_is_sampled(const struct argtrace_plan *plan)
{
	local_t *left = (local_t *)&argtrace_counters_here(plan->sampling)->records;

	/* An interrupt that takes its turn in between begins a new round, as we do then. */
	if (likely(local_dec_return(left) >= 0))
		return false;
	local_set(left, plan->code->sample - 1);
	return true;
}

/* Whether the probe may have another record in this second. CPUs share the count, which is exact. */
static __always_inline bool argtrace_may_record(struct argtrace_code *code)
{
	const u64 second = (u64)(u32)(jiffies / HZ) << 32;
	s64 old = atomic64_read(&code->rate), new;

	do {
		if (((u64)old & ~(u64)U32_MAX) != second)
			new = second | 1;
		else if ((u32)old >= code->max_rate)
			return false;
		else
			new = old + 1;
	} while (unlikely(!atomic64_try_cmpxchg(&code->rate, &old, new)));
	return true;
}

#endif
