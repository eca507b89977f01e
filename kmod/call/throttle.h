/* SPDX-License-Identifier: GPL-2.0-only */
/* Limits how many calls of a probe are recorded: one in so many, or at most so many in a second. */
#ifndef ARGTRACE_THROTTLE_H
#define ARGTRACE_THROTTLE_H

#include <linux/jiffies.h>
#include <asm/local.h>

#include "probe/plan.h"

/*
 * Whether it is this call's turn, if the plan records one in so many on each CPU. Preemption is
 * off.
 */
static __always_inline bool argtrace_is_sampled(const struct argtrace_plan *plan)
{
	local_t *left = (local_t *)&argtrace_counters_here(plan->sampling)->records;

	/* An interrupt that takes a turn in between starts a new round, and so do we then. */
	if (likely(!local_add_negative(-1, left)))
		return false;
	local_set(left, plan->code->sample - 1);
	return true;
}

/*
 * A second begins with a record. All CPUs share the count of its records, which is exact: the upper
 * half of `rate` is the jiffy in which the second began, the lower half the number of its records.
 *
 * A second that began after `now` is not over: another CPU began it since this one looked at the
 * clock.
 */
static __always_inline bool argtrace_is_in_second(u64 rate, u32 now)
{
	return now - (u32)(rate >> 32) + HZ < 2 * HZ;
}

/* Before the first record no second has begun. */
static __always_inline bool argtrace_is_over(u64 rate, u32 now)
{
	return (u32)rate == 0 || !argtrace_is_in_second(rate, now);
}

/* Whether it is certain that the probe may not have another record in this second. */
static __always_inline bool argtrace_is_capped(const struct argtrace_code *code)
{
	const u64 rate = atomic64_read(&code->rate);

	/* A rate of 0, which caps nothing, is not asked for. */
	return (u32)rate >= code->max_rate && argtrace_is_in_second(rate, jiffies);
}

/* Takes one of the records of this second, if there is one left. */
static __always_inline bool argtrace_may_record(struct argtrace_code *code)
{
	s64 old = atomic64_read(&code->rate), new;
	const u32 now = jiffies;

	do {
		if (argtrace_is_over(old, now))
			new = (u64)now << 32 | 1;
		else if ((u32)old >= code->max_rate)
			return false;
		else
			new = old + 1;
	} while (unlikely(!atomic64_try_cmpxchg(&code->rate, &old, new)));
	return true;
}

#endif
