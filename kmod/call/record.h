/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing a call to its CPU's ring: reserving room, writing the parts of the record, and completing it. All with
 * preemption off, in the context of the call. Where calls come from is the business of source/.
 */
#ifndef ARGTRACE_RECORD_H
#define ARGTRACE_RECORD_H

#include <linux/sched.h>
#include <asm/ibt.h>

#include "probe/plan.h"
#include "base/recursion.h"
#include "sink/encode.h"
#include "sink/ring.h"

/* Completes a call if the reader is waiting for data. */
void argtrace_record_wake_reader(struct argtrace_notice *notice);

/* The same as argtrace_record_finish(), for callers that have the ring's control page in a register. */
static __always_inline void argtrace_record_finish_in(struct argtrace_ring *ring, struct argtrace_ring_control *control)
{
	argtrace_ring_end(control);
	/* No full barrier: argtrace_notice_await() makes up for what this misses. */
	barrier();
	if (unlikely(ring->waiting))
		return argtrace_record_wake_reader(ring->notice);
	preempt_enable_notrace();
}

/* Completes every call for which argtrace_ring_begin() has been called. */
static __always_inline void argtrace_record_finish(struct argtrace_ring *ring)
{
	argtrace_record_finish_in(ring, ring->control);
}

/* The same for a call whose record is complete. */
static __always_inline void argtrace_record_complete(struct argtrace_plan *plan,
						     struct argtrace_ring *ring)
{
	argtrace_count_here(plan->counters, records);
	argtrace_record_finish(ring);
}

/* As argtrace_record_finish_in(). */
static __always_inline void argtrace_record_complete_in(struct argtrace_plan *plan, struct argtrace_ring *ring,
							struct argtrace_ring_control *control)
{
	argtrace_count_here(plan->counters, records);
	argtrace_record_finish_in(ring, control);
}

/* Completes a call that is lost for that reason, before argtrace_ring_begin(). */
__noendbr void argtrace_record_lose(struct argtrace_plan *plan, enum argtrace_lost cause);

/*
 * Called when argtrace_ring_reserve() found no room for a record of `size` bytes. If there really is none, counts the call
 * as lost and returns true. With no reader, every call ends here.
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
 * Reserves `size` bytes, after what may have to precede the record: a packet, the clock, the task. NULL if the call has been
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

/* Writes the header that the plan has prepared. To be called after the registers have been written, some of them to its place. */
static __always_inline void argtrace_record_header(u8 *to, const struct argtrace_plan *plan, u32 clock,
						   u32 tid, u32 context)
{
	struct argtrace_record *record = (void *)to;

	record->clock = clock;
	record->tid = tid;
	__builtin_memcpy(&record->id, &plan->head, sizeof(plan->head));
	*(u32 *)&record->size |= context;
}

/* Writes the caller's address, and the arguments that are plain registers. */
static __always_inline void argtrace_record_registers(u8 *to, const struct argtrace_plan *plan,
						      unsigned long parent_ip,
						      const struct ftrace_regs *fregs)
{
	*(u64 *)(to + plan->layout.caller_at) = parent_ip;
	argtrace_encode_registers(to, &plan->layout, fregs);
}

/* Writes the other arguments into a record that has its header. */
void argtrace_record_rest(u8 *to, u32 format, const struct argtrace_plan *plan,
			  const struct ftrace_regs *fregs);

#endif
