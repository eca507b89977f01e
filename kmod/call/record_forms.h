/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of calls out of line, in a form for each clock and kind of ring. Preemption is off, and
 * is enabled at the end. Without ENDBR, where they are never called through a pointer: it is an
 * instruction of each call.
 */
#ifndef ARGTRACE_RECORD_FORMS_H
#define ARGTRACE_RECORD_FORMS_H

#include <linux/ftrace.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

#include "arch/text.h"

struct argtrace_plan;
struct argtrace_regs;
struct argtrace_ring;

/* A call in any context, of whose preempt_disable() so many are ours and the kernel's tracers'. */
__noendbr void argtrace_record_stream_with_context_tsc(struct argtrace_plan *plan,
						       unsigned long parent_ip,
						       struct argtrace_ring *ring,
						       const struct argtrace_regs *fregs,
						       unsigned int own_levels);
__noendbr void argtrace_record_stream_with_context_monotonic(struct argtrace_plan *plan,
							     unsigned long parent_ip,
							     struct argtrace_ring *ring,
							     const struct argtrace_regs *fregs,
							     unsigned int own_levels);
__noendbr void argtrace_record_flight_with_context_tsc(struct argtrace_plan *plan,
						       unsigned long parent_ip,
						       struct argtrace_ring *ring,
						       const struct argtrace_regs *fregs,
						       unsigned int own_levels);
__noendbr void argtrace_record_flight_with_context_monotonic(struct argtrace_plan *plan,
							     unsigned long parent_ip,
							     struct argtrace_ring *ring,
							     const struct argtrace_regs *fregs,
							     unsigned int own_levels);

/* The same, with the clock and the kind of the ring. */
static __always_inline void
argtrace_record_with_context(struct argtrace_plan *plan, unsigned long parent_ip,
			     struct argtrace_ring *ring, const struct argtrace_regs *fregs,
			     unsigned int own_levels, u32 clock, const bool flight)
{
	if (clock == ARGTRACE_CLOCK_TSC && flight)
		argtrace_record_flight_with_context_tsc(plan, parent_ip, ring, fregs, own_levels);
	else if (clock == ARGTRACE_CLOCK_TSC)
		argtrace_record_stream_with_context_tsc(plan, parent_ip, ring, fregs, own_levels);
	else if (flight)
		argtrace_record_flight_with_context_monotonic(plan, parent_ip, ring, fregs,
							      own_levels);
	else
		argtrace_record_stream_with_context_monotonic(plan, parent_ip, ring, fregs,
							      own_levels);
}

/*
 * A call that passed a filter, from a callback of ftrace. `called_from` is the address that this
 * was called from. The order of parameters leaves those of the callback in their registers.
 */
__noendbr void argtrace_record_match_in_stream(struct argtrace_plan *plan, unsigned long parent_ip,
					       struct ftrace_ops *ops,
					       const struct argtrace_regs *fregs,
					       const void *called_from);
__noendbr void argtrace_record_match_in_flight(struct argtrace_plan *plan, unsigned long parent_ip,
					       struct ftrace_ops *ops,
					       const struct argtrace_regs *fregs,
					       const void *called_from);
/* The same in any kind of session, from any source: `called_from` may be ARGTRACE_OWN_LEVELS(). */
void argtrace_record_match(struct argtrace_plan *plan, unsigned long parent_ip,
			   struct ftrace_ops *ops, const struct argtrace_regs *fregs,
			   const void *called_from);

#endif
