// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records calls with outputs whose size is not known beforehand: text, bytes and paths.
 */
#include "program/exec.h"
#include "read/path_walk.h"
#include "read/scratch.h"
#include "read/text.h"
#include "call/record_outputs.h"

/*
 * Records outputs that have been gathered in scratch memory, in the form that they have in a
 * record, starting with the word that says which of them could not be read: exactly that much room
 * is reserved. With any clock, in any ring. Leaves what argtrace_scratch_enter() has entered.
 */
static __always_inline void
write_gathered(struct argtrace_plan *plan, unsigned long parent_ip, struct argtrace_ring *ring,
	       const struct argtrace_regs *fregs, u32 context, const u8 *scratch, const u8 *end)
{
	const u32 size = ALIGN(plan->code->unreadable_at + (end - scratch), 8);
	u32 clock;
	u8 *to;

	argtrace_ring_begin(ring->control);
	to = argtrace_outputs_reserve(plan, ring, size, &clock);
	if (unlikely(!to)) {
		argtrace_scratch_leave();
		return argtrace_record_finish(ring);
	}
	if (unlikely(*(u64 *)scratch))
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

static noinline __noclone void
gather_and_record(struct argtrace_plan *plan, unsigned long parent_ip, struct argtrace_ring *ring,
		  const struct argtrace_regs *fregs, u32 context)
{
	struct argtrace_run run argtrace_uninitialized;
	u8 *scratch, *end;

	if (unlikely(!argtrace_scratch_enter()))
		return argtrace_record_lose(plan, ARGTRACE_LOST_RECURSION);
	scratch = argtrace_scratch_here();
	if (unlikely(!scratch)) {
		argtrace_scratch_leave();
		return argtrace_record_lose(plan, ARGTRACE_LOST_NO_BUFFER);
	}
	run.code = plan->code;
	run.fregs = fregs;
	run.caller = parent_ip;
	end = argtrace_run_values(&run, scratch + sizeof(u64));
	*(u64 *)scratch = run.unreadable;
	write_gathered(plan, parent_ip, ring, fregs, context, scratch, end);
}

void argtrace_record_gathered(struct argtrace_plan *plan, unsigned long caller,
			      struct ftrace_ops *ops, const struct argtrace_regs *fregs,
			      const void *called_from, const u8 *scratch, const u8 *end)
{
	const u32 context = argtrace_context_of(ops, called_from);

	write_gathered(plan, caller, argtrace_ring_of(ops), fregs, context, scratch, end);
}

/*
 * In place of the end of outputs: they take argtrace_run_values(), after what has been written of
 * them has been cleared.
 */
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

/* Out of line, so that paths, which are more usual, have more registers. */
static noinline long write_kernel_text(u8 *to, u64 from, u32 limit)
{
	return argtrace_write_text(to, from, limit, false);
}

/*
 * Writes text, or a path. Returns its length, or a negative error, of which only text without paths
 * has ARGTRACE_TEXT_ELSEWHERE. Without paths, the length itself is not written.
 */
static __always_inline long write_data(const struct argtrace_op *op, u64 from, u8 *to,
				       const bool paths)
{
	if (!paths)
		return argtrace_read_text_quickly(to + sizeof(u16), from, op->arg);
	if (likely(op->action == ARGTRACE_DO_PATH))
		return argtrace_write_path(to, from, op);
	return write_kernel_text(to, from, op->arg);
}

/*
 * Writes quick outputs and text to `to`, and paths if there are any: `paths`. Returns their end, or
 * WRITTEN_IN_PART, or NULL if that is all that is written which precedes a text. Calls no function
 * unless there are paths.
 */
static __always_inline u8 *write_outputs(const struct argtrace_op *op,
					 const struct argtrace_regs *fregs, u8 *to,
					 const bool paths)
{
	long length;
	u64 value;

	do {
		if (unlikely(!argtrace_op_quickly(op, fregs, &value)))
			return WRITTEN_IN_PART;
		value = (value + op->base) & op->mask;
		if ((paths && likely(op->action == ARGTRACE_DO_PATH)) ||
		    op->action == ARGTRACE_DO_STR) {
			length = write_data(op, value, to, paths);
			if (unlikely(length < 0))
				return !paths && length == ARGTRACE_TEXT_ELSEWHERE ?
					       NULL : WRITTEN_IN_PART;
			if (!paths)
				*(u16 *)to = length;
			to += sizeof(u16) + length;
		} else {
			to = argtrace_encode_value(to, value, op->arg);
		}
	} while ((op = op->next[1]));
	return assume(to);
}

/* The path of a file as the only output. */
static __always_inline u8 *write_path(const struct argtrace_op *op,
				      const struct argtrace_regs *fregs, u8 *to)
{
	u64 value;
	u8 *end;

	if (unlikely(!argtrace_op_quickly(op, fregs, &value)))
		return NULL;
	value = (value + op->base) & op->mask;
	end = argtrace_read_path_quickly(to + sizeof(u16), value, (const void *)op->next[0]);
	if (unlikely(!end))
		return WRITTEN_IN_PART;
	*(u16 *)to = end - (to + sizeof(u16));
	return end;
}

/*
 * Completes a record that ends at `last`, and for which more may have been reserved, up to position
 * `end`.
 */
static __always_inline void complete_at(struct argtrace_plan *plan, struct argtrace_ring *ring,
					u8 *to, const u8 *last, u64 end)
{
	const u32 size = ALIGN(last - to, 8);

	if (likely(argtrace_ring_give_back(ring->control, end, plan->record_size - size)))
		((struct argtrace_record *)to)->size = size;
	argtrace_scratch_leave();
	argtrace_record_complete(plan, ring);
}

/*
 * Completes a record that lacks all outputs, of which a failed attempt may have written some. The
 * caller is not among them, as that has no quick way.
 */
static noinline __noclone void finish_at(struct argtrace_plan *plan, u8 *to,
					 struct argtrace_ring *ring,
					 const struct argtrace_regs *fregs, u64 end,
					 const u8 *attempt)
{
	struct argtrace_run run argtrace_uninitialized;
	u8 *outputs = argtrace_outputs_in(to, plan->code);
	const u8 *last;

	/*
	 * What is read now may be shorter than what the attempt has written. Text that is the only
	 * output has not been begun, if it is not at an address of the kernel's.
	 */
	if (attempt == WRITTEN_IN_PART || (!attempt && plan->code->values->next[1]))
		memset(outputs, 0, to + plan->record_size - outputs);
	run.code = plan->code;
	run.fregs = fregs;
	run.caller = 0;
	last = argtrace_run_values(&run, outputs);
	argtrace_outputs_mark_unreadable(to, plan, run.unreadable);
	complete_at(plan, ring, to, last, end);
}

/* The most that the record may take does not fit the packet, or something must precede it. */
static noinline __noclone void start_over(struct argtrace_plan *plan, unsigned long parent_ip,
					  struct argtrace_ring *ring,
					  const struct argtrace_regs *fregs, u32 context)
{
	argtrace_ring_end(ring->control);
	argtrace_scratch_leave();
	gather_and_record(plan, parent_ip, ring, fregs, context);
}

/*
 * Outputs whose size is not known are written straight to their place as well, after the most that
 * they may take has been reserved. What they have not taken is given back, unless a nested writer
 * has reserved what follows: then it remains as padding.
 */
static __always_inline void
record_and_give_back(struct argtrace_plan *plan, unsigned long parent_ip,
		     struct argtrace_ring *ring, const struct argtrace_regs *fregs,
		     const u32 context, const enum argtrace_outputs outputs_kind)
{
	const struct argtrace_code *code;
	u8 *to, *outputs;
	const u8 *last;
	u32 clock;
	u64 end;

	if (unlikely(!argtrace_scratch_enter()))
		return argtrace_record_lose(plan, ARGTRACE_LOST_RECURSION);
	argtrace_ring_begin(ring->control);
	if (unlikely(!argtrace_ring_reserve_up_to(ring, ring->control, plan->record_size,
						  current->pid, ARGTRACE_CLOCK_TSC, false, &clock,
						  &to, &end)))
		return start_over(plan, parent_ip, ring, fregs, context);
	argtrace_record_registers(to, plan, parent_ip, fregs);
	argtrace_record_header(to, plan, clock, ring->last_tid, context);
	code = plan->code;
	outputs = argtrace_outputs_in(to, code);
	((u64 *)outputs)[-1] = 0;
	/* Text of user memory has no quick way. */
	if (outputs_kind == ARGTRACE_OUTPUTS_USER)
		return finish_at(plan, to, ring, fregs, end, NOT_BEGUN);
	if (outputs_kind == ARGTRACE_OUTPUTS_PATH)
		last = write_path(code->values, fregs, outputs);
	else
		last = write_outputs(code->values, fregs, outputs,
				     outputs_kind == ARGTRACE_OUTPUTS_PATHS);
	if (unlikely(!is_written(last)))
		return finish_at(plan, to, ring, fregs, end, last);
	complete_at(plan, ring, to, last, end);
}

/* Any outputs, without a quick path. */
noinline __noclone __noendbr void argtrace_record_variable(struct argtrace_plan *plan,
							   unsigned long parent_ip,
							   struct ftrace_ops *ops,
							   const struct argtrace_regs *fregs,
							   const void *called_from)
{
	const u32 context = argtrace_context_of(ops, called_from);

	gather_and_record(plan, parent_ip, argtrace_ring_of(ops), fregs, context);
}

DEFINE_RECORD(argtrace_record_text, record_and_give_back, ARGTRACE_OUTPUTS_TEXT)
DEFINE_RECORD(argtrace_record_path, record_and_give_back, ARGTRACE_OUTPUTS_PATH)
DEFINE_RECORD(argtrace_record_paths, record_and_give_back, ARGTRACE_OUTPUTS_PATHS)
DEFINE_RECORD(argtrace_record_user_text, record_and_give_back, ARGTRACE_OUTPUTS_USER)
