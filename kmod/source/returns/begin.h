/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The first half of a callback of ftrace whose calls may go on in a trampoline. What has not been
 * entered is counted apart from the outcomes of calls that have been.
 */
#ifndef ARGTRACE_RETURN_BEGIN_H
#define ARGTRACE_RETURN_BEGIN_H

#include <linux/preempt.h>
#include <linux/rcupdate.h>

#include "session.h"

static __always_inline void argtrace_return_filter(const struct argtrace_return *returns)
{
	argtrace_count_following(returns->following, filtered);
	preempt_enable_notrace();
}

/*
 * Disables preemption, and returns the plan of the probe at `ip`. NULL if nothing is to be
 * recorded: that has been counted, and preemption is enabled again. `by_pid`: there is a filter by
 * PID.
 */
static __always_inline struct argtrace_plan *
argtrace_return_begin(const struct argtrace_lane *lane, unsigned long ip, const bool by_pid)
{
	struct argtrace_plan *plan;

	preempt_disable_notrace();
	plan = argtrace_table_lookup(rcu_dereference_raw(lane->table), ip);
	if (unlikely(!plan)) {
		preempt_enable_notrace();
		return NULL;
	}
	if (unlikely(argtrace_is_filtered(lane, by_pid))) {
		argtrace_return_filter(plan->returns);
		return NULL;
	}
	return plan;
}

#endif
