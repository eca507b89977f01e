// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the trampolines call when the body of a function has returned: the record, or what a program
 * makes of the call. The fast paths are here; they take plain context, the TSC and values that are
 * words. The slow path is in leave_slow.c.
 */
#include <linux/sched.h>

#include "base/compat.h"
#include "program/exec.h"
#include "read/scratch.h"
#include "session.h"
#include "call/aggregate.h"
#include "source/returns/leave.h"
#include "source/returns/stack.h"
#include "source/returns/write.h"

/* ARGTRACE_LEAVE_OUTPUTS, in plain context. */
static noinline void leave_with_outputs(struct argtrace_frame *frame)
{
	const struct argtrace_return *returns = frame->returns;
	struct argtrace_plan *plan = returns->plan;
	struct argtrace_ring *ring = this_cpu_ptr(returns->rings);
	const u8 *kept = argtrace_return_kept_values(frame);
	const struct argtrace_op *op;
	u64 value;
	u8 *to;

	if (unlikely(!argtrace_scratch_enter())) {
		argtrace_count_here(plan->counters, lost[ARGTRACE_LOST_RECURSION]);
		preempt_enable_notrace();
		return;
	}
	if (unlikely(!argtrace_return_write_fast(frame, returns, plan, ring, ring->control,
						 plan->record_size, false, &to)))
		return argtrace_return_outputs_unreserved(frame, ring);
	if (unlikely(kept && *((const u64 *)kept - 1)))
		return argtrace_return_finish_outputs(frame, ring, to);
	*(u64 *)(to + plan->code->unreadable_at) = 0;
	op = plan->code->values;
	do {
		if (!(op->flags & ARGTRACE_INSN_RETURN)) {
			/*
			 * A word may be read wherever a value is: the frame is above what is kept.
			 */
			__builtin_memcpy(&value, kept, sizeof(value));
			kept += op->arg;
		} else if (unlikely(!argtrace_op_quickly(op, argtrace_frame_regs(frame), &value))) {
			return argtrace_return_finish_outputs(frame, ring, to);
		} else {
			value &= op->mask;
		}
		argtrace_encode_value(to + op->base, value, op->arg);
		op = op->next[1];
	} while (op);
	argtrace_scratch_leave();
	argtrace_record_complete(plan, ring);
}

/* ARGTRACE_LEAVE_WORDS, in plain context. */
static noinline void leave_with_words(struct argtrace_frame *frame)
{
	const struct argtrace_return *returns = frame->returns;

	frame->duration = argtrace_return_nanoseconds(argtrace_cycles(), frame,
						      this_cpu_ptr(returns->rings),
						      ARGTRACE_CLOCK_TSC);
	argtrace_aggregate_returned(returns->plan, argtrace_frame_regs(frame));
}

/* ARGTRACE_LEAVE_FAST and _NARROW, in plain context. */
static __always_inline void record_return_fast(struct argtrace_frame *frame,
					       const struct argtrace_return *returns,
					       const bool narrow)
{
	struct argtrace_plan *plan = returns->plan;
	struct argtrace_ring *ring = this_cpu_ptr(returns->rings);
	struct argtrace_ring_control *control = ring->control;
	u8 *to;

	if (unlikely(!argtrace_return_write_fast(frame, returns, plan, ring, control,
						 plan->record_size, narrow, &to)))
		return argtrace_return_record_unreserved(frame, ring);
	argtrace_record_complete_in(plan, ring, control);
}

static noinline void leave_narrow(struct argtrace_frame *frame)
{
	record_return_fast(frame, frame->returns, true);
}

/* ARGTRACE_LEAVE_FILTER and FILTER_NARROW, in plain context. */
static __always_inline void record_if_accepted(struct argtrace_frame *frame, const bool narrow)
{
	const struct argtrace_return *returns = frame->returns;
	const struct argtrace_code *code = returns->plan->code;
	const struct argtrace_regs *fregs = argtrace_frame_regs(frame);
	const struct argtrace_op *op = code->return_filter;

	if (code->times)
		frame->duration = argtrace_return_nanoseconds(argtrace_cycles(), frame,
							      this_cpu_ptr(returns->rings),
							      ARGTRACE_CLOCK_TSC);
	do {
		op = argtrace_op_test(op, op->kind == ARGTRACE_OP_REG ? argtrace_op_reg(op, fregs) :
									argtrace_op_task(op));
	} while (!argtrace_op_ends(op));
	if (op == ARGTRACE_OP_REJECT) {
		argtrace_count_here(returns->plan->counters, filtered);
		preempt_enable_notrace();
		return;
	}
	/* The duration took its place. */
	frame->state = 0;
	record_return_fast(frame, returns, narrow);
}

static noinline void leave_with_filter(struct argtrace_frame *frame)
{
	record_if_accepted(frame, false);
}

static noinline void leave_narrow_with_filter(struct argtrace_frame *frame)
{
	record_if_accepted(frame, true);
}

static noinline void leave_slow(struct argtrace_frame *frame)
{
	struct argtrace_return *returns = frame->returns;
	/* Pairs with the release of argtrace_return_set_up(). */
	const unsigned long path = smp_load_acquire(&returns->leave_path);
	const u32 context = frame->state;

	if (!(frame->state << (64 - ARGTRACE_FRAME_KEPT_SHIFT))) {
		if (path == ARGTRACE_LEAVE_OUTPUTS)
			return leave_with_outputs(frame);
		if (path == ARGTRACE_LEAVE_WORDS)
			return leave_with_words(frame);
		if (path == ARGTRACE_LEAVE_FILTER)
			return leave_with_filter(frame);
		/* No value is kept without a program. */
		if (path == ARGTRACE_LEAVE_NARROW)
			return leave_narrow(frame);
		if (path == ARGTRACE_LEAVE_FILTER_NARROW)
			return leave_narrow_with_filter(frame);
	}
	argtrace_return_leave_stack(frame);
	if (unlikely(path == ARGTRACE_LEAVE_STOPPED)) {
		if (returns != &argtrace_return_given_up)
			argtrace_count_following(returns->following, removed);
		preempt_enable_notrace();
	} else if (returns->plan->code) {
		argtrace_return_run_program(frame, this_cpu_ptr(returns->rings), context);
	} else {
		argtrace_return_record_slow(frame, this_cpu_ptr(returns->rings), context);
	}
}

/* Preemption off is our read side of RCU here too. */
void argtrace_return_leave(struct argtrace_frame *frame)
{
	const struct argtrace_return *returns = frame->returns;

	preempt_disable_notrace();
	/* Pairs with the release of argtrace_return_set_up(). */
	if (unlikely(smp_load_acquire(&returns->leave_path) | frame->state))
		return leave_slow(frame);
	record_return_fast(frame, returns, false);
}
