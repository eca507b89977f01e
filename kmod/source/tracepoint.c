// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hit of a tracepoint, in any context: like source/entry.c, this takes no locks, allocates nothing, and ends in exactly one outcome
 * of the probe.
 */
#include <linux/ptrace.h>

#include "base/compat.h"
#include "session.h"
#include "call/record_call.h"
#include "call/begin.h"
#include "call/context.h"
#include "call/record_forms.h"
#include "call/program_call.h"
#include "source/tracepoint.h"

/*
 * The address of the code that hit the tracepoint. If there are other probes on it, __traceiter_NAME() calls us, and its caller is
 * not known: there is no caller in that case.
 */
static __always_inline unsigned long caller_of(const struct argtrace_tracepoint *place, unsigned long called_from)
{
	if (unlikely(called_from - place->addr < place->size)) {
		/* A conditional move would take longer. */
		barrier();
		return 0;
	}
	return called_from;
}

static __always_inline struct argtrace_plan *begin_pass(struct argtrace_tracepoint *place, const bool by_pid)
{
	preempt_disable_notrace();
	return argtrace_begin_with(place->lane, rcu_dereference_raw(place->plan), by_pid);
}

/*
 * Has arguments leave their registers before anything else is done. The first, in rdi, is the probe's data; the tracepoint's arguments
 * follow.
 */
static __always_inline void store_few(struct pt_regs *regs, u64 second, u64 third, u64 fourth)
{
	regs->si = second;
	regs->dx = third;
	regs->cx = fourth;
	/* Not barrier_data(), which takes a register for the address. */
	asm volatile("" : "+m"(*regs));
}

/* The same for all that there may be: as in any call, more of them may be on the stack, above the return address. */
static __always_inline void store_all(struct pt_regs *regs, u64 second, u64 third, u64 fourth, u64 fifth, u64 sixth,
				      const unsigned long *frame)
{
	regs->di = 0;
	regs->r8 = fifth;
	regs->r9 = sixth;
	regs->sp = (unsigned long)&frame[1];
	store_few(regs, second, third, fourth);
}

static __always_inline void record_pass(struct argtrace_tracepoint *place, const struct pt_regs *regs, unsigned long called_from,
					const u32 clock_id, const bool flight, const bool few, const bool whole)
{
	struct argtrace_plan *plan = begin_pass(place, false);

	if (likely(plan))
		argtrace_record_some(plan, this_cpu_ptr(place->rings), argtrace_context_word_above(place->plain),
				     caller_of(place, called_from), (const struct ftrace_regs *)regs, clock_id, flight, few, whole);
}

/*
 * One variant for each clock and kind of ring, as in source/entry.c, and for tracepoints with up to three arguments. A frame consists of
 * the saved frame pointer and the return address above it. No stack protector: there is no array that could overflow.
 */
#define DEFINE_FEW(name, clock, flight, whole)							\
static __no_stack_protector void name(struct argtrace_tracepoint *place, u64 second,		\
				      u64 third, u64 fourth)					\
{												\
	const unsigned long *frame = __builtin_frame_address(0);				\
	struct pt_regs regs argtrace_uninitialized;						\
												\
	store_few(&regs, second, third, fourth);						\
	record_pass(place, &regs, frame[1], clock, flight, true, whole);				\
}

#define DEFINE_CALLBACK(name, clock, flight)							\
DEFINE_FEW(name##_few, clock, flight, true)							\
DEFINE_FEW(name##_few_padded, clock, flight, false)						\
												\
static __no_stack_protector void name##_many(struct argtrace_tracepoint *place, u64 second,	\
					     u64 third, u64 fourth, u64 fifth, u64 sixth)	\
{												\
	const unsigned long *frame = __builtin_frame_address(0);				\
	struct pt_regs regs argtrace_uninitialized;						\
												\
	store_all(&regs, second, third, fourth, fifth, sixth, frame);				\
	record_pass(place, &regs, frame[1], clock, flight, false, false);				\
}

DEFINE_CALLBACK(tracepoint_stream_tsc, ARGTRACE_CLOCK_TSC, false)
DEFINE_CALLBACK(tracepoint_stream_monotonic, ARGTRACE_CLOCK_MONOTONIC, false)
DEFINE_CALLBACK(tracepoint_flight_tsc, ARGTRACE_CLOCK_TSC, true)
DEFINE_CALLBACK(tracepoint_flight_monotonic, ARGTRACE_CLOCK_MONOTONIC, true)

/* For a probe with a program, which may use more than the arguments, and for any probe if there is a filter by PID. */
static __no_stack_protector void trace_pass(struct argtrace_tracepoint *place, u64 second, u64 third, u64 fourth, u64 fifth, u64 sixth)
{
	const unsigned long *frame = __builtin_frame_address(0);
	struct pt_regs regs argtrace_uninitialized;
	struct ftrace_ops *ops = &place->lane->ops;
	struct argtrace_plan *plan;
	const void *levels;

	store_all(&regs, second, third, fourth, fifth, sixth, frame);
	regs.bp = frame[0];
	regs.cs = 0;
	plan = begin_pass(place, rcu_access_pointer(place->lane->pid_bits));
	if (unlikely(!plan))
		return;
	levels = ARGTRACE_OWN_LEVELS(place->own_levels);
	if (plan->code)
		argtrace_program_call(plan, caller_of(place, frame[1]), ops,
				      (const struct ftrace_regs *)&regs, levels);
	else
		argtrace_record_match(plan, caller_of(place, frame[1]), ops,
				      (const struct ftrace_regs *)&regs, levels);
}

/* What records a call with these arguments. */
#define CALLBACK_OF(name, few, whole)	(!(few) ? (void *)name##_many : (whole) ? (void *)name##_few : (void *)name##_few_padded)

void *argtrace_tracepoint_callback(const struct argtrace_lane *lane, const struct argtrace_plan *plan)
{
	const bool few = !plan->layout.at[0] && !plan->layout.many_registers && !plan->layout.has_rest;
	const bool whole = plan->layout.last_mask == ~0ull;

	if (plan->code || rcu_access_pointer(lane->pid_bits))
		return trace_pass;
	if (lane->session->clock == ARGTRACE_CLOCK_TSC)
		return lane->session->flight ? CALLBACK_OF(tracepoint_flight_tsc, few, whole) : CALLBACK_OF(tracepoint_stream_tsc, few, whole);
	return lane->session->flight ? CALLBACK_OF(tracepoint_flight_monotonic, few, whole) : CALLBACK_OF(tracepoint_stream_monotonic, few, whole);
}
