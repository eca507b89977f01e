// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hit of a breakpoint in user code: in the task that executes it, on its way back to user mode.
 * It ends in exactly one outcome of the probe. Unlike other calls it may sleep before it is looked
 * at, and so can bring in memory that the program wants and that is not present.
 */
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "arch/regs.h"
#include "base/compat.h"
#include "base/uprobes.h"
#include "call/begin.h"
#include "call/context.h"
#include "call/program_call.h"
#include "call/record_forms.h"
#include "call/waiting_call.h"
#include "program/exec.h"
#include "read/absent.h"
#include "read/bring_in.h"
#include "read/scratch.h"
#include "session.h"
#include "source/user.h"

static __always_inline struct argtrace_plan *begin_hit(struct argtrace_user_place *place)
{
	const bool by_pid = rcu_access_pointer(place->lane->pid_bits);
	struct argtrace_plan *plan;

	preempt_disable_notrace();
	plan = rcu_dereference_raw(place->plan);
	if (!plan || !plan->returns)
		return argtrace_begin_with(place->lane, plan, by_pid);
	if (unlikely(argtrace_is_filtered(place->lane, by_pid))) {
		argtrace_count_following(plan->returns->following, filtered);
		preempt_enable_notrace();
		return NULL;
	}
	return plan;
}

/*
 * Runs the filter of a call that is to be followed for nothing but to see whether all that it reads
 * is present. False, with preemption on again and the address, if some is not.
 */
static bool memory_is_present(const struct argtrace_plan *plan, const struct argtrace_regs *regs,
			      struct argtrace_absent *absent)
{
	struct argtrace_run run argtrace_uninitialized;

	if (!argtrace_scratch_enter())
		return true;
	run.code = plan->code;
	run.fregs = regs;
	run.caller = 0;
	argtrace_absent_reset();
	argtrace_run_filter(&run, plan->code->filter);
	*absent = argtrace_absent_here();
	argtrace_scratch_leave();
	if (likely(!absent->size))
		return true;
	preempt_enable_notrace();
	return false;
}

struct argtrace_plan *argtrace_user_begin_followed(struct argtrace_user_place *place,
						   const struct argtrace_regs *regs)
{
	struct argtrace_absent absent;
	struct argtrace_plan *plan;
	u32 i;

	for (i = 0; i < ARGTRACE_BRING_IN_MAX; i++) {
		plan = begin_hit(place);
		if (!plan || !plan->code || !plan->code->reads_user || !plan->code->filter ||
		    memory_is_present(plan, regs, &absent))
			return plan;
		if (!argtrace_bring_in(absent.addr, absent.size))
			break;
	}
	return begin_hit(place);
}

/* What reads no memory of the process. */
static __always_inline void finish_hit(struct argtrace_user_place *place,
				       struct argtrace_plan *plan, const struct argtrace_regs *regs)
{
	struct ftrace_ops *ops = &place->lane->ops;

	if (plan->code)
		argtrace_program_call(plan, 0, ops, regs, ARGTRACE_OWN_LEVELS(1));
	else
		argtrace_record_match(plan, 0, ops, regs, ARGTRACE_OWN_LEVELS(1));
}

/* What does. Between two looks at the hit the place may get another plan, or lose its own. */
static noinline int finish_waiting_hit(struct argtrace_user_place *place,
				       struct argtrace_plan *plan, const struct argtrace_regs *regs)
{
	struct argtrace_wait wait = { };

	while (plan->code && plan->code->reads_user) {
		if (argtrace_waiting_call(plan, 0, &place->lane->ops, regs, ARGTRACE_OWN_LEVELS(1),
					  &wait))
			return 0;
		argtrace_wait_for_memory(&wait);
		plan = begin_hit(place);
		if (unlikely(!plan))
			return argtrace_user_unwanted(place);
	}
	finish_hit(place, plan, regs);
	return 0;
}

DEFINE_UPROBE_HANDLER(user_hit, consumer, full)
{
	struct argtrace_user_place *place =
		container_of(consumer, struct argtrace_user_point, consumer)->place;
	const struct argtrace_regs *regs = argtrace_regs_of_full(full);
	struct argtrace_plan *plan = begin_hit(place);

	if (unlikely(!plan))
		return argtrace_user_unwanted(place);
	if (plan->code && plan->code->reads_user)
		return finish_waiting_hit(place, plan, regs);
	finish_hit(place, plan, regs);
	return 0;
}

/*
 * The mm belongs to the task that it was made for, or to another of its process. What shares it
 * with another process, between vfork() and execve(), goes by that one here; each hit is looked at
 * once more for the task that has it.
 */
static bool lane_selects(const struct argtrace_lane *lane, const struct mm_struct *mm)
{
	const unsigned long *bits;
	bool selected = true;
	pid_t tgid;

	rcu_read_lock();
	bits = rcu_dereference_raw(lane->pid_bits);
	tgid = bits ? argtrace_mm_tgid(mm) : -1;
	if (tgid >= 0)
		selected = argtrace_pid_bits_have(bits, tgid);
	rcu_read_unlock();
	return selected;
}

bool argtrace_user_wants(const struct argtrace_user_place *place, const struct mm_struct *mm)
{
	return (READ_ONCE(place->is_new) && mm == current->mm) || lane_selects(place->lane, mm);
}

int argtrace_user_unwanted(const struct argtrace_user_place *place)
{
	return argtrace_user_wants(place, current->mm) ? 0 : UPROBE_HANDLER_REMOVE;
}

DEFINE_UPROBE_FILTER(user_filter, consumer, mm)
{
	return argtrace_user_wants(container_of(consumer, struct argtrace_user_point,
						consumer)->place, mm);
}

void argtrace_user_consumer(struct uprobe_consumer *consumer)
{
	*consumer = (struct uprobe_consumer){ .handler = user_hit, .filter = user_filter };
}
