/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A call becomes a record in its CPU's ring: room for it, its parts, and its end. All with preemption off,
 * in whatever context the call was made. Where it comes from is the business of source/.
 */
#ifndef ARGTRACE_RECORD_H
#define ARGTRACE_RECORD_H

#include <linux/sched.h>

#include "probe/plan.h"
#include "recursion.h"
#include "sink/encode.h"
#include "sink/ring.h"

/* The end of a call that found somebody waiting for it. */
void argtrace_record_wake_reader(struct argtrace_session *session);

/* The end of every call for which argtrace_ring_begin() has been called. */
static __always_inline void argtrace_record_finish(struct argtrace_ring *ring)
{
	argtrace_ring_end(ring->control);
	barrier();
	if (unlikely(ring->waiting))
		return argtrace_record_wake_reader(ring->session);
	preempt_enable_notrace();
}

/* The same for a call whose record is complete. */
static __always_inline void argtrace_record_complete(struct argtrace_plan *plan,
						     struct argtrace_ring *ring)
{
	argtrace_count_here(plan->counters, records);
	argtrace_record_finish(ring);
}

/*
 * Whether there is no room for a record of `size` bytes, for which argtrace_ring_reserve() found none: the call has been
 * counted as lost then. With no reader every call ends here.
 */
static __always_inline bool argtrace_record_is_lost(struct argtrace_plan *plan, struct argtrace_ring *ring,
						    u32 size)
{
	if (unlikely(!ring->packets)) {
		argtrace_count_here(plan->counters, lost[ARGTRACE_LOST_NO_BUFFER]);
		return true;
	}
	if (argtrace_ring_is_full(ring, size)) {
		argtrace_ring_count_lost(ring);
		argtrace_count_here(plan->counters, lost[ARGTRACE_LOST_FULL]);
		return true;
	}
	return false;
}

/*
 * Room for `size` bytes, after what may have to precede the record: a packet, the clock, the task. NULL: the call has been
 * counted as lost.
 */
static __always_inline u8 *argtrace_record_reserve(struct argtrace_plan *plan, struct argtrace_ring *ring,
						   u32 size, u64 *clock)
{
	u8 *to;

	if (unlikely(!argtrace_recursion_enter())) {
		argtrace_count_here(plan->counters, lost[ARGTRACE_LOST_RECURSION]);
		return NULL;
	}
	to = argtrace_ring_reserve_slow(ring, size, clock);
	argtrace_recursion_leave();
	if (unlikely(!to))
		argtrace_count_here(plan->counters, lost[ARGTRACE_LOST_FULL]);
	return to;
}

/* The header, from the head that the plan has prepared. After the registers, some of which are written to its place. */
static __always_inline void argtrace_record_header(u8 *to, const struct argtrace_plan *plan, u32 clock,
						   u32 tid, u32 context)
{
	struct argtrace_record *record = (void *)to;

	record->clock = clock;
	record->tid = tid;
	__builtin_memcpy(&record->id, &plan->head, sizeof(plan->head));
	*(u32 *)&record->size |= context;
}

/* The caller's address, and arguments that are registers. */
static __always_inline void argtrace_record_registers(u8 *to, const struct argtrace_plan *plan,
						      unsigned long parent_ip,
						      const struct ftrace_regs *fregs)
{
	*(u64 *)(to + plan->layout.caller_at) = parent_ip;
	argtrace_encode_registers(to, &plan->layout, fregs);
}

/* Arguments that are not plain registers, into a record with a header. */
void argtrace_record_rest(u8 *to, u32 format, const struct argtrace_plan *plan,
			  const struct ftrace_regs *fregs);

#endif
