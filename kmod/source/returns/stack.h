/* SPDX-License-Identifier: GPL-2.0-only */
/* Room on the stack for the frame of a call whose return is followed, and below it. */
#ifndef ARGTRACE_RETURN_STACK_H
#define ARGTRACE_RETURN_STACK_H

#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include "source/returns/returns.h"

/* Whether the upper half of the task's stack is where `sp` is, and has `above` bytes more. */
static __always_inline bool argtrace_return_has_half_a_stack(unsigned long sp, unsigned long above)
{
	return sp - (unsigned long)task_stack_page(current) - THREAD_SIZE / 2 <
	       THREAD_SIZE / 2 - above;
}

/* Gives back what the state says that argtrace_return_enter() has taken of it. */
static inline void argtrace_return_leave_stack(const struct argtrace_frame *frame)
{
	const u32 depth = frame->state >> ARGTRACE_FRAME_DEPTH_SHIFT & ARGTRACE_FRAME_DEPTH_MASK;

	if (depth)
		this_cpu_sub(argtrace_return_depth, depth);
}

#endif
