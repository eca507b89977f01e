// SPDX-License-Identifier: GPL-2.0-only
/* The slow path of leave.c: any clock, ring, context and program. */
#include <linux/sched.h>

#include "base/compat.h"
#include "program/exec.h"
#include "read/scratch.h"
#include "call/throttle.h"
#include "session.h"
#include "call/aggregate.h"
#include "source/returns/write.h"

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
	argtrace_return_write_duration(to, returns, frame, now);
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
	*now = argtrace_return_full_time(ring, high, clock);
	return to;
}

/* argtrace_ring_reserve() failed. */
noinline void argtrace_return_record_unreserved(struct argtrace_frame *frame,
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

/*
 * Where a record of the call is, complete but for the outputs of the program. NULL: it is counted
 * as lost.
 */
static u8 *begin_record(struct argtrace_frame *frame, struct argtrace_ring *ring, u32 context,
			u32 size)
{
	const struct argtrace_return *returns = frame->returns;
	u64 now;
	u8 *to;

	if (likely(returns->is_narrow && !context)) {
		if (likely(argtrace_return_write_fast(frame, returns, returns->plan, ring,
						      ring->control, size, true, &to)))
			return to;
		to = reserve_again(returns->plan, ring, size, &now);
	} else {
		argtrace_ring_begin(ring->control);
		to = reserve_return(returns->plan, ring, size, &now);
	}
	if (likely(to))
		record_write_slow(to, frame, ring, now, context);
	return to;
}

noinline void argtrace_return_record_slow(struct argtrace_frame *frame, struct argtrace_ring *ring,
					  u32 context)
{
	struct argtrace_plan *plan = frame->returns->plan;

	if (likely(begin_record(frame, ring, context, plan->record_size)))
		argtrace_record_complete(plan, ring);
	else
		argtrace_record_finish(ring);
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

/*
 * Whether the values are in the record as they were kept: all of them are kept, could be read, and
 * begin where words do, so that the record has no more of these than it would have otherwise.
 */
static bool are_as_kept(const struct argtrace_code *code, const u8 *values)
{
	return code->keeps_all && IS_ALIGNED(code->unreadable_at, sizeof(u64)) &&
	       likely(!((const u64 *)values)[-1]);
}

static void record_kept(struct argtrace_frame *frame, struct argtrace_ring *ring, u32 context,
			const u8 *values)
{
	struct argtrace_plan *plan = frame->returns->plan;
	const u8 *kept = values - sizeof(u64);
	const u32 length = (const u8 *)frame - kept;
	const u32 size = plan->code->unreadable_at + length;
	u8 *const to = begin_record(frame, ring, context, size);

	if (likely(to)) {
		((struct argtrace_record *)to)->size = size;
		argtrace_copy_words(to + plan->code->unreadable_at, kept, length);
	}
	end_record(plan, ring, to);
}

/* How long the call has taken until now, for the program. False: the clock cannot be read here. */
static bool set_duration(struct argtrace_frame *frame, const struct argtrace_ring *ring)
{
	u64 now;

	if (!argtrace_return_read_clock(ring->clock, &now))
		return false;
	frame->duration = argtrace_return_nanoseconds(now, frame, ring, ring->clock);
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
noinline void argtrace_return_run_program(struct argtrace_frame *frame, struct argtrace_ring *ring,
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
	run.kept = argtrace_return_kept_values(frame);
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
		return argtrace_return_record_slow(frame, ring, context);
	}
	if (argtrace_code_aggregates(plan->code)) {
		argtrace_aggregate_return(plan, &run);
		goto leave;
	}
	if (plan->code->outputs == ARGTRACE_OUTPUTS_QUICK ||
	    plan->code->outputs == ARGTRACE_OUTPUTS_FIXED)
		return finish_in_place(begin_record(frame, ring, context, plan->record_size), plan,
				       ring, &run);
	if (are_as_kept(plan->code, run.kept))
		return record_kept(frame, ring, context, run.kept);
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
noinline void argtrace_return_finish_outputs(struct argtrace_frame *frame,
					     struct argtrace_ring *ring, u8 *to)
{
	struct argtrace_run run argtrace_uninitialized;

	run.kept = argtrace_return_kept_values(frame);
	run.code = frame->returns->plan->code;
	run.fregs = argtrace_frame_regs(frame);
	run.caller = frame->caller;
	argtrace_frame_set_stack(frame);
	finish_in_place(to, frame->returns->plan, ring, &run);
}

noinline void argtrace_return_outputs_unreserved(struct argtrace_frame *frame,
						 struct argtrace_ring *ring)
{
	struct argtrace_plan *plan = frame->returns->plan;
	u64 now;
	u8 *to = reserve_again(plan, ring, plan->record_size, &now);

	if (likely(to))
		record_write_slow(to, frame, ring, now, 0);
	argtrace_return_finish_outputs(frame, ring, to);
}

static noinline void record_left(struct argtrace_frame *frame, u32 context)
{
	struct argtrace_plan *plan = frame->returns->plan;
	struct argtrace_ring *ring = this_cpu_ptr(frame->returns->rings);
	struct argtrace_run run argtrace_uninitialized;
	u32 length = 0, size = plan->record_size;
	u8 *scratch = NULL, *to;

	if (plan->code && plan->code->outputs != ARGTRACE_OUTPUTS_NONE) {
		scratch = argtrace_scratch_here();
		if (unlikely(!scratch))
			return argtrace_record_lose(plan, ARGTRACE_LOST_NO_BUFFER);
		run.code = plan->code;
		run.fregs = argtrace_frame_regs(frame);
		run.caller = frame->caller;
		run.kept = argtrace_return_kept_values(frame);
		length = argtrace_run_left_values(&run, scratch + sizeof(u64)) - scratch;
		*(u64 *)scratch = run.unreadable;
		size = ALIGN(plan->code->unreadable_at + length, 8);
	}
	to = begin_record(frame, ring, context, size);
	if (unlikely(!to))
		return argtrace_record_finish(ring);
	((struct argtrace_record *)to)->size = size;
	((struct argtrace_record *)to)->id = ARGTRACE_ID_LEFT + plan->id;
	if (scratch)
		argtrace_copy_words(to + plan->code->unreadable_at, scratch, length);
	argtrace_record_complete(plan, ring);
}

/* A condition on what is returned cannot be decided, and what is aggregated cannot be known. */
static bool has_record_of_left(const struct argtrace_plan *plan)
{
	const struct argtrace_code *code = plan->code;

	return plan->id <= ARGTRACE_ID_LEFT_MAX - ARGTRACE_ID_LEFT &&
	       !(code && (code->return_filter || argtrace_code_aggregates(code)));
}

bool argtrace_return_record_left(struct argtrace_frame *frame)
{
	const struct argtrace_return *returns = frame->returns;
	struct argtrace_plan *plan = returns->plan;

	/* Pairs with the release of argtrace_return_set_up(). */
	if (smp_load_acquire(&returns->leave_path) == ARGTRACE_LEAVE_STOPPED ||
	    !has_record_of_left(plan))
		return false;
	preempt_disable_notrace();
	if (unlikely(!argtrace_scratch_enter())) {
		argtrace_record_lose(plan, ARGTRACE_LOST_RECURSION);
		return true;
	}
	if (plan->code && plan->code->max_rate && !argtrace_may_record(plan->code)) {
		argtrace_count_here(plan->counters, capped);
		preempt_enable_notrace();
	} else {
		/* What a function of Go is given lies there. */
		if (!(plan->schema->flags & ARGTRACE_PROBE_GOROUTINES)) {
			frame->value = 0;
			frame->high = 0;
		}
		record_left(frame, frame->state);
	}
	argtrace_scratch_leave();
	return true;
}
