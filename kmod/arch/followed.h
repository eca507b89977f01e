/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A call whose return is followed: it goes on in a trampoline, which keeps a frame on the task's
 * stack.
 *
 *   struct argtrace_frame           returns, clock, state or duration, value and high (what the
 *                                   function returned), caller, and what else the trampoline needs
 *   argtrace_frame_regs()           the arguments of the call, as they were at entry
 *   argtrace_frame_set_stack()      to be called before the stack is read by these registers
 *   argtrace_frame_arguments()      the same as ARGTRACE_REG_COUNT words
 *   argtrace_frame_make()           makes a frame of these for a call that the kernel follows
 *   argtrace_frame_passed()         what the body of a system call is passed
 *   argtrace_in_trampoline()        whether an address is in the trampolines' text
 *   argtrace_can_find_followed()    whether this kernel lets us find the frames on a stack
 *   argtrace_for_each_followed()    the frames on a task's stack
 *   argtrace_return_quick() ...     the trampolines; what they call is in source/returns/returns.h
 */
#ifndef ARGTRACE_ARCH_FOLLOWED_H
#define ARGTRACE_ARCH_FOLLOWED_H

#if defined(CONFIG_X86_64)
#include "arch/x86/followed.h"
#elif defined(CONFIG_ARM64)
#include "arch/arm64/followed.h"
#endif

#endif
