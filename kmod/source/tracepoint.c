// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hit of a tracepoint, in any context: like source/entry.c, this takes no locks, allocates
 * nothing, and ends in exactly one outcome of the probe.
 */

#include "arch/regs.h"
#include "base/compat.h"
#include "session.h"
#include "call/record_call.h"
#include "call/begin.h"
#include "call/context.h"
#include "call/record_forms.h"
#include "call/program_call.h"
#include "source/tracepoint.h"

/*
 * The address of the code that hit the tracepoint. If there are other probes on it,
 * __traceiter_NAME() calls us, and its caller is not known: there is no caller in that case.
 */
static __always_inline unsigned long caller_of(const struct argtrace_tracepoint *place,
					       unsigned long called_from)
{
	if (unlikely(called_from - place->addr < place->size)) {
		/* A conditional move would take longer. */
		barrier();
		return 0;
	}
	return called_from;
}

static __always_inline struct argtrace_plan *begin_pass(struct argtrace_tracepoint *place,
							const bool by_pid)
{
	preempt_disable_notrace();
	return argtrace_begin_with(place->lane, rcu_dereference_raw(place->plan), by_pid);
}

static __always_inline void record_pass(struct argtrace_tracepoint *place,
					const struct argtrace_regs *regs, unsigned long called_from,
					const u32 clock_id, const bool flight, const bool few,
					const bool whole)
{
	struct argtrace_plan *plan = begin_pass(place, false);

	if (likely(plan))
		argtrace_record_some(plan, this_cpu_ptr(place->rings),
				     argtrace_context_word_above(place->plain),
				     caller_of(place, called_from), regs, clock_id, flight, few,
				     whole);
}

/*
 * One variant for each clock and kind of ring, as in source/entry.c, and for tracepoints with up to
 * three arguments. No stack protector: there is no array that could overflow.
 */
#define DEFINE_FEW(name, clock, flight, whole)							\
static __no_stack_protector void name(struct argtrace_tracepoint *place, u64 second,		\
				      u64 third, u64 fourth)					\
{												\
	struct argtrace_regs regs argtrace_uninitialized;				\
												\
	argtrace_regs_store_few(&regs, second, third, fourth);				\
	record_pass(place, &regs, argtrace_called_from(), clock, flight, true, whole);		\
}

#define DEFINE_CALLBACK(name, clock, flight)							\
DEFINE_FEW(name##_few, clock, flight, true)							\
DEFINE_FEW(name##_few_padded, clock, flight, false)						\
												\
static __no_stack_protector void name##_many(struct argtrace_tracepoint *place,			\
					     ARGTRACE_PASSED_PARAMETERS)			\
{												\
	struct argtrace_regs regs argtrace_uninitialized;				\
												\
	argtrace_regs_store_passed(&regs);							\
	record_pass(place, &regs, argtrace_called_from(), clock, flight, false, false);		\
}

DEFINE_CALLBACK(tracepoint_stream_tsc, ARGTRACE_CLOCK_TSC, false)
DEFINE_CALLBACK(tracepoint_stream_monotonic, ARGTRACE_CLOCK_MONOTONIC, false)
DEFINE_CALLBACK(tracepoint_flight_tsc, ARGTRACE_CLOCK_TSC, true)
DEFINE_CALLBACK(tracepoint_flight_monotonic, ARGTRACE_CLOCK_MONOTONIC, true)

/*
 * For a probe with a program, which may use more than the arguments, and for any probe if there is
 * a filter by PID.
 */
static __no_stack_protector void trace_pass(struct argtrace_tracepoint *place,
					    ARGTRACE_PASSED_PARAMETERS)
{
	const unsigned long called_from = argtrace_called_from();
	struct argtrace_regs regs argtrace_uninitialized;
	struct ftrace_ops *ops = &place->lane->ops;
	struct argtrace_plan *plan;
	const void *levels;

	argtrace_regs_store_passed(&regs);
	argtrace_regs_store_caller(&regs);
	plan = begin_pass(place, rcu_access_pointer(place->lane->pid_bits));
	if (unlikely(!plan))
		return;
	levels = ARGTRACE_OWN_LEVELS(place->own_levels);
	if (plan->code)
		argtrace_program_call(plan, caller_of(place, called_from), ops,
				      &regs, levels);
	else
		argtrace_record_match(plan, caller_of(place, called_from), ops,
				      &regs, levels);
}

/* What records a call with these arguments. */
#define CALLBACK_OF(name, few, whole) \
	(!(few) ? (void *)name##_many : (whole) ? (void *)name##_few : (void *)name##_few_padded)

void *argtrace_tracepoint_callback(const struct argtrace_lane *lane,
				   const struct argtrace_plan *plan)
{
	const bool few = !plan->layout.at[0] && !plan->layout.many_registers &&
			 !plan->layout.has_rest;
	const bool whole = plan->layout.last_mask == ~0ull;

	if (plan->code || rcu_access_pointer(lane->pid_bits))
		return trace_pass;
	if (lane->session->clock == ARGTRACE_CLOCK_TSC)
		return lane->session->flight ? CALLBACK_OF(tracepoint_flight_tsc, few, whole) :
					       CALLBACK_OF(tracepoint_stream_tsc, few, whole);
	return lane->session->flight ? CALLBACK_OF(tracepoint_flight_monotonic, few, whole) :
				       CALLBACK_OF(tracepoint_stream_monotonic, few, whole);
}
