/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes a record when a call returns, in plain context, with the TSC as the clock of a stream. */
#ifndef ARGTRACE_RETURN_WRITE_H
#define ARGTRACE_RETURN_WRITE_H

#include "call/record.h"
#include "source/returns/leave.h"

/* What the function has returned, where 8 bytes do not fit, and arguments likewise. */
static __always_inline void argtrace_return_write_narrow(const struct argtrace_frame *frame,
							 const struct argtrace_return *returns,
							 const struct argtrace_plan *plan, u8 *to)
{
	if (plan->layout.has_rest)
		argtrace_encode_words(to, &plan->layout, argtrace_frame_regs(frame));
	if (returns->value_at)
		argtrace_encode_value(to + returns->value_at, frame->value, returns->value_size);
}

/*
 * Writes a record of `size` bytes, complete but for the outputs of the program, and for its size if
 * that is not the plan's. False: argtrace_ring_reserve() failed, and nothing is written. `narrow`:
 * returns->is_narrow, else argtrace_return_is_quick() must be.
 */
static __always_inline bool argtrace_return_write_fast(const struct argtrace_frame *frame,
						       const struct argtrace_return *returns,
						       const struct argtrace_plan *plan,
						       struct argtrace_ring *ring,
						       struct argtrace_ring_control *control,
						       u32 size, const bool narrow, u8 **to)
{
	const u32 high = READ_ONCE(ring->clock_high);
	u32 clock;

	argtrace_ring_begin(control);
	if (unlikely(!argtrace_ring_reserve(ring, control, size, current->pid, ARGTRACE_CLOCK_TSC,
					    false, &clock, to)))
		return false;
	argtrace_record_registers(*to, plan, frame->caller, argtrace_frame_regs(frame));
	argtrace_return_write_duration(*to, returns, frame,
				       argtrace_return_full_time(ring, high, clock));
	if (narrow)
		argtrace_return_write_narrow(frame, returns, plan, *to);
	else
		*(u64 *)(*to + returns->value_at) = frame->value;
	argtrace_encode_end(*to, &plan->layout);
	argtrace_record_header(*to, plan, clock, ring->last_tid, 0);
	return true;
}

#endif
