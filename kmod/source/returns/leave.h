/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fast paths of leave.c call the slow one of leave_slow.c with preemption off, and that turns
 * it on again.
 */
#ifndef ARGTRACE_RETURN_LEAVE_H
#define ARGTRACE_RETURN_LEAVE_H

#include <linux/math64.h>

#include "sink/ring.h"
#include "source/returns/returns.h"

/*
 * The values that are kept, after the word that says which of them could not be read. NULL: there
 * are none.
 */
static inline const u8 *argtrace_return_kept_values(const struct argtrace_frame *frame)
{
	const unsigned long bytes = frame->state >> ARGTRACE_FRAME_KEPT_SHIFT;

	return bytes ? (const u8 *)frame - bytes + sizeof(u64) : NULL;
}

/*
 * The time of a record that argtrace_ring_reserve() has reserved, from its lower half. The upper
 * one is the ring's, and was `high` before: should an interrupt have found the next one since, then
 * the lower half says which of them it is.
 */
static __always_inline u64 argtrace_return_full_time(const struct argtrace_ring *ring, u32 high,
						     u32 low)
{
	const u32 now = READ_ONCE(ring->clock_high);

	if (likely(now == high) || low < 0x80000000u)
		high = now;
	return (u64)high << 32 | low;
}

static __always_inline void argtrace_return_write_duration(u8 *to,
							   const struct argtrace_return *returns,
							   const struct argtrace_frame *frame,
							   u64 now)
{
	const s64 duration = now - frame->clock;

	/* The counters of two CPUs may differ by a few ticks. */
	*(u64 *)(to + returns->duration_at) = max_t(s64, duration, 0);
}

static __always_inline u64 argtrace_return_nanoseconds(u64 now, const struct argtrace_frame *frame,
						       const struct argtrace_ring *ring,
						       const u32 clock)
{
	/* The counters of two CPUs may differ by a few ticks. */
	const u64 ticks = max_t(s64, now - frame->clock, 0);

	return clock == ARGTRACE_CLOCK_TSC ?
		       mul_u64_u32_shr(ticks, ring->mult, ARGTRACE_MULT_SHIFT) :
		       ticks;
}

/* Records a call of a probe without a program: any clock, ring and context. */
void argtrace_return_record_slow(struct argtrace_frame *frame, struct argtrace_ring *ring,
				 u32 context);
/* The same after argtrace_ring_begin(), where argtrace_ring_reserve() failed. */
void argtrace_return_record_unreserved(struct argtrace_frame *frame, struct argtrace_ring *ring);

/*
 * A call that is known to have ended, and has not returned: ARGTRACE_ID_LEFT. With preemption off.
 * False: its probe is stopped, or has no record of such calls, and it has not been counted.
 */
bool argtrace_return_record_left(struct argtrace_frame *frame);

/* A call of a probe with a program. */
void argtrace_return_run_program(struct argtrace_frame *frame, struct argtrace_ring *ring,
				 u32 context);
/*
 * Writes the outputs that the fast path could not into its record; NULL: the call is lost. Called
 * within argtrace_scratch_enter(), and leaves that.
 */
void argtrace_return_finish_outputs(struct argtrace_frame *frame, struct argtrace_ring *ring,
				    u8 *to);
/* The same where argtrace_ring_reserve() failed, and there is no record yet. */
void argtrace_return_outputs_unreserved(struct argtrace_frame *frame, struct argtrace_ring *ring);

#endif
