// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records calls with outputs of a known size: numbers, and the number of the stack. They are
 * written straight to their place.
 */
#include "program/exec.h"
#include "read/scratch.h"
#include "call/record_outputs.h"

/*
 * Completes a record that lacks only the arguments that are not plain registers, and all outputs.
 * Leaves what argtrace_scratch_enter() and argtrace_ring_begin() have entered.
 */
static noinline __noclone void
finish_outputs_in_place(struct argtrace_plan *plan, unsigned long parent_ip,
			struct argtrace_ring *ring, const struct argtrace_regs *fregs, u8 *to)
{
	struct argtrace_run run argtrace_uninitialized;

	/*
	 * The slots need not be cleared: verification has made sure that each is set before it is
	 * used.
	 */
	run.code = plan->code;
	run.fregs = fregs;
	run.caller = parent_ip;
	if (plan->layout.has_rest)
		argtrace_record_rest(to, ring->format, plan, fregs);
	argtrace_run_values(&run, argtrace_outputs_in(to, plan->code));
	argtrace_outputs_mark_unreadable(to, plan, run.unreadable);
	argtrace_scratch_leave();
	argtrace_record_complete(plan, ring);
}

/* The same for a record for which the quick path has found no room, or another clock. */
static noinline __noclone void record_in_place(struct argtrace_plan *plan, unsigned long parent_ip,
					       struct argtrace_ring *ring,
					       const struct argtrace_regs *fregs, u32 context)
{
	u32 clock;
	u8 *to = argtrace_outputs_reserve(plan, ring, plan->record_size, &clock);

	if (unlikely(!to)) {
		argtrace_scratch_leave();
		return argtrace_record_finish(ring);
	}
	argtrace_record_registers(to, plan, parent_ip, fregs);
	argtrace_record_header(to, plan, clock, current->pid, context);
	finish_outputs_in_place(plan, parent_ip, ring, fregs, to);
}

/*
 * A record that lacks the outputs, and arguments that are not plain registers, within
 * argtrace_scratch_enter() and argtrace_ring_begin(). NULL: the call has been completed.
 */
static __always_inline u8 *begin_in_place(struct argtrace_plan *plan, unsigned long parent_ip,
					  struct argtrace_ring *ring,
					  const struct argtrace_regs *fregs, const u32 context)
{
	u32 clock;
	u8 *to;

	if (unlikely(!argtrace_scratch_enter())) {
		argtrace_record_lose(plan, ARGTRACE_LOST_RECURSION);
		return NULL;
	}
	argtrace_ring_begin(ring->control);
	if (unlikely(!argtrace_ring_reserve(ring, ring->control, plan->record_size, current->pid,
					    ARGTRACE_CLOCK_TSC, false, &clock, &to))) {
		record_in_place(plan, parent_ip, ring, fregs, context);
		return NULL;
	}
	argtrace_record_registers(to, plan, parent_ip, fregs);
	argtrace_record_header(to, plan, clock, ring->last_tid, context);
	/* Otherwise the compiler would test it again. */
	if (!to)
		__builtin_unreachable();
	return to;
}

/* Any outputs of a known size, the rest of the record included. */
static __always_inline void record_fixed(struct argtrace_plan *plan, unsigned long parent_ip,
					 struct argtrace_ring *ring,
					 const struct argtrace_regs *fregs, const u32 context,
					 const bool unused)
{
	u8 *const to = begin_in_place(plan, parent_ip, ring, fregs, context);

	if (unlikely(!to))
		return;
	finish_outputs_in_place(plan, parent_ip, ring, fregs, to);
}

DEFINE_RECORD(argtrace_record_fixed, record_fixed, false)

/*
 * If nothing about the record needs special treatment, this is all there is to do. `stacks`: the
 * number of the stack may be among the outputs.
 */
static __always_inline void record_quick(struct argtrace_plan *plan, unsigned long parent_ip,
					 struct argtrace_ring *ring,
					 const struct argtrace_regs *fregs, const u32 context,
					 const bool stacks)
{
	const struct argtrace_code *code;
	const struct argtrace_op *op;
	u64 value;
	u8 *const to = begin_in_place(plan, parent_ip, ring, fregs, context);

	if (unlikely(!to))
		return;
	code = plan->code;
	*(u64 *)(to + code->unreadable_at) = 0;
	op = code->values;
	do {
		if (stacks && op->kind == ARGTRACE_OP_STACK) {
			value = argtrace_stack_of(plan->code, op, fregs);
			if (unlikely(!value))
				return finish_outputs_in_place(plan, parent_ip, ring, fregs, to);
		} else if (unlikely(!argtrace_op_quickly(op, fregs, &value))) {
			return finish_outputs_in_place(plan, parent_ip, ring, fregs, to);
		}
		value &= op->mask;
		if (likely(op->arg == sizeof(value))) {
			*(u64 *)(to + op->base) = value;
		} else {
			/*
			 * Or their common parts would be computed before the comparison, in
			 * registers.
			 */
			barrier();
			argtrace_encode_value(to + op->base, value, op->arg);
		}
		op = op->next[1];
	} while (op);
	argtrace_scratch_leave();
	argtrace_record_complete(plan, ring);
}

DEFINE_RECORD(argtrace_record_quick, record_quick, false)
DEFINE_RECORD(argtrace_record_stacks, record_quick, true)

/*
 * The same if the number of the stack is the only output and nothing else needs special treatment:
 * the call comes first.
 */
static __always_inline void record_stack_alone(struct argtrace_plan *plan, unsigned long parent_ip,
					       struct argtrace_ring *ring,
					       const struct argtrace_regs *fregs, const u32 context)
{
	u64 id;
	u32 clock;
	u8 *to;

	if (unlikely(!argtrace_scratch_enter()))
		return argtrace_record_lose(plan, ARGTRACE_LOST_RECURSION);
	id = argtrace_stack_of(plan->code, plan->code->values, fregs);
	argtrace_scratch_leave();
	argtrace_ring_begin(ring->control);
	if (unlikely(!argtrace_ring_reserve(ring, ring->control, plan->record_size, current->pid,
					    ARGTRACE_CLOCK_TSC, false, &clock, &to))) {
		to = argtrace_outputs_reserve(plan, ring, plan->record_size, &clock);
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

static noinline __noclone void
record_stack_with_context(struct argtrace_plan *plan, unsigned long parent_ip,
			  struct ftrace_ops *ops, const struct argtrace_regs *fregs,
			  const void *called_from)
{
	const u32 context = argtrace_context_word(argtrace_levels_of(ops, called_from));

	record_stack_alone(plan, parent_ip, argtrace_ring_of(ops), fregs, context);
}

noinline __noclone __noendbr void argtrace_record_stack(struct argtrace_plan *plan,
							unsigned long parent_ip,
							struct ftrace_ops *ops,
							const struct argtrace_regs *fregs,
							const void *called_from)
{
	if (plan->code->values->next[1])
		return argtrace_record_stacks(plan, parent_ip, ops, fregs, called_from);
	if (unlikely(!argtrace_context_is_plain()))
		return record_stack_with_context(plan, parent_ip, ops, fregs, called_from);
	record_stack_alone(plan, parent_ip, argtrace_ring_of(ops), fregs, 0);
}
