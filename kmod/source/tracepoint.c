// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tracepoint that is passed, in whatever context: like source/entry.c this takes no locks, allocates nothing, and ends in exactly one
 * outcome of the probe.
 */
#include <linux/ptrace.h>

#include "compat.h"
#include "session.h"
#include "source/context.h"
#include "source/entry.h"
#include "source/tracepoint.h"

/*
 * The place that passes the tracepoint. Where we are not alone it is __traceiter_NAME() that calls us, and nobody knows who has
 * called that: no caller then.
 */
static unsigned long caller_of(const struct argtrace_tracepoint *place, unsigned long called_from)
{
	return called_from - place->addr < place->size ? 0 : called_from;
}

/*
 * The first argument of a tracepoint's function is its data, and is in rdi; those of the tracepoint follow. On the stack there may be
 * more, above the return address, as in any call.
 */
void argtrace_tracepoint_call(struct argtrace_tracepoint *place, u64 second, u64 third, u64 fourth, u64 fifth, u64 sixth)
{
	const unsigned long caller = caller_of(place, (unsigned long)__builtin_return_address(0));
	/* What argtrace_own_preempt_levels() compares: whether there is one more than ours. */
	const void *called_from = (const void *)(place->preemption_off ? place->lane->ops.trampoline_size : 0);
	struct argtrace_lane *lane = place->lane;
	struct pt_regs regs argtrace_uninitialized;
	const struct ftrace_regs *fregs = (const struct ftrace_regs *)&regs;
	struct argtrace_plan *plan;

	regs.di = 0;
	regs.si = second;
	regs.dx = third;
	regs.cx = fourth;
	regs.r8 = fifth;
	regs.r9 = sixth;
	regs.bp = *(const unsigned long *)__builtin_frame_address(0);
	regs.cs = 0;
	/* Where the frame pointer is saved, and the return address above it. */
	regs.sp = (unsigned long)__builtin_frame_address(0) + sizeof(unsigned long);

	preempt_disable_notrace();
	plan = argtrace_table_lookup(rcu_dereference_raw(lane->table), place->addr);
	if (unlikely(!plan)) {
		preempt_enable_notrace();
		return;
	}
	if (unlikely(argtrace_is_filtered(lane, rcu_access_pointer(lane->pid_bits)))) {
		argtrace_count_here(plan->counters, filtered);
		preempt_enable_notrace();
		return;
	}
	if (plan->code)
		argtrace_rich_call(plan, caller, &lane->ops, fregs, called_from);
	else
		argtrace_entry_record(plan, caller, &lane->ops, fregs, called_from);
}
