/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of calls with the outputs of a program, in a form for each kind of outputs (enum
 * argtrace_outputs). Preemption is off, and is enabled at the end.
 *
 * As in source/entry.c, the usual paths call no function, and end in tail calls of functions that
 * take their parameters in the callback's registers. Rare cases start over in a slower function.
 * Without ENDBR, as these functions are only jumped to.
 */
#ifndef ARGTRACE_RECORD_OUTPUTS_H
#define ARGTRACE_RECORD_OUTPUTS_H

#include <linux/build_bug.h>
#include <linux/ftrace.h>
#include <linux/sched.h>

#include "arch/text.h"
#include "program/program.h"
#include "session.h"
#include "call/context.h"
#include "call/record.h"
#include "call/record_forms.h"

#define DECLARE_RECORD(name)								\
__noendbr void name(struct argtrace_plan *plan, unsigned long parent_ip,		\
		    struct ftrace_ops *ops, const struct argtrace_regs *fregs,		\
		    const void *called_from)

/* Outputs of a known size: call/record_fixed.c. */
DECLARE_RECORD(argtrace_record_quick);		/* ARGTRACE_OUTPUTS_QUICK */
DECLARE_RECORD(argtrace_record_stack);		/* ARGTRACE_OUTPUTS_STACK */
DECLARE_RECORD(argtrace_record_stacks);	/* the same if there are other outputs */
DECLARE_RECORD(argtrace_record_fixed);

/* Outputs whose size is not known beforehand: call/record_variable.c. */
DECLARE_RECORD(argtrace_record_text);
DECLARE_RECORD(argtrace_record_path);
DECLARE_RECORD(argtrace_record_paths);
DECLARE_RECORD(argtrace_record_user_text);
DECLARE_RECORD(argtrace_record_variable);

/*
 * Records outputs of any kind that have been gathered: from argtrace_scratch_here() up to `end`
 * there is a word that says which of them could not be read, and what argtrace_run_values() has
 * written. Leaves what argtrace_scratch_enter() has entered.
 */
void argtrace_record_gathered(struct argtrace_plan *plan, unsigned long caller,
			      struct ftrace_ops *ops, const struct argtrace_regs *fregs,
			      const void *called_from, const u8 *scratch, const u8 *end);

/*
 * Records a call. The order of the cases keeps comparisons few for the usual ones, and one
 * comparison tells kinds apart that are neighbours.
 */
static __always_inline void argtrace_record_outputs(struct argtrace_plan *plan,
						    unsigned long parent_ip, struct ftrace_ops *ops,
						    const struct argtrace_regs *fregs,
						    const void *called_from)
{
	const u8 outputs = plan->code->outputs;

	static_assert(ARGTRACE_OUTPUTS_NONE == 0 && ARGTRACE_OUTPUTS_QUICK == 1 &&
		      ARGTRACE_OUTPUTS_PATH == 2 && ARGTRACE_OUTPUTS_TEXT == 3);
	if (outputs == ARGTRACE_OUTPUTS_QUICK)
		argtrace_record_quick(plan, parent_ip, ops, fregs, called_from);
	else if (outputs < ARGTRACE_OUTPUTS_QUICK)
		argtrace_record_match(plan, parent_ip, ops, fregs, called_from);
	else if (outputs == ARGTRACE_OUTPUTS_TEXT)
		argtrace_record_text(plan, parent_ip, ops, fregs, called_from);
	else if (outputs < ARGTRACE_OUTPUTS_TEXT)
		argtrace_record_path(plan, parent_ip, ops, fregs, called_from);
	else if (outputs == ARGTRACE_OUTPUTS_PATHS)
		argtrace_record_paths(plan, parent_ip, ops, fregs, called_from);
	else if (outputs == ARGTRACE_OUTPUTS_STACK)
		argtrace_record_stack(plan, parent_ip, ops, fregs, called_from);
	else if (outputs == ARGTRACE_OUTPUTS_USER)
		argtrace_record_user_text(plan, parent_ip, ops, fregs, called_from);
	else if (outputs == ARGTRACE_OUTPUTS_FIXED)
		argtrace_record_fixed(plan, parent_ip, ops, fregs, called_from);
	else
		argtrace_record_variable(plan, parent_ip, ops, fregs, called_from);
}

/* The parts that the forms share. */

static __always_inline struct argtrace_ring *argtrace_ring_of(struct ftrace_ops *ops)
{
	return this_cpu_ptr(container_of(ops, struct argtrace_lane, ops)->rings);
}

static __always_inline u32 argtrace_context_of(struct ftrace_ops *ops, const void *called_from)
{
	return likely(argtrace_context_is_plain()) ? 0 :
		      argtrace_context_word(argtrace_levels_of(ops, called_from));
}

/*
 * Reserves room for the call's record, with any clock, in any ring, between argtrace_ring_begin()
 * and argtrace_record_finish(). NULL if it was counted as lost.
 */
static __always_inline u8 *argtrace_outputs_reserve(struct argtrace_plan *plan,
						    struct argtrace_ring *ring, u32 size,
						    u32 *clock)
{
	struct argtrace_ring_control *control = ring->control;
	const u32 tid = current->pid;
	u64 full_clock;
	u8 *to;

	if (ring->clock == ARGTRACE_CLOCK_TSC ?
		    argtrace_ring_reserve(ring, control, size, tid, ARGTRACE_CLOCK_TSC,
					  ring->flight, clock, &to) :
		    argtrace_ring_reserve(ring, control, size, tid, ARGTRACE_CLOCK_MONOTONIC,
					  ring->flight, clock, &to))
		return to;
	if (argtrace_record_is_lost(plan, ring, size))
		return NULL;
	to = argtrace_record_reserve(plan, ring, size, &full_clock);
	*clock = full_clock;
	return to;
}

static __always_inline u8 *argtrace_outputs_in(u8 *record, const struct argtrace_code *code)
{
	return record + code->unreadable_at + sizeof(u64);
}

/*
 * Writes which outputs could not be read, after the registers, which may be written to the same
 * place first.
 */
static __always_inline void argtrace_outputs_mark_unreadable(u8 *record,
							     struct argtrace_plan *plan,
							     u64 unreadable)
{
	__builtin_memcpy(record + plan->code->unreadable_at, &unreadable, sizeof(unreadable));
	if (unlikely(unreadable))
		argtrace_count_here(plan->counters, faults);
}

/*
 * Defines the form of one kind of outputs. Variants as in source/entry.c, so that hardly any
 * registers have to be saved. No stack protector: there is no array that could overflow.
 */
#define DEFINE_RECORD(name, writer, what)							\
static noinline __noclone __no_stack_protector							\
void name##_with_context(struct argtrace_plan *plan, unsigned long parent_ip,			\
			 struct ftrace_ops *ops, const struct argtrace_regs *fregs,		\
			 const void *called_from)						\
{												\
	const u32 context = argtrace_context_word(argtrace_levels_of(ops, called_from));	\
												\
	writer(plan, parent_ip, argtrace_ring_of(ops), fregs, context, what);			\
}												\
												\
noinline __noclone __no_stack_protector __noendbr						\
void name(struct argtrace_plan *plan, unsigned long parent_ip, struct ftrace_ops *ops,		\
	  const struct argtrace_regs *fregs, const void *called_from)				\
{												\
	if (unlikely(!argtrace_context_is_plain()))						\
		return name##_with_context(plan, parent_ip, ops, fregs, called_from);		\
	writer(plan, parent_ip, argtrace_ring_of(ops), fregs, 0, what);				\
}

#endif
