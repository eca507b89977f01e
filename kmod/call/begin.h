/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_BEGIN_H
#define ARGTRACE_BEGIN_H

#include <linux/compiler.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>

#include "base/hook.h"
#include "session.h"

/*
 * The second half of argtrace_begin_at(), for sources that have found the plan otherwise: NULL if
 * the place has no probe. `by_pid`: there may be a filter by PID. Returns the plan, or NULL as that
 * does.
 */
static __always_inline struct argtrace_plan *argtrace_begin_with(struct argtrace_lane *lane,
								 struct argtrace_plan *plan,
								 const bool by_pid)
{
	if (unlikely(!plan)) {
		preempt_enable_notrace();
		return NULL;
	}
	if (unlikely(argtrace_is_filtered(lane, by_pid))) {
		argtrace_count_here(plan->counters, filtered);
		preempt_enable_notrace();
		return NULL;
	}
	return plan;
}

/*
 * Begins a call: disables preemption, which is also our RCU read-side critical section (see
 * argtrace_synchronize()), and returns the plan of the probe at `addr`. NULL if nothing is to be
 * recorded: the outcome has been counted, and preemption is enabled again.
 */
static __always_inline struct argtrace_plan *argtrace_begin_at(struct argtrace_lane *lane,
							       unsigned long addr,
							       const bool by_pid)
{
	struct argtrace_plan *plan;

	preempt_disable_notrace();
	plan = argtrace_table_lookup(rcu_dereference_raw(lane->table), addr);
	if (unlikely(!plan))
		ARGTRACE_HOOK(NO_PROBE);
	return argtrace_begin_with(lane, plan, by_pid);
}

/* The same for sources whose callbacks have one form for all kinds of sessions. */
static __always_inline struct argtrace_plan *argtrace_begin(struct argtrace_lane *lane,
							    unsigned long addr)
{
	return argtrace_begin_at(lane, addr, rcu_access_pointer(lane->pid_bits));
}

#endif
