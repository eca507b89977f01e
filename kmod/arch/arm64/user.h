/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The numbers of registers are those of DWARF: DWARF for the Arm 64-bit Architecture, 4.1. Stacks
 * of user code are not walked: a rule would have to restore more registers than struct
 * argtrace_unwind_rule has room for.
 */
#ifndef ARGTRACE_ARCH_ARM64_USER_H
#define ARGTRACE_ARCH_ARM64_USER_H

#include <linux/compat.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/types.h>

#define ARGTRACE_CAN_WALK_USER	false
#define ARGTRACE_USER_REGS	32

static inline const struct pt_regs *argtrace_user_entry(void)
{
	return is_compat_task() ? NULL : task_pt_regs(current);
}

static __always_inline u64 argtrace_user_sp(const struct pt_regs *regs)
{
	return regs->sp;
}

static inline bool argtrace_user_return_register(const struct pt_regs *regs, u64 *returns_to)
{
	*returns_to = regs->regs[30];
	return true;
}

static inline u64 argtrace_user_return_slot(const struct pt_regs *regs)
{
	return 0;
}

/* A function that returns has its stack pointer back. */
static inline u64 argtrace_user_entry_sp(const struct pt_regs *regs)
{
	return regs->sp;
}

/* Go's ABIInternal: R28. */
static inline u64 argtrace_user_goroutine(const struct pt_regs *regs)
{
	return regs->regs[28];
}

static inline bool argtrace_user_is_still_at(const struct pt_regs *regs, const struct pt_regs *now)
{
	return false;
}

#endif
