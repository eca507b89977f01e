// SPDX-License-Identifier: GPL-2.0-only
#include "call/context.h"
#include "call/record_call.h"
#include "call/record_forms.h"
#include "session.h"

/*
 * Records a call with interrupts or preemption off, in an interrupt, or while others trace the same
 * function. One variant for each clock and kind of ring, so that hardly any registers have to be
 * saved.
 */
#define DEFINE_RECORD_WITH_CONTEXT(name, clock, flight)						\
noinline __noendbr void name(struct argtrace_plan *plan, unsigned long parent_ip,	\
			     struct argtrace_ring *ring, const struct argtrace_regs *fregs,	\
			     unsigned int own_levels)						\
{												\
	argtrace_record_call(plan, ring, argtrace_context_word(own_levels), parent_ip, fregs,	\
			     clock, flight);							\
}

DEFINE_RECORD_WITH_CONTEXT(argtrace_record_stream_with_context_tsc, ARGTRACE_CLOCK_TSC, false)
DEFINE_RECORD_WITH_CONTEXT(argtrace_record_stream_with_context_monotonic, ARGTRACE_CLOCK_MONOTONIC,
			   false)
DEFINE_RECORD_WITH_CONTEXT(argtrace_record_flight_with_context_tsc, ARGTRACE_CLOCK_TSC, true)
DEFINE_RECORD_WITH_CONTEXT(argtrace_record_flight_with_context_monotonic, ARGTRACE_CLOCK_MONOTONIC,
			   true)

/*
 * Records a call in plain context, with the same variants, for callers other than the plain lane's
 * callbacks.
 */
#define DEFINE_RECORD_PLAIN(name, clock, flight)						\
static noinline void name(struct argtrace_plan *plan, unsigned long parent_ip,			\
			  struct argtrace_ring *ring, const struct argtrace_regs *fregs)	\
{												\
	argtrace_record_call(plan, ring, 0, parent_ip, fregs, clock, flight);		\
}

DEFINE_RECORD_PLAIN(stream_plain_tsc, ARGTRACE_CLOCK_TSC, false)
DEFINE_RECORD_PLAIN(stream_plain_monotonic, ARGTRACE_CLOCK_MONOTONIC, false)
DEFINE_RECORD_PLAIN(flight_plain_tsc, ARGTRACE_CLOCK_TSC, true)
DEFINE_RECORD_PLAIN(flight_plain_monotonic, ARGTRACE_CLOCK_MONOTONIC, true)

/*
 * A call that passed a filter, in a context that is not plain. Its parameters are those of
 * argtrace_record_match(), which has nothing to move for it.
 */
static noinline __noclone void record_match_with_context(struct argtrace_plan *plan,
							 unsigned long parent_ip,
							 struct ftrace_ops *ops,
							 const struct argtrace_regs *fregs,
							 const void *called_from)
{
	struct argtrace_lane *lane = container_of(ops, struct argtrace_lane, ops);
	struct argtrace_ring *ring = this_cpu_ptr(lane->rings);
	const unsigned int levels = argtrace_levels_of(ops, called_from);

	if (ring->flight)
		argtrace_record_with_context(plan, parent_ip, ring, fregs, levels, ring->clock,
					     true);
	else
		argtrace_record_with_context(plan, parent_ip, ring, fregs, levels, ring->clock,
					     false);
}

/*
 * Records a call that passed a filter. Out of line and with the callback's argument order, so that
 * rejected calls move and spill no registers.
 */
static __always_inline void record_match(struct argtrace_plan *plan, unsigned long parent_ip,
					 struct ftrace_ops *ops, const struct argtrace_regs *fregs,
					 const void *called_from, const bool flight)
{
	struct argtrace_lane *lane = container_of(ops, struct argtrace_lane, ops);
	struct argtrace_ring *ring = this_cpu_ptr(lane->rings);

	if (unlikely(!argtrace_context_is_plain()))
		record_match_with_context(plan, parent_ip, ops, fregs, called_from);
	else if (ring->clock != ARGTRACE_CLOCK_TSC && flight)
		flight_plain_monotonic(plan, parent_ip, ring, fregs);
	else if (ring->clock != ARGTRACE_CLOCK_TSC)
		stream_plain_monotonic(plan, parent_ip, ring, fregs);
	else if (flight)
		flight_plain_tsc(plan, parent_ip, ring, fregs);
	else
		stream_plain_tsc(plan, parent_ip, ring, fregs);
}

__noendbr void argtrace_record_match_in_stream(struct argtrace_plan *plan, unsigned long parent_ip,
					       struct ftrace_ops *ops,
					       const struct argtrace_regs *fregs,
					       const void *called_from)
{
	record_match(plan, parent_ip, ops, fregs, called_from, false);
}

__noendbr void argtrace_record_match_in_flight(struct argtrace_plan *plan, unsigned long parent_ip,
					       struct ftrace_ops *ops,
					       const struct argtrace_regs *fregs,
					       const void *called_from)
{
	record_match(plan, parent_ip, ops, fregs, called_from, true);
}

void argtrace_record_match(struct argtrace_plan *plan, unsigned long parent_ip,
			   struct ftrace_ops *ops, const struct argtrace_regs *fregs,
			   const void *called_from)
{
	if (this_cpu_ptr(container_of(ops, struct argtrace_lane, ops)->rings)->flight)
		record_match(plan, parent_ip, ops, fregs, called_from, true);
	else
		record_match(plan, parent_ip, ops, fregs, called_from, false);
}
