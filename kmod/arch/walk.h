/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel stack of a call: the addresses that it and its callers return to, innermost first, as
 * stack_trace_save() reports them from the traced function's caller on. Or the stack of interrupted
 * code, beginning with the address of the interruption, as stack_trace_save_regs() reports it.
 *
 *   ARGTRACE_CAN_WALK               whether this kernel has what it takes
 *   struct argtrace_stack_start     where a walk begins; only ever on a stack of the kernel's
 *   struct argtrace_stack_room      the memory that a walk takes, for itself alone
 *   argtrace_stack_walk()           walks up to `max` addresses. Preemption is off
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

#endif
