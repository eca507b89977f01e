/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel stack of a call: the addresses that it and its callers return to, innermost first, as
 * stack_trace_save() reports them from the traced function's caller on. Or the stack of interrupted
 * code, beginning with the address of the interruption, as stack_trace_save_regs() reports it.
 *
 *   ARGTRACE_CAN_WALK               whether this kernel has what it takes
 *   struct argtrace_stack_start     where a walk begins; only ever on a stack of the kernel's
 *   struct argtrace_stack_room      the memory that a walk takes, for itself alone
 *   argtrace_stack_walk_quickly(), argtrace_stack_walk_interrupted_quickly()
 *                                   a walk that takes nothing but the stack; 0: it is to go on with
 *                                   argtrace_stack_walk_on()
 *   argtrace_frames_get(), _put()   a session begins or ceases to walk. 0, -ENOMEM, -ENOSPC,
 *                                   -EOPNOTSUPP
 *   argtrace_frames_forget()        a module goes, or loses its init code
 */
#ifndef ARGTRACE_ARCH_WALK_H
#define ARGTRACE_ARCH_WALK_H

#if defined(CONFIG_X86_64)
#include "arch/x86/walk.h"
#elif defined(CONFIG_ARM64)
#include "arch/arm64/walk.h"
#endif

/* Walks up to `max` addresses. Preemption is off, and argtrace_frames_get() has succeeded. */
static inline void argtrace_stack_walk(const struct argtrace_stack_start *start,
				       struct argtrace_stack_room *room, u32 max,
				       struct argtrace_walked *walked)
{
	walked->end = ARGTRACE_WALK_WHOLE;
	walked->count = start->regs ? argtrace_stack_walk_interrupted_quickly(start->regs, room,
									      max, &walked->hash) :
				      argtrace_stack_walk_quickly(start->sp, start->bp, room, max,
								  &walked->hash);
	if (!walked->count)
		argtrace_stack_walk_on(start, room, max, walked);
}

#endif
