/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's own unwinder (arch/x86/kernel/unwind_orc.c), which knows any frame, and takes
 * hundreds of instructions for each.
 */
#ifndef ARGTRACE_ARCH_X86_UNWIND_H
#define ARGTRACE_ARCH_X86_UNWIND_H

#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <asm/unwind.h>

/* What the kernel's unwinder finds out about one frame. */
struct argtrace_unwound {
	unsigned long ip, sp, bp;
	struct pt_regs *regs;
	bool full_regs;			/* all of them are there */
	bool interrupted;		/* ip has been interrupted there, not called from there */
	bool is_last;			/* nothing is above it: the others mean nothing */
};

/*
 * Frames are found by the ORC unwinder of stock kernels, which knows rbp at each frame.
 *
 * argtrace_unwind_fake() asks it about a frame on a fake stack: *unwound describes that frame on
 * entry, and the frame above it on return. False if the unwinder does not know.
 *
 * argtrace_unwind_begin() and argtrace_unwind_stack() start at a word of a stack as if a call to
 * address 0 had just pushed it, for which the unwinder has a special entry (null_orc_entry). The
 * latter reports on which stack the word is; false if on none.
 */
#ifdef CONFIG_UNWINDER_ORC
#define argtrace_unwind_bp(state) ((state)->bp)

static inline bool argtrace_unwind_fake(struct argtrace_unwound *unwound, struct task_struct *task,
					void *begin, void *end)
{
	struct unwind_state state = {
		.stack_info = { .type = STACK_TYPE_TASK, .begin = begin, .end = end },
		.task = task,
		.signal = unwound->interrupted,
		.ip = unwound->ip,
		.sp = unwound->sp,
		.bp = unwound->bp,
	};

	unwound->is_last = !unwind_next_frame(&state);
	if (unwound->is_last || state.error)
		return !state.error;
	unwound->ip = state.ip;
	unwound->sp = state.sp;
	unwound->bp = state.bp;
	unwound->regs = state.regs;
	unwound->full_regs = state.full_regs;
	unwound->interrupted = state.signal;
	return true;
}

static inline void argtrace_unwind_begin(struct unwind_state *state, unsigned long sp,
					 unsigned long bp)
{
	struct pt_regs regs = { .sp = sp, .bp = bp, .cs = __KERNEL_CS };

	__unwind_start(state, current, &regs, NULL);
}

static inline bool argtrace_unwind_stack(unsigned long addr, u64 *begin, u64 *end)
{
	struct unwind_state state;

	argtrace_unwind_begin(&state, addr, 0);
	if (unwind_done(&state) || unwind_error(&state))
		return false;
	*begin = (unsigned long)state.stack_info.begin;
	*end = (unsigned long)state.stack_info.end;
	return addr - *begin < *end - *begin;
}
#else
#define argtrace_unwind_bp(state) 0ul

static inline bool argtrace_unwind_fake(struct argtrace_unwound *unwound, struct task_struct *task,
					void *begin, void *end)
{
	return false;
}

static inline void argtrace_unwind_begin(struct unwind_state *state, unsigned long sp,
					 unsigned long bp)
{
	unwind_start(state, current, NULL, (unsigned long *)sp);
}

static inline bool argtrace_unwind_stack(unsigned long addr, u64 *begin, u64 *end)
{
	return false;
}
#endif

#endif
