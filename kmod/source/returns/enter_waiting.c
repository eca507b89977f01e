// SPDX-License-Identifier: GPL-2.0-only
/* What the trampolines call before the body of a system call that waits for memory: see enter.h. */
#include "call/waiting_call.h"
#include "program/exec.h"
#include "read/absent.h"
#include "read/scratch.h"
#include "session.h"
#include "source/returns/begin.h"
#include "source/returns/enter.h"
#include "source/returns/returns.h"
#include "source/syscall.h"

static enum argtrace_verdict decide_when_present(struct argtrace_frame *frame)
{
	struct argtrace_run run argtrace_uninitialized;

	run.code = frame->returns->plan->code;
	run.fregs = argtrace_frame_regs(frame);
	run.caller = frame->caller;
	argtrace_frame_set_stack(frame);
	return argtrace_run_filter(&run, run.code->filter);
}

static void count_refused(const struct argtrace_plan *plan, enum argtrace_verdict verdict)
{
	if (verdict == ARGTRACE_VERDICT_FAULT)
		argtrace_count_here(plan->counters, faults);
	argtrace_count_here(plan->counters, filtered);
}

/* Computes what is to be kept into the scratch memory. Returns how many bytes; 0: there is none. */
static unsigned long gather(struct argtrace_frame *frame)
{
	u8 *scratch = argtrace_scratch_here();

	return likely(scratch) ? argtrace_return_gather_to(frame, scratch) : 0;
}

/*
 * Within argtrace_scratch_enter(), which is left unless bytes are to be kept: these are in the
 * scratch memory.
 */
static unsigned long enter_accepted(struct argtrace_frame *frame, unsigned long kept)
{
	const struct argtrace_plan *plan = frame->returns->plan;
	bool follow = false;

	if (unlikely(plan->code->keeps && !kept))
		argtrace_count_here(plan->counters, lost[ARGTRACE_LOST_NO_BUFFER]);
	else
		follow = argtrace_return_follow(frame, kept);
	if (follow && kept)
		return kept;
	argtrace_scratch_leave();
	preempt_enable_notrace();
	return follow ? ARGTRACE_ENTER_FOLLOW : 0;
}

unsigned long argtrace_return_enter_waiting(struct argtrace_frame *frame, bool is_decided)
{
	const struct argtrace_plan *plan = frame->returns->plan;
	enum argtrace_verdict verdict = ARGTRACE_VERDICT_ACCEPT;
	struct argtrace_wait wait = { };
	unsigned long kept = 0;

	for (;;) {
		preempt_disable_notrace();
		if (!argtrace_return_may_look(frame->returns))
			return 0;
		if (unlikely(!argtrace_scratch_enter())) {
			argtrace_count_here(plan->counters, lost[ARGTRACE_LOST_RECURSION]);
			preempt_enable_notrace();
			return 0;
		}
		argtrace_absent_reset();
		if (!is_decided)
			verdict = decide_when_present(frame);
		is_decided = verdict == ARGTRACE_VERDICT_ACCEPT;
		if (is_decided && plan->code->keeps)
			kept = gather(frame);
		wait.absent = argtrace_absent_here();
		if (!wait.absent.size || wait.is_last)
			break;
		argtrace_scratch_leave();
		preempt_enable_notrace();
		argtrace_wait_for_memory(&wait);
	}
	if (is_decided)
		return enter_accepted(frame, kept);
	count_refused(plan, verdict);
	argtrace_scratch_leave();
	preempt_enable_notrace();
	return 0;
}

/* In place of argtrace_return_enter(), of a call that the callback could not decide on. */
unsigned long argtrace_return_enter_undecided(struct argtrace_frame *frame)
{
	argtrace_return_enter_uncounted(frame->returns);
	argtrace_syscall_arguments(argtrace_frame_regs(frame), argtrace_frame_passed(frame));
	return argtrace_return_enter_waiting(frame, false);
}
