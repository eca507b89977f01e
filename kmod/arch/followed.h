/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A call whose return is followed: it goes on in a trampoline, which keeps a frame on the task's
 * stack.
 *
 *   struct argtrace_frame           returns, clock, state or duration, value and high (what the
 *                                   function returned), caller, and what else the trampoline needs
 *   argtrace_frame_regs()           the arguments of the call, as they were at entry
 *   argtrace_frame_set_stack()      to be called before the stack is read by these registers
 *   argtrace_frame_to_regs()        what else ftrace has handed over, for another copy of these
 *   argtrace_frame_arguments()      the arguments as ARGTRACE_REG_COUNT words
 *   argtrace_frame_make()           makes a frame of these for a call that the kernel follows
 *   argtrace_user_frame_keep(), argtrace_user_frame_take_results()
 *                                   what the frame of a call of a function of Go has beside that,
 *                                   from its entry and from its return
 *   argtrace_user_view()            the arguments of a call of user code that is entered, where its
 *                                   frame will have them, and its stack pointer
 *   argtrace_return_quick() ...     the trampolines; what they call is in source/returns/returns.h
 */
#ifndef ARGTRACE_ARCH_FOLLOWED_H
#define ARGTRACE_ARCH_FOLLOWED_H

#if defined(CONFIG_X86_64)
#include "arch/x86/followed.h"
#elif defined(CONFIG_ARM64)
#include "arch/arm64/followed.h"
#endif

struct task_struct;

/*
 * What a function passes the body in place of its first argument, while the frame has others: of
 * system calls.
 */
static __always_inline unsigned long argtrace_frame_passed(const struct argtrace_frame *frame)
{
	return frame->high;
}

/*
 * The text of the trampolines: whoever has an address in it on the stack is in a call that is
 * followed.
 */
extern const char argtrace_return_text[], argtrace_return_text_end[];

static inline bool argtrace_in_trampoline(unsigned long addr)
{
	return addr >= (unsigned long)argtrace_return_text &&
	       addr < (unsigned long)argtrace_return_text_end;
}

/* Whether this kernel lets us find the frames on a stack, without which no call may be followed. */
bool argtrace_can_find_followed(void);

/*
 * Finds them on the stack of a task, which is this one or does not run: see in_flight.c. If it has
 * begun to run all the same, a frame may be nonsense, and unreadable. `in_body`: the function's
 * body runs, or something that it calls.
 */
void argtrace_for_each_followed(struct task_struct *task,
				void (*found)(struct argtrace_frame *frame, bool in_body,
					      void *data),
				void *data);

#endif
