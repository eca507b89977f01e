// SPDX-License-Identifier: GPL-2.0-only
/*
 * A call in the rich lane: its probe has a program, which determines whether the call is recorded, and what is
 * recorded beyond its arguments. As in source/entry.c there are no locks and no allocation, and each call ends in
 * exactly one outcome; faults are counted in addition.
 *
 * Order: PID filter, sampling, the program's filter, the cap, the record. Memory is read within the guard of
 * read/scratch.h.
 *
 * Like the plain lane's, the usual paths call no function, and end in tail calls of functions that take their
 * parameters in the callback's registers. Rare cases start over in a slower function.
 */
#include <linux/sched.h>

#include "program/exec.h"
#include "read/path_walk.h"
#include "read/scratch.h"
#include "read/text.h"
#include "call/throttle.h"
#include "session.h"
#include "call/record.h"
#include "call/aggregate.h"
#include "call/context.h"
#include "call/record_forms.h"
#include "call/rich.h"

static __always_inline struct argtrace_ring *ring_of(struct ftrace_ops *ops)
{
	return this_cpu_ptr(container_of(ops, struct argtrace_lane, ops)->rings);
}

static __always_inline u32 context_of(struct ftrace_ops *ops, const void *called_from)
{
	return likely(argtrace_context_is_plain()) ? 0 :
		      argtrace_context_word(argtrace_own_preempt_levels(ops, called_from));
}

static noinline __noclone void lose(struct argtrace_plan *plan, enum argtrace_lost cause)
{
	argtrace_count_here(plan->counters, lost[cause]);
	preempt_enable_notrace();
}

/* Reserves room for the call's record, between argtrace_ring_begin() and argtrace_record_finish(). NULL if it was counted as lost. */
static __always_inline u8 *reserve_rich(struct argtrace_plan *plan, struct argtrace_ring *ring, u32 size, u32 *clock)
{
	struct argtrace_ring_control *control = ring->control;
	const u32 tid = current->pid;
	u64 full_clock;
	u8 *to;

	if (ring->clock == ARGTRACE_CLOCK_TSC ?
		    argtrace_ring_reserve(ring, control, size, tid, ARGTRACE_CLOCK_TSC, ring->flight, clock, &to) :
		    argtrace_ring_reserve(ring, control, size, tid, ARGTRACE_CLOCK_MONOTONIC, ring->flight, clock, &to))
		return to;
	if (argtrace_record_is_lost(plan, ring, size))
		return NULL;
	to = argtrace_record_reserve(plan, ring, size, &full_clock);
	*clock = full_clock;
	return to;
}

/* Writes which outputs could not be read, after the registers, which may be written to the same place first. */
static __always_inline void write_unreadable(u8 *to, struct argtrace_plan *plan, u64 unreadable)
{
	__builtin_memcpy(to + plan->code->unreadable_at, &unreadable, sizeof(unreadable));
	if (unlikely(unreadable))
		argtrace_count_here(plan->counters, faults);
}

static __always_inline u8 *outputs_of(u8 *to, const struct argtrace_code *code)
{
	return to + code->unreadable_at + sizeof(u64);
}

/*
 * Completes a record that lacks only the arguments that are not plain registers, and all outputs. Leaves what
 * argtrace_scratch_enter() and argtrace_ring_begin() have entered.
 */
static noinline __noclone void finish_rich_in_place(struct argtrace_plan *plan, unsigned long parent_ip, struct argtrace_ring *ring,
				     const struct argtrace_regs *fregs, u8 *to)
{
	struct argtrace_run run argtrace_uninitialized;

	/* The slots need not be cleared: verification has made sure that each is set before it is used. */
	run.code = plan->code;
	run.fregs = fregs;
	run.caller = parent_ip;
	if (plan->layout.has_rest)
		argtrace_record_rest(to, ring->format, plan, fregs);
	argtrace_run_values(&run, outputs_of(to, plan->code));
	write_unreadable(to, plan, run.unreadable);
	argtrace_scratch_leave();
	argtrace_record_complete(plan, ring);
}

/* The same for a record for which the quick path has found no room, or another clock. */
static noinline __noclone void record_in_place(struct argtrace_plan *plan, unsigned long parent_ip, struct argtrace_ring *ring,
				     const struct argtrace_regs *fregs, u32 context)
{
	u32 clock;
	u8 *to = reserve_rich(plan, ring, plan->record_size, &clock);

	if (unlikely(!to)) {
		argtrace_scratch_leave();
		return argtrace_record_finish(ring);
	}
	argtrace_record_registers(to, plan, parent_ip, fregs);
	argtrace_record_header(to, plan, clock, current->pid, context);
	finish_rich_in_place(plan, parent_ip, ring, fregs, to);
}

/* Records outputs of a known size, with any clock, in any ring. */
static noinline __noclone void record_fixed(struct argtrace_plan *plan, unsigned long parent_ip, struct argtrace_ring *ring,
				  const struct argtrace_regs *fregs, u32 context)
{
	if (unlikely(!argtrace_scratch_enter()))
		return lose(plan, ARGTRACE_LOST_RECURSION);
	argtrace_ring_begin(ring->control);
	record_in_place(plan, parent_ip, ring, fregs, context);
}

/*
 * Records any outputs, with any clock, in any ring. If the size is not known, the outputs are first gathered in scratch memory, in the
 * form that they have in a record, starting with the word that says which of them could not be read. Then exactly that much room is
 * reserved.
 */
static noinline __noclone void record_variable(struct argtrace_plan *plan, unsigned long parent_ip, struct argtrace_ring *ring,
					       const struct argtrace_regs *fregs, u32 context)
{
	struct argtrace_run run argtrace_uninitialized;
	u8 *scratch, *end, *to;
	u32 clock, size;

	if (unlikely(!argtrace_scratch_enter()))
		return lose(plan, ARGTRACE_LOST_RECURSION);
	scratch = argtrace_scratch_here();
	if (unlikely(!scratch)) {
		argtrace_scratch_leave();
		return lose(plan, ARGTRACE_LOST_NO_BUFFER);
	}
	run.code = plan->code;
	run.fregs = fregs;
	run.caller = parent_ip;
	end = argtrace_run_values(&run, scratch + sizeof(u64));
	*(u64 *)scratch = run.unreadable;
	size = ALIGN(plan->code->unreadable_at + (end - scratch), 8);
	argtrace_ring_begin(ring->control);
	to = reserve_rich(plan, ring, size, &clock);
	if (unlikely(!to)) {
		argtrace_scratch_leave();
		return argtrace_record_finish(ring);
	}
	if (unlikely(run.unreadable))
		argtrace_count_here(plan->counters, faults);
	argtrace_record_registers(to, plan, parent_ip, fregs);
	argtrace_record_header(to, plan, clock, current->pid, context);
	((struct argtrace_record *)to)->size = size;
	memcpy(to + plan->code->unreadable_at, scratch, end - scratch);
	if (plan->layout.has_rest)
		argtrace_record_rest(to, ring->format, plan, fregs);
	argtrace_scratch_leave();
	argtrace_record_complete(plan, ring);
}

/* Outputs without a quick path. */
static noinline __noclone void record_rich_with_care(struct argtrace_plan *plan, unsigned long parent_ip, struct ftrace_ops *ops,
						     const struct argtrace_regs *fregs, const void *called_from)
{
	const u32 context = context_of(ops, called_from);
	struct argtrace_ring *ring = ring_of(ops);

	if (plan->code->outputs == ARGTRACE_OUTPUTS_FIXED)
		record_fixed(plan, parent_ip, ring, fregs, context);
	else
		record_variable(plan, parent_ip, ring, fregs, context);
}

/*
 * Outputs of a known size are written straight to their place. If nothing about the record needs special treatment,
 * this is all there is to do. `stacks`: the number of the stack may be among them.
 */
static __always_inline void record_quick(struct argtrace_plan *plan, unsigned long parent_ip, struct argtrace_ring *ring,
					 const struct argtrace_regs *fregs, const u32 context, const bool stacks)
{
	const struct argtrace_code *code;
	const struct argtrace_op *op;
	u64 value;
	u32 clock;
	u8 *to;

	if (unlikely(!argtrace_scratch_enter()))
		return lose(plan, ARGTRACE_LOST_RECURSION);
	argtrace_ring_begin(ring->control);
	if (unlikely(!argtrace_ring_reserve(ring, ring->control, plan->record_size, current->pid, ARGTRACE_CLOCK_TSC,
					    false, &clock, &to)))
		return record_in_place(plan, parent_ip, ring, fregs, context);
	argtrace_record_registers(to, plan, parent_ip, fregs);
	argtrace_record_header(to, plan, clock, ring->last_tid, context);
	code = plan->code;
	*(u64 *)(to + code->unreadable_at) = 0;
	op = code->values;
	do {
		if (stacks && op->kind == ARGTRACE_OP_STACK) {
			value = argtrace_stack_of(plan->code, op, fregs);
			if (unlikely(!value))
				return finish_rich_in_place(plan, parent_ip, ring, fregs, to);
		} else if (unlikely(!argtrace_op_quickly(op, fregs, &value))) {
			return finish_rich_in_place(plan, parent_ip, ring, fregs, to);
		}
		value &= op->mask;
		if (likely(op->arg == sizeof(value))) {
			*(u64 *)(to + op->base) = value;
		} else {
			/* Or their common parts would be computed before the comparison, in registers. */
			barrier();
			argtrace_encode_value(to + op->base, value, op->arg);
		}
		op = op->next[1];
	} while (op);
	argtrace_scratch_leave();
	argtrace_record_complete(plan, ring);
}

/* In place of the end of outputs: they take argtrace_run_values(), after what has been written of them has been cleared. */
#define WRITTEN_IN_PART	((u8 *)1ul)
#define is_written(end)	likely((unsigned long)(end) > (unsigned long)WRITTEN_IN_PART)
/* None has been tried. */
#define NOT_BEGUN	((u8 *)2ul)

/* Tells the compiler that it is the end of outputs, which saves a test where it is used. */
static __always_inline u8 *assume(u8 *to)
{
	if (!is_written(to))
		__builtin_unreachable();
	return to;
}

/*
 * Writes quick outputs and text to `to`. Returns their end, or WRITTEN_IN_PART, or NULL if that is all that is written which precedes a
 * text. Calls no function.
 */
static __always_inline u8 *write_text(const struct argtrace_op *op, const struct argtrace_regs *fregs, u8 *to)
{
	long length;
	u64 value;

	do {
		if (unlikely(!argtrace_op_quickly(op, fregs, &value)))
			return WRITTEN_IN_PART;
		value = (value + op->base) & op->mask;
		if (op->action == ARGTRACE_DO_STR) {
			length = argtrace_read_text_quickly(to + sizeof(u16), value, op->arg);
			if (unlikely(length < 0))
				return length == ARGTRACE_TEXT_ELSEWHERE ? NULL : WRITTEN_IN_PART;
			*(u16 *)to = length;
			to += sizeof(u16) + length;
		} else {
			to = argtrace_encode_value(to, value, op->arg);
		}
	} while ((op = op->next[1]));
	return assume(to);
}

/* Writes kernel text as in a record, beginning with its length. Returns the number of bytes, or a negative error. */
static noinline long put_record_text(u8 *to, u64 from, u32 limit)
{
	bool cut;
	const int length = argtrace_read_text(to + sizeof(u16), from, limit, false, &cut);

	*(u16 *)to = length | (cut ? ARGTRACE_TEXT_CUT : 0);
	return length;
}

/* The same for a path. */
static __always_inline long put_record_path(u8 *to, u64 from, const struct argtrace_op *op)
{
	const int length = argtrace_read_path_of(to + sizeof(u16), from, op);

	*(u16 *)to = length;
	return length;
}

/* Quick outputs, text and paths. */
static __always_inline u8 *write_paths(const struct argtrace_op *op, const struct argtrace_regs *fregs, u8 *to)
{
	long length;
	u64 value;

	do {
		if (unlikely(!argtrace_op_quickly(op, fregs, &value)))
			return WRITTEN_IN_PART;
		value = (value + op->base) & op->mask;
		if (likely(op->action == ARGTRACE_DO_PATH)) {
			length = put_record_path(to, value, op);
		} else if (op->action == ARGTRACE_DO_STR) {
			length = put_record_text(to, value, op->arg);
		} else {
			to = argtrace_encode_value(to, value, op->arg);
			continue;
		}
		if (unlikely(length < 0))
			return WRITTEN_IN_PART;
		to += sizeof(u16) + length;
	} while ((op = op->next[1]));
	return assume(to);
}

/* The path of a file as the only output. */
static __always_inline u8 *write_path(const struct argtrace_op *op, const struct argtrace_regs *fregs, u8 *to)
{
	u64 value;
	u8 *end;

	if (unlikely(!argtrace_op_quickly(op, fregs, &value)))
		return NULL;
	end = argtrace_read_path_quickly(to + sizeof(u16), (value + op->base) & op->mask, (const void *)op->next[0]);
	if (unlikely(!end))
		return WRITTEN_IN_PART;
	*(u16 *)to = end - (to + sizeof(u16));
	return end;
}

/* Completes a record that ends at `last`, and for which more may have been reserved, up to position `end`. */
static __always_inline void complete_at(struct argtrace_plan *plan, struct argtrace_ring *ring, u8 *to, const u8 *last, u64 end)
{
	const u32 size = ALIGN(last - to, 8);

	if (likely(argtrace_ring_give_back(ring->control, end, plan->record_size - size)))
		((struct argtrace_record *)to)->size = size;
	argtrace_scratch_leave();
	argtrace_record_complete(plan, ring);
}

/*
 * Completes a record that lacks all outputs, of which a failed attempt may have written some. The caller is not among them, as that has
 * no quick way.
 */
static noinline __noclone void finish_at(struct argtrace_plan *plan, u8 *to, struct argtrace_ring *ring,
					 const struct argtrace_regs *fregs, u64 end, const u8 *attempt)
{
	struct argtrace_run run argtrace_uninitialized;
	u8 *outputs = outputs_of(to, plan->code);
	const u8 *last;

	/*
	 * What is read now may be shorter than what the attempt has written. Text that is the only output has not been begun, if it is not
	 * at an address of the kernel's.
	 */
	if (attempt == WRITTEN_IN_PART || (!attempt && plan->code->values->next[1]))
		memset(outputs, 0, to + plan->record_size - outputs);
	run.code = plan->code;
	run.fregs = fregs;
	run.caller = 0;
	last = argtrace_run_values(&run, outputs);
	write_unreadable(to, plan, run.unreadable);
	complete_at(plan, ring, to, last, end);
}

/* The most that the record may take does not fit the packet, or something must precede it. */
static noinline __noclone void start_over(struct argtrace_plan *plan, unsigned long parent_ip, struct argtrace_ring *ring,
					  const struct argtrace_regs *fregs, u32 context)
{
	argtrace_ring_end(ring->control);
	argtrace_scratch_leave();
	record_variable(plan, parent_ip, ring, fregs, context);
}

/*
 * Outputs whose size is not known are written straight to their place as well, after the most that they may take has been reserved.
 * What they have not taken is given back, unless a nested writer has reserved what follows: then it remains as padding.
 */
static __always_inline void record_and_give_back(struct argtrace_plan *plan, unsigned long parent_ip, struct argtrace_ring *ring,
						 const struct argtrace_regs *fregs, const u32 context,
						 const enum argtrace_outputs outputs_kind)
{
	const struct argtrace_code *code;
	u8 *to, *outputs;
	const u8 *last;
	u32 clock;
	u64 end;

	if (unlikely(!argtrace_scratch_enter()))
		return lose(plan, ARGTRACE_LOST_RECURSION);
	argtrace_ring_begin(ring->control);
	if (unlikely(!argtrace_ring_reserve_up_to(ring, ring->control, plan->record_size, current->pid, ARGTRACE_CLOCK_TSC, false,
						  &clock, &to, &end)))
		return start_over(plan, parent_ip, ring, fregs, context);
	argtrace_record_registers(to, plan, parent_ip, fregs);
	argtrace_record_header(to, plan, clock, ring->last_tid, context);
	code = plan->code;
	outputs = outputs_of(to, code);
	((u64 *)outputs)[-1] = 0;
	/* Text of user memory has no quick way. */
	if (outputs_kind == ARGTRACE_OUTPUTS_USER)
		return finish_at(plan, to, ring, fregs, end, NOT_BEGUN);
	last = outputs_kind == ARGTRACE_OUTPUTS_PATH  ? write_path(code->values, fregs, outputs) :
	       outputs_kind == ARGTRACE_OUTPUTS_PATHS ? write_paths(code->values, fregs, outputs) :
							write_text(code->values, fregs, outputs);
	if (unlikely(!is_written(last)))
		return finish_at(plan, to, ring, fregs, end, last);
	complete_at(plan, ring, to, last, end);
}

/*
 * One of each. Variants as in source/entry.c, so that hardly any registers have to be saved. No stack protector: there is no array that
 * could overflow.
 */
#define DEFINE_RECORD(name, writer, what)							\
static noinline __noclone __no_stack_protector void name##_with_context(struct argtrace_plan *plan, \
									unsigned long parent_ip, \
									struct argtrace_ring *ring, \
									const struct argtrace_regs *fregs, \
									unsigned int own_levels) \
{												\
	writer(plan, parent_ip, ring, fregs, argtrace_context_word(own_levels), what);		\
}												\
												\
static noinline __noclone __no_stack_protector void name(struct argtrace_plan *plan,		\
							 unsigned long parent_ip,		\
							 struct ftrace_ops *ops,		\
							 const struct argtrace_regs *fregs,	\
							 const void *called_from)		\
{												\
	struct argtrace_ring *ring = ring_of(ops);						\
												\
	if (unlikely(!argtrace_context_is_plain()))						\
		return name##_with_context(plan, parent_ip, ring, fregs,			\
					   argtrace_own_preempt_levels(ops, called_from));	\
	writer(plan, parent_ip, ring, fregs, 0, what);						\
}

DEFINE_RECORD(record_outputs, record_quick, false)
DEFINE_RECORD(record_stacks, record_quick, true)
DEFINE_RECORD(record_text, record_and_give_back, ARGTRACE_OUTPUTS_TEXT)
DEFINE_RECORD(record_path, record_and_give_back, ARGTRACE_OUTPUTS_PATH)
DEFINE_RECORD(record_paths, record_and_give_back, ARGTRACE_OUTPUTS_PATHS)
DEFINE_RECORD(record_user_text, record_and_give_back, ARGTRACE_OUTPUTS_USER)

/* The same if the number of the stack is the only output and nothing else needs special treatment: the call comes first. */
static __always_inline void record_stack_alone(struct argtrace_plan *plan, unsigned long parent_ip, struct argtrace_ring *ring,
					       const struct argtrace_regs *fregs, const u32 context)
{
	u64 id;
	u32 clock;
	u8 *to;

	if (unlikely(!argtrace_scratch_enter()))
		return lose(plan, ARGTRACE_LOST_RECURSION);
	id = argtrace_stack_of(plan->code, plan->code->values, fregs);
	argtrace_scratch_leave();
	argtrace_ring_begin(ring->control);
	if (unlikely(!argtrace_ring_reserve(ring, ring->control, plan->record_size, current->pid, ARGTRACE_CLOCK_TSC, false,
					    &clock, &to))) {
		to = reserve_rich(plan, ring, plan->record_size, &clock);
		if (unlikely(!to))
			return argtrace_record_finish(ring);
	}
	argtrace_record_registers(to, plan, parent_ip, fregs);
	argtrace_record_header(to, plan, clock, current->pid, context);
	to += plan->code->unreadable_at;
	((u64 *)to)[0] = 0;
	((u64 *)to)[1] = id;
	if (unlikely(!id)) {
		((u64 *)to)[0] = 1;
		argtrace_count_here(plan->counters, faults);
	}
	argtrace_record_complete(plan, ring);
}

static noinline __noclone void record_stack_with_context(struct argtrace_plan *plan, unsigned long parent_ip,
							 struct argtrace_ring *ring, const struct argtrace_regs *fregs,
							 unsigned int own_levels)
{
	record_stack_alone(plan, parent_ip, ring, fregs, argtrace_context_word(own_levels));
}

static noinline __noclone void record_stack(struct argtrace_plan *plan, unsigned long parent_ip, struct ftrace_ops *ops,
					    const struct argtrace_regs *fregs, const void *called_from)
{
	struct argtrace_ring *ring = ring_of(ops);

	if (plan->code->values->next[1])
		return record_stacks(plan, parent_ip, ops, fregs, called_from);
	if (unlikely(!argtrace_context_is_plain()))
		return record_stack_with_context(plan, parent_ip, ring, fregs, argtrace_own_preempt_levels(ops, called_from));
	record_stack_alone(plan, parent_ip, ring, fregs, 0);
}

/* Records a call. The order of the cases keeps comparisons few for the usual ones. */
static __always_inline void record_rich(struct argtrace_plan *plan, unsigned long parent_ip, struct ftrace_ops *ops,
					const struct argtrace_regs *fregs, const void *called_from)
{
	const u8 outputs = plan->code->outputs;

	if (outputs == ARGTRACE_OUTPUTS_QUICK)
		record_outputs(plan, parent_ip, ops, fregs, called_from);
	else if (outputs < ARGTRACE_OUTPUTS_QUICK)
		argtrace_record_match(plan, parent_ip, ops, fregs, called_from);
	else if (outputs == ARGTRACE_OUTPUTS_TEXT)
		record_text(plan, parent_ip, ops, fregs, called_from);
	else if (outputs < ARGTRACE_OUTPUTS_TEXT)
		record_path(plan, parent_ip, ops, fregs, called_from);
	else if (outputs == ARGTRACE_OUTPUTS_PATHS)
		record_paths(plan, parent_ip, ops, fregs, called_from);
	else if (outputs == ARGTRACE_OUTPUTS_STACK)
		record_stack(plan, parent_ip, ops, fregs, called_from);
	else if (outputs == ARGTRACE_OUTPUTS_USER)
		record_user_text(plan, parent_ip, ops, fregs, called_from);
	else
		record_rich_with_care(plan, parent_ip, ops, fregs, called_from);
}

static __always_inline void count_capped(struct argtrace_plan *plan)
{
	argtrace_count_here(plan->counters, capped);
	preempt_enable_notrace();
}

/* A call that the filter has accepted, for a probe with a cap. */
static noinline __noclone void record_up_to_cap(struct argtrace_plan *plan, unsigned long parent_ip, struct ftrace_ops *ops,
				      const struct argtrace_regs *fregs, const void *called_from)
{
	if (!argtrace_may_record(plan->code))
		return count_capped(plan);
	if (argtrace_code_aggregates(plan->code))
		return argtrace_aggregate_entry(plan, parent_ip, ops, fregs);
	record_rich(plan, parent_ip, ops, fregs, called_from);
}

/* The verdict of any filter. */
static enum argtrace_verdict verdict_of(const struct argtrace_plan *plan, unsigned long parent_ip,
					const struct argtrace_regs *fregs)
{
	struct argtrace_run run argtrace_uninitialized;
	enum argtrace_verdict verdict;

	run.code = plan->code;
	run.fregs = fregs;
	run.caller = parent_ip;
	if (unlikely(!argtrace_scratch_enter()))
		return ARGTRACE_VERDICT_TOO_DEEP;
	verdict = argtrace_run_filter(&run, plan->code->filter);
	argtrace_scratch_leave();
	return verdict;
}

/* A call whose filter takes more than quick operations: starts over with the filter. */
static noinline __noclone void filter(struct argtrace_plan *plan, unsigned long parent_ip, struct ftrace_ops *ops,
			    const struct argtrace_regs *fregs, const void *called_from)
{
	switch (verdict_of(plan, parent_ip, fregs)) {
	case ARGTRACE_VERDICT_TOO_DEEP:
		return lose(plan, ARGTRACE_LOST_RECURSION);
	case ARGTRACE_VERDICT_FAULT:
		argtrace_count_here(plan->counters, faults);
		fallthrough;
	case ARGTRACE_VERDICT_REJECT:
		argtrace_count_here(plan->counters, filtered);
		preempt_enable_notrace();
		return;
	default:
		if (plan->code->max_rate)
			return record_up_to_cap(plan, parent_ip, ops, fregs, called_from);
		if (argtrace_code_aggregates(plan->code))
			return argtrace_aggregate_entry(plan, parent_ip, ops, fregs);
		record_rich(plan, parent_ip, ops, fregs, called_from);
	}
}

/* Counts a call, or adds it to a map. The order of the cases keeps comparisons few for the usual ones. */
static __always_inline void add_to_map(struct argtrace_plan *plan, const struct argtrace_op *op, unsigned long parent_ip,
				       struct ftrace_ops *ops, const struct argtrace_regs *fregs)
{
	const u8 kind = op->kind;

	if (kind == ARGTRACE_OP_ADD_LOG2)
		return argtrace_aggregate_quickly(plan, op, fregs, ARGTRACE_OP_ADD_LOG2);
	if (kind > ARGTRACE_OP_ADD_LOG2) {
		if (kind == ARGTRACE_OP_ADD_NAME_LOG2)
			return argtrace_aggregate_quickly(plan, op, fregs, ARGTRACE_OP_ADD_NAME_LOG2);
		if (kind == ARGTRACE_OP_ADD_NAME_VALUE)
			return argtrace_aggregate_quickly(plan, op, fregs, ARGTRACE_OP_ADD_NAME_VALUE);
		if (kind == ARGTRACE_OP_ADD_CONST_LOG2)
			return argtrace_aggregate_quickly(plan, op, fregs, ARGTRACE_OP_ADD_CONST_LOG2);
		if (kind == ARGTRACE_OP_ADD_STACK)
			return argtrace_aggregate_stack(plan, fregs);
		return argtrace_aggregate_entry(plan, parent_ip, ops, fregs);
	}
	if (kind == ARGTRACE_OP_ADD_TASK_INT)
		return argtrace_aggregate_quickly(plan, op, fregs, ARGTRACE_OP_ADD_TASK_INT);
	if (kind == ARGTRACE_OP_ADD_NAME)
		return argtrace_aggregate_quickly(plan, op, fregs, ARGTRACE_OP_ADD_NAME);
	if (kind == ARGTRACE_OP_COUNT)
		return argtrace_aggregate_count(plan);
	if (kind == ARGTRACE_OP_ADD_TASK)
		return argtrace_aggregate_quickly(plan, op, fregs, ARGTRACE_OP_ADD_TASK);
	argtrace_aggregate_quickly(plan, op, fregs, ARGTRACE_OP_ADD_REG);
}

static __always_inline void filter_rich_call(struct argtrace_plan *plan)
{
	argtrace_count_here(plan->counters, filtered);
	preempt_enable_notrace();
}

/*
 * A call that has passed the PID filter: runs the quick operations of its filter, and continues with the function that completes the
 * call. What the callback was called from is read from its return address only where it is needed, as rejected calls do not need it.
 */
static __always_inline void decide(struct argtrace_plan *plan, unsigned long parent_ip, struct ftrace_ops *ops,
				   const struct argtrace_regs *fregs, const void *called_from, const bool is_callback,
				   const bool aggregates)
{
	const struct argtrace_op *op;

	op = plan->start;
	if (aggregates && likely(argtrace_op_is_sink(op)))
		goto add;
	while (!argtrace_op_ends(op)) {
		if (aggregates && argtrace_op_is_sink(op))
			goto add;
		if (op->kind == ARGTRACE_OP_REG) {
			op = argtrace_op_test(op, argtrace_op_reg(op, fregs));
			continue;
		}
		if (op->kind == ARGTRACE_OP_TASK) {
			op = argtrace_op_test(op, argtrace_op_task(op));
			continue;
		}
		if (argtrace_op_is_load(op)) {
			if (unlikely(!argtrace_scratch_enter()))
				return lose(plan, ARGTRACE_LOST_RECURSION);
			op = argtrace_run_loads(op, fregs);
			argtrace_scratch_leave();
			if (argtrace_op_ends(op))
				break;
		}
		if (op->kind == ARGTRACE_OP_IDENTITY) {
			op = argtrace_op_test(op, argtrace_op_identity(op));
			continue;
		}
		if (op->kind == ARGTRACE_OP_SAMPLE) {
			if (argtrace_is_sampled(plan)) {
				op = op->next[1];
				continue;
			}
			argtrace_count_here(plan->counters, sampled);
			preempt_enable_notrace();
			return;
		}
		if (op->kind == ARGTRACE_OP_CAP) {
			if (argtrace_is_capped(plan->code))
				return count_capped(plan);
			return record_up_to_cap(plan, parent_ip, ops, fregs, is_callback ? __builtin_return_address(0) : called_from);
		}
		return filter(plan, parent_ip, ops, fregs, is_callback ? __builtin_return_address(0) : called_from);
	}
	if (!aggregates && op == ARGTRACE_OP_ACCEPT)
		return record_rich(plan, parent_ip, ops, fregs, is_callback ? __builtin_return_address(0) : called_from);
	return filter_rich_call(plan);
add:
	add_to_map(plan, op, parent_ip, ops, fregs);
}

static __always_inline void begin_rich_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
					    const struct argtrace_regs *fregs, const bool by_pid, const bool aggregates)
{
	struct argtrace_lane *lane = container_of(ops, struct argtrace_lane, ops);
	struct argtrace_plan *plan;

	preempt_disable_notrace();
	plan = argtrace_table_lookup(rcu_dereference_raw(lane->table), ip);
	if (unlikely(!plan)) {
		preempt_enable_notrace();
		return;
	}
	if (unlikely(argtrace_is_filtered(lane, by_pid)))
		return filter_rich_call(plan);
	argtrace_keep_in_place(parent_ip, ops, fregs);
	decide(plan, parent_ip, ops, fregs, NULL, true, aggregates);
}

void argtrace_rich_call(struct argtrace_plan *plan, unsigned long parent_ip, struct ftrace_ops *ops,
			const struct argtrace_regs *fregs, const void *called_from)
{
	if (argtrace_code_aggregates(plan->code))
		decide(plan, parent_ip, ops, fregs, called_from, false, true);
	else
		decide(plan, parent_ip, ops, fregs, called_from, false, false);
}

#define DEFINE_CALLBACK(name, by_pid, aggregates)						\
static void name(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,		\
		 struct ftrace_regs *fregs)							\
{												\
	begin_rich_call(ip, parent_ip, ops, argtrace_regs_of_ftrace(fregs), by_pid, aggregates);				\
}

DEFINE_CALLBACK(rich, false, false)
DEFINE_CALLBACK(rich_by_pid, true, false)
DEFINE_CALLBACK(aggregating, false, true)
DEFINE_CALLBACK(aggregating_by_pid, true, true)

ftrace_func_t argtrace_rich_callback(const struct argtrace_lane *lane)
{
	if (lane->kind == ARGTRACE_LANE_AGGREGATE)
		return rcu_access_pointer(lane->pid_bits) ? aggregating_by_pid : aggregating;
	return rcu_access_pointer(lane->pid_bits) ? rich_by_pid : rich;
}
