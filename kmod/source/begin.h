/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_BEGIN_H
#define ARGTRACE_BEGIN_H

#include <linux/compiler.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>

#include "session.h"

/*
 * Begins a call for sources whose callbacks have one form for all kinds of sessions: disables preemption, and returns the plan of the
 * probe at `addr`. NULL if nothing is to be recorded: the outcome has been counted, and preemption is enabled again.
 */
static __always_inline struct argtrace_plan *argtrace_begin(struct argtrace_lane *lane, unsigned long addr)
{
	struct argtrace_plan *plan;

	preempt_disable_notrace();
	plan = argtrace_table_lookup(rcu_dereference_raw(lane->table), addr);
	if (unlikely(!plan)) {
		preempt_enable_notrace();
		return NULL;
	}
	if (unlikely(argtrace_is_filtered(lane, rcu_access_pointer(lane->pid_bits)))) {
		argtrace_count_here(plan->counters, filtered);
		preempt_enable_notrace();
		return NULL;
	}
	return plan;
}

#endif
