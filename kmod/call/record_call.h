/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The quick path for a call of which only arguments are recorded, to be inlined into a source's
 * callback. Its rare cases end in tail calls of functions that complete the call, so that the path
 * itself saves no register.
 */
#ifndef ARGTRACE_RECORD_CALL_H
#define ARGTRACE_RECORD_CALL_H

#include "call/record.h"

/* The order of parameters leaves the arguments of an ftrace callback in their registers. */
void argtrace_record_with_rest(struct argtrace_plan *plan, u8 *to, struct argtrace_ring *ring,
			       const struct argtrace_regs *fregs);

/* argtrace_ring_reserve() failed. */
void argtrace_record_slow(struct argtrace_plan *plan, unsigned long parent_ip,
			  struct argtrace_ring *ring, const struct argtrace_regs *fregs,
			  u32 context);

/*
 * Preemption is off, and on again at the end. `few` is as for argtrace_encode_some_registers(), and
 * there are no arguments besides. `whole`: no padding is written to, so that none need be cleared.
 */
static __always_inline void
argtrace_record_some(struct argtrace_plan *plan, struct argtrace_ring *ring, u32 context,
		     unsigned long parent_ip, const struct argtrace_regs *fregs, const u32 clock_id,
		     const bool flight, const bool few, const bool whole)
{
	struct argtrace_ring_control *control = ring->control;
	u32 clock;
	u8 *to;

	argtrace_ring_begin(control);
	if (unlikely(!argtrace_ring_reserve(ring, control, plan->record_size, current->pid,
					    clock_id, flight, &clock, &to)))
		return argtrace_record_slow(plan, parent_ip, ring, fregs, context);

	*(u64 *)(to + plan->layout.caller_at) = parent_ip;
	argtrace_encode_some_registers(to, &plan->layout, fregs, few);
	if (!few && unlikely(plan->layout.has_more)) {
		argtrace_encode_many_registers(to, &plan->layout, fregs);
		if (plan->layout.rest_is_words) {
			argtrace_encode_words(to, &plan->layout, fregs);
		} else if (plan->layout.has_rest &&
			   !argtrace_encode_stack(to, &plan->layout, fregs)) {
			argtrace_record_header(to, plan, clock, ring->last_tid, context);
			return argtrace_record_with_rest(plan, to, ring, fregs);
		}
	}
	argtrace_record_header(to, plan, clock, ring->last_tid, context);
	if (!whole)
		argtrace_encode_end(to, &plan->layout);
	argtrace_record_complete(plan, ring);
}

/* The same for any call. */
static __always_inline void argtrace_record_call(struct argtrace_plan *plan,
						 struct argtrace_ring *ring, u32 context,
						 unsigned long parent_ip,
						 const struct argtrace_regs *fregs,
						 const u32 clock_id, const bool flight)
{
	argtrace_record_some(plan, ring, context, parent_ip, fregs, clock_id, flight, false, false);
}

#endif
