/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The first half of a callback of ftrace whose calls may go on in a trampoline, and whether they
 * may wait there. What has not been entered is counted apart from the outcomes of calls that have
 * been.
 */
#ifndef ARGTRACE_RETURN_BEGIN_H
#define ARGTRACE_RETURN_BEGIN_H

#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "arch/text.h"
#include "session.h"
#include "source/returns/stack.h"

static __always_inline void argtrace_return_filter(const struct argtrace_return *returns)
{
	argtrace_count_following(returns->following, filtered);
	preempt_enable_notrace();
}

/*
 * A call has yet to decide, and does so in a trampoline: it counts as entered. Where an ops that
 * is called after ours may redirect it, and nothing tells whether there is one, it counts as taken
 * until the trampoline has been entered. Preemption is off.
 */
static __always_inline void argtrace_return_count_undecided(const struct argtrace_return *returns)
{
	if (ARGTRACE_IS_ALWAYS_IN_LIST)
		argtrace_count_following(returns->following, taken);
	else
		argtrace_count_following(returns->following, entered);
}

/* The trampoline has been entered. */
static __always_inline void argtrace_return_enter_uncounted(const struct argtrace_return *returns)
{
	if (!ARGTRACE_IS_ALWAYS_IN_LIST)
		return;
	preempt_disable_notrace();
	argtrace_uncount_following(returns->following, taken);
	argtrace_count_following(returns->following, entered);
	preempt_enable_notrace();
}

/*
 * A look at a call that waits for memory, and counts as entered. Preemption is off. False: the call
 * ends here, as its plan has been stopped; preemption is on again.
 */
static __always_inline bool argtrace_return_may_look(struct argtrace_return *returns)
{
	/* Pairs with the release of argtrace_return_set_up(), before which the rest was set. */
	if (likely(smp_load_acquire(&returns->leave_path) != ARGTRACE_LEAVE_STOPPED))
		return true;
	argtrace_count_following(returns->following, removed);
	preempt_enable_notrace();
	return false;
}

/*
 * Whether a system call could sleep, if preemption were not off once, and has room on its stack for
 * a page fault: there are `above` bytes of the stack from `sp` on. It sleeps all the same if the
 * scheduler is about to take the CPU from it.
 */
static __always_inline bool argtrace_return_can_sleep(unsigned long sp, unsigned long above)
{
	return preempt_count() == PREEMPT_DISABLE_OFFSET && !irqs_disabled() && current->mm &&
	       argtrace_return_has_half_a_stack(sp, above);
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
