// SPDX-License-Identifier: GPL-2.0-only
/*
 * A system call that waits for user memory which its probe's program reads and which is not present
 * (ARGTRACE_PROBE_WAITS), and whose return is not followed. ftrace's callback cannot sleep, so it
 * has the call go on in a trampoline, as source/returns/ does: there the memory is brought in and
 * the call is recorded, and the function goes on as if it had been called by its caller. That is a
 * moment before the kernel itself would bring the memory in.
 *
 * Such a call counts as entered from the callback on, and is in flight until it has its outcome, so
 * that the plan and the module's text stay (source/returns/life.c). The lane and the rings are
 * there while the plan is not STOPPED, which is asked with preemption off at each look.
 */
#include <linux/ftrace.h>
#include <linux/preempt.h>

#include "arch/divert.h"
#include "call/context.h"
#include "call/waiting_call.h"
#include "session.h"
#include "source/returns/begin.h"
#include "source/returns/returns.h"
#include "source/syscall.h"

/* The first look is the trampoline's as well. */
static noinline void look_later(struct argtrace_return *returns, struct argtrace_regs *regs)
{
	argtrace_return_count_undecided(returns);
	WRITE_ONCE(returns->body, argtrace_body_of(regs));
	argtrace_divert(regs, returns, argtrace_return_waiting);
	preempt_enable_notrace();
}

static __always_inline void wait_callback(unsigned long ip, unsigned long parent_ip,
					  struct ftrace_ops *ops, struct ftrace_regs *fregs,
					  const bool by_pid)
{
	struct argtrace_lane *lane = container_of(ops, struct argtrace_lane, ops);
	const void *called_from = __builtin_return_address(0);
	const bool in_list = argtrace_is_called_by_list(ops, called_from);
	struct argtrace_regs *regs = argtrace_regs_of_ftrace(fregs);
	struct argtrace_regs passed argtrace_uninitialized;
	struct argtrace_wait wait = { };
	struct argtrace_return *returns;
	struct argtrace_plan *plan;

	plan = argtrace_return_begin(lane, ip, by_pid);
	if (unlikely(!plan))
		return;
	returns = plan->returns;
	wait.is_last = argtrace_is_diverted(regs, ip, in_list) ||
		       !argtrace_return_can_sleep((unsigned long)regs,
						  sizeof(*regs) + sizeof(struct argtrace_frame));
	if (ARGTRACE_IS_ALWAYS_IN_LIST && !wait.is_last)
		return look_later(returns, regs);
	/* A tracer called after us might redirect the call, which would then never be recorded. */
	wait.is_last |= in_list;
	argtrace_count_following(returns->following, entered);
	if (!argtrace_return_may_look(returns))
		return;
	argtrace_syscall_regs(&passed, regs);
	if (argtrace_waiting_call(plan, parent_ip, ops, &passed, called_from, &wait))
		return;
	WRITE_ONCE(returns->body, argtrace_body_of(regs));
	argtrace_divert(regs, returns, argtrace_return_waiting);
}

#define DEFINE_CALLBACK(name, by_pid)								\
static void name(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,		\
		 struct ftrace_regs *fregs)							\
{												\
	wait_callback(ip, parent_ip, ops, fregs, by_pid);					\
}

DEFINE_CALLBACK(waiting_syscalls, false)
DEFINE_CALLBACK(waiting_syscalls_by_pid, true)

ftrace_func_t argtrace_syscall_wait_callback(const struct argtrace_lane *lane)
{
	return rcu_access_pointer(lane->pid_bits) ? waiting_syscalls_by_pid : waiting_syscalls;
}

void argtrace_syscall_wait(struct argtrace_frame *frame)
{
	struct argtrace_return *returns = frame->returns;
	struct argtrace_regs regs argtrace_uninitialized;
	/* It was its turn before it began to wait, if it has been looked at. */
	struct argtrace_wait wait = { .is_sampled = !ARGTRACE_IS_ALWAYS_IN_LIST };

	argtrace_return_enter_uncounted(returns);
	/* The program is one for an entry, which does not find all registers in a frame. */
	argtrace_syscall_arguments(&regs, argtrace_frame_passed(frame));
	argtrace_frame_to_regs(&regs, frame);
	for (;;) {
		preempt_disable_notrace();
		if (!argtrace_return_may_look(returns))
			return;
		if (argtrace_waiting_call(returns->plan, frame->caller, &returns->lane->ops, &regs,
					  ARGTRACE_OWN_LEVELS(1), &wait))
			return;
		argtrace_wait_for_memory(&wait);
	}
}
