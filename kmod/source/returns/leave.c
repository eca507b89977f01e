// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the trampolines call when the body of a function has returned: the record, or what a program
 * makes of the call.
 */
#include <linux/math64.h>
#include <linux/sched.h>

#include "base/compat.h"
#include "program/exec.h"
#include "read/scratch.h"
#include "call/throttle.h"
#include "session.h"
#include "call/record.h"
#include "call/aggregate.h"
#include "source/returns/returns.h"
#include "source/returns/stack.h"

/*
 * The values that are kept, after the word that says which of them could not be read. NULL: there
 * are none.
 */
static const u8 *kept_values(const struct argtrace_frame *frame)
{
	const unsigned long bytes = frame->state >> ARGTRACE_FRAME_KEPT_SHIFT;

	return bytes ? (const u8 *)frame - bytes + sizeof(u64) : NULL;
}

/*
 * The time of a record that argtrace_ring_reserve() has reserved, from its lower half. The upper
 * one is the ring's, and was `high` before: should an interrupt have found the next one since, then
 * the lower half says which of them it is.
 */
static __always_inline u64 full_time(const struct argtrace_ring *ring, u32 high, u32 low)
{
	const u32 now = READ_ONCE(ring->clock_high);

	if (likely(now == high) || low < 0x80000000u)
		high = now;
	return (u64)high << 32 | low;
}

static __always_inline void write_duration(u8 *to, const struct argtrace_return *returns,
					   const struct argtrace_frame *frame, u64 now)
{
	const s64 duration = now - frame->clock;

	/* The counters of two CPUs may differ by a few ticks. */
	*(u64 *)(to + returns->duration_at) = max_t(s64, duration, 0);
}

/* The value, to the byte: other data may follow, or another record. */
static void write_value(u8 *to, const struct argtrace_return *returns,
			const struct argtrace_frame *frame)
{
	const unsigned long words[] = { frame->value, frame->high };

	if (!returns->value_at)
		return;
	to += returns->value_at;
	if (returns->value_has_length) {
		__builtin_memcpy(to, &returns->value_size, sizeof(returns->value_size));
		to += sizeof(returns->value_size);
	}
	argtrace_copy_words(to, (const u8 *)words, returns->value_size);
}

/* Any record but the outputs of a program. */
static void record_write_slow(u8 *to, struct argtrace_frame *frame, struct argtrace_ring *ring,
			      u64 now, u32 context)
{
	const struct argtrace_return *returns = frame->returns;
	struct argtrace_plan *plan = returns->plan;

	argtrace_frame_set_stack(frame);
	argtrace_record_registers(to, plan, frame->caller, argtrace_frame_regs(frame));
	write_duration(to, returns, frame, now);
	argtrace_record_header(to, plan, now, current->pid, context);
	if (plan->layout.has_rest)
		argtrace_record_rest(to, ring->format, plan, argtrace_frame_regs(frame));
	write_value(to, returns, frame);
	argtrace_encode_end(to, &plan->layout);
}

/*
 * Where a record goes for which argtrace_ring_reserve() has found no room; NULL: it is counted as
 * lost.
 */
static u8 *reserve_again(struct argtrace_plan *plan, struct argtrace_ring *ring, u32 size, u64 *now)
{
	if (argtrace_record_is_lost(plan, ring, size))
		return NULL;
	return argtrace_record_reserve(plan, ring, size, now);
}

/* The same with any clock, in any ring. */
static u8 *reserve_return(struct argtrace_plan *plan, struct argtrace_ring *ring, u32 size,
			  u64 *now)
{
	struct argtrace_ring_control *control = ring->control;
	const u32 high = READ_ONCE(ring->clock_high), tid = current->pid;
	u32 clock;
	u8 *to;

	if (!(ring->clock == ARGTRACE_CLOCK_TSC ?
		      argtrace_ring_reserve(ring, control, size, tid, ARGTRACE_CLOCK_TSC,
					    ring->flight, &clock, &to) :
		      argtrace_ring_reserve(ring, control, size, tid, ARGTRACE_CLOCK_MONOTONIC,
					    ring->flight, &clock, &to)))
		return reserve_again(plan, ring, size, now);
	*now = full_time(ring, high, clock);
	return to;
}

/* argtrace_ring_reserve() failed. */
static noinline void record_return_unreserved(struct argtrace_frame *frame,
					      struct argtrace_ring *ring)
{
	struct argtrace_plan *plan = frame->returns->plan;
	u64 now;
	u8 *to = reserve_again(plan, ring, plan->record_size, &now);

	if (unlikely(!to))
		return argtrace_record_finish(ring);
	record_write_slow(to, frame, ring, now, frame->state);
	argtrace_record_complete(plan, ring);
}

static noinline void record_return_slow(struct argtrace_frame *frame, struct argtrace_ring *ring,
					u32 context)
{
	struct argtrace_plan *plan = frame->returns->plan;
	u64 now;
	u8 *to;

	argtrace_ring_begin(ring->control);
	to = reserve_return(plan, ring, plan->record_size, &now);
	if (unlikely(!to))
		return argtrace_record_finish(ring);
	record_write_slow(to, frame, ring, now, context);
	argtrace_record_complete(plan, ring);
}

/*
 * Where a record of the call is, complete but for the outputs of the program. NULL: it is counted
 * as lost.
 */
static u8 *begin_record(struct argtrace_frame *frame, struct argtrace_ring *ring, u32 context,
			u32 size)
{
	u64 now;
	u8 *to;

	argtrace_ring_begin(ring->control);
	to = reserve_return(frame->returns->plan, ring, size, &now);
	if (likely(to))
		record_write_slow(to, frame, ring, now, context);
	return to;
}

static void end_record(struct argtrace_plan *plan, struct argtrace_ring *ring, const u8 *to)
{
	argtrace_scratch_leave();
	if (likely(to))
		argtrace_record_complete(plan, ring);
	else
		argtrace_record_finish(ring);
}

/* Writes the outputs, whose sizes are known, into a record that is complete otherwise. */
static void finish_in_place(u8 *to, struct argtrace_plan *plan, struct argtrace_ring *ring,
			    struct argtrace_run *run)
{
	u8 *outputs;

	if (likely(to)) {
		outputs = to + plan->code->unreadable_at;
		argtrace_run_return_values(run, outputs + sizeof(u64));
		__builtin_memcpy(outputs, &run->unreadable, sizeof(u64));
		if (unlikely(run->unreadable))
			argtrace_count_here(plan->counters, faults);
	}
	end_record(plan, ring, to);
}

/*
 * Others are gathered in the scratch memory first, as they are in a record from the word on that
 * says which could not be read.
 */
static void record_gathered(struct argtrace_frame *frame, struct argtrace_ring *ring, u32 context,
			    struct argtrace_run *run, u8 *scratch)
{
	struct argtrace_plan *plan = frame->returns->plan;
	const u32 length = argtrace_run_return_values(run, scratch + sizeof(u64)) - scratch;
	const u32 size = ALIGN(plan->code->unreadable_at + length, 8);
	u8 *to;

	*(u64 *)scratch = run->unreadable;
	if (run->unreadable)
		argtrace_count_here(plan->counters, faults);
	to = begin_record(frame, ring, context, size);
	if (likely(to)) {
		((struct argtrace_record *)to)->size = size;
		argtrace_copy_words(to + plan->code->unreadable_at, scratch, length);
	}
	end_record(plan, ring, to);
}

static __always_inline u64 nanoseconds_until(u64 now, const struct argtrace_frame *frame,
					     const struct argtrace_ring *ring, const u32 clock)
{
	/* The counters of two CPUs may differ by a few ticks. */
	const u64 ticks = max_t(s64, now - frame->clock, 0);

	return clock == ARGTRACE_CLOCK_TSC ?
		       mul_u64_u32_shr(ticks, ring->mult, ARGTRACE_MULT_SHIFT) :
		       ticks;
}

/* How long the call has taken until now, for the program. False: the clock cannot be read here. */
static bool set_duration(struct argtrace_frame *frame, const struct argtrace_ring *ring)
{
	u64 now;

	if (!argtrace_return_read_clock(ring->clock, &now))
		return false;
	frame->duration = nanoseconds_until(now, frame, ring, ring->clock);
	return true;
}

static enum argtrace_verdict run_return_filter(struct argtrace_run *run)
{
	const struct argtrace_op *op = run->code->return_filter;
	u64 value;

	while (!argtrace_op_ends(op) && argtrace_op_has_quick_value(op) &&
	       argtrace_op_quickly(op, run->fregs, &value))
		op = argtrace_op_test(op, value);
	return argtrace_op_ends(op) ? (unsigned long)op : argtrace_run_filter(run, op);
}

/*
 * The call has returned, of a probe with a program. What its filter, its cap and its values are
 * given is the frame, with the duration in place of the state.
 */
static noinline void run_program(struct argtrace_frame *frame, struct argtrace_ring *ring,
				 u32 context)
{
	struct argtrace_plan *plan = frame->returns->plan;
	enum argtrace_verdict verdict = ARGTRACE_VERDICT_ACCEPT;
	struct argtrace_run run argtrace_uninitialized;
	u8 *scratch;

	if (unlikely(!argtrace_scratch_enter())) {
		argtrace_count_here(plan->counters, lost[ARGTRACE_LOST_RECURSION]);
		goto out;
	}
	/* Before the duration takes the place of what says where they are. */
	run.kept = kept_values(frame);
	if (plan->code->times && unlikely(!set_duration(frame, ring))) {
		argtrace_count_here(plan->counters, lost[ARGTRACE_LOST_RECURSION]);
		goto leave;
	}
	argtrace_frame_set_stack(frame);
	run.code = plan->code;
	run.fregs = argtrace_frame_regs(frame);
	run.caller = frame->caller;
	if (plan->code->return_filter)
		verdict = run_return_filter(&run);
	if (verdict != ARGTRACE_VERDICT_ACCEPT) {
		if (verdict == ARGTRACE_VERDICT_FAULT)
			argtrace_count_here(plan->counters, faults);
		argtrace_count_here(plan->counters, filtered);
		goto leave;
	}
	if (plan->code->max_rate && !argtrace_may_record(plan->code)) {
		argtrace_count_here(plan->counters, capped);
		goto leave;
	}
	if (plan->code->outputs == ARGTRACE_OUTPUTS_NONE) {
		argtrace_scratch_leave();
		return record_return_slow(frame, ring, context);
	}
	if (argtrace_code_aggregates(plan->code)) {
		argtrace_aggregate_return(plan, &run);
		goto leave;
	}
	if (plan->code->outputs == ARGTRACE_OUTPUTS_QUICK ||
	    plan->code->outputs == ARGTRACE_OUTPUTS_FIXED)
		return finish_in_place(begin_record(frame, ring, context, plan->record_size), plan,
				       ring, &run);
	scratch = argtrace_scratch_here();
	if (likely(scratch))
		return record_gathered(frame, ring, context, &run, scratch);
	argtrace_count_here(plan->counters, lost[ARGTRACE_LOST_NO_BUFFER]);
leave:
	argtrace_scratch_leave();
out:
	preempt_enable_notrace();
}

/* Finishes the outputs that the fast loop of leave_with_outputs() could not. */
static noinline void finish_outputs(struct argtrace_frame *frame, struct argtrace_ring *ring,
				    u8 *to)
{
	struct argtrace_run run argtrace_uninitialized;

	run.kept = kept_values(frame);
	run.code = frame->returns->plan->code;
	run.fregs = argtrace_frame_regs(frame);
	run.caller = frame->caller;
	argtrace_frame_set_stack(frame);
	finish_in_place(to, frame->returns->plan, ring, &run);
}

static noinline void record_outputs_unreserved(struct argtrace_frame *frame,
					       struct argtrace_ring *ring)
{
	struct argtrace_plan *plan = frame->returns->plan;
	u64 now;
	u8 *to = reserve_again(plan, ring, plan->record_size, &now);

	if (likely(to))
		record_write_slow(to, frame, ring, now, 0);
	finish_outputs(frame, ring, to);
}

/*
 * Writes a record in plain context, complete but for the outputs of the program. False:
 * argtrace_ring_reserve() failed, and nothing is written.
 */
static __always_inline bool record_write_fast(const struct argtrace_frame *frame,
					      const struct argtrace_return *returns,
					      const struct argtrace_plan *plan,
					      struct argtrace_ring *ring,
					      struct argtrace_ring_control *control, u8 **to)
{
	const u32 high = READ_ONCE(ring->clock_high);
	u32 clock;

	argtrace_ring_begin(control);
	if (unlikely(!argtrace_ring_reserve(ring, control, plan->record_size, current->pid,
					    ARGTRACE_CLOCK_TSC, false, &clock, to)))
		return false;
	argtrace_record_registers(*to, plan, frame->caller, argtrace_frame_regs(frame));
	write_duration(*to, returns, frame, full_time(ring, high, clock));
	*(u64 *)(*to + returns->value_at) = frame->value;
	argtrace_encode_end(*to, &plan->layout);
	argtrace_record_header(*to, plan, clock, ring->last_tid, 0);
	return true;
}

/* ARGTRACE_LEAVE_OUTPUTS, in plain context. */
static noinline void leave_with_outputs(struct argtrace_frame *frame)
{
	const struct argtrace_return *returns = frame->returns;
	struct argtrace_plan *plan = returns->plan;
	struct argtrace_ring *ring = this_cpu_ptr(returns->rings);
	const u8 *kept = kept_values(frame);
	const struct argtrace_op *op;
	u64 value;
	u8 *to;

	if (unlikely(!argtrace_scratch_enter())) {
		argtrace_count_here(plan->counters, lost[ARGTRACE_LOST_RECURSION]);
		preempt_enable_notrace();
		return;
	}
	if (unlikely(!record_write_fast(frame, returns, plan, ring, ring->control, &to)))
		return record_outputs_unreserved(frame, ring);
	if (unlikely(kept && *((const u64 *)kept - 1)))
		return finish_outputs(frame, ring, to);
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
			return finish_outputs(frame, ring, to);
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

	frame->duration = nanoseconds_until(argtrace_cycles(), frame, this_cpu_ptr(returns->rings),
					    ARGTRACE_CLOCK_TSC);
	argtrace_aggregate_returned(returns->plan, argtrace_frame_regs(frame));
}

/* ARGTRACE_LEAVE_FAST, in plain context. */
static __always_inline void record_return_fast(struct argtrace_frame *frame,
					       const struct argtrace_return *returns)
{
	struct argtrace_plan *plan = returns->plan;
	struct argtrace_ring *ring = this_cpu_ptr(returns->rings);
	struct argtrace_ring_control *control = ring->control;
	u8 *to;

	if (unlikely(!record_write_fast(frame, returns, plan, ring, control, &to)))
		return record_return_unreserved(frame, ring);
	argtrace_record_complete_in(plan, ring, control);
}

/* ARGTRACE_LEAVE_FILTER, in plain context. */
static noinline void leave_with_filter(struct argtrace_frame *frame)
{
	const struct argtrace_return *returns = frame->returns;
	const struct argtrace_code *code = returns->plan->code;
	const struct argtrace_regs *fregs = argtrace_frame_regs(frame);
	const struct argtrace_op *op = code->return_filter;

	if (code->times)
		frame->duration = nanoseconds_until(argtrace_cycles(), frame,
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
	record_return_fast(frame, returns);
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
	}
	argtrace_return_leave_stack(frame);
	if (unlikely(path == ARGTRACE_LEAVE_STOPPED)) {
		if (returns != &argtrace_return_given_up)
			argtrace_count_following(returns->following, removed);
		preempt_enable_notrace();
	} else if (returns->plan->code) {
		run_program(frame, this_cpu_ptr(returns->rings), context);
	} else {
		record_return_slow(frame, this_cpu_ptr(returns->rings), context);
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
	record_return_fast(frame, returns);
}
