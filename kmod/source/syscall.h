/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls as a source. The function of a system call is passed the address of the registers with which user space entered the
 * kernel. Records and programs get the arguments in these registers, as if the function had been called with them.
 */
#ifndef ARGTRACE_SYSCALL_H
#define ARGTRACE_SYSCALL_H

#include <linux/ftrace.h>
#include <linux/ptrace.h>
#include <linux/types.h>

#include "base/compat.h"

struct argtrace_lane;

/* Whether there is a system call's function at the address, judging by its name. */
bool argtrace_is_syscall(unsigned long addr);

/* The function that ftrace calls for the functions of the lane. */
ftrace_func_t argtrace_syscall_callback(const struct argtrace_lane *lane);

/*
 * Stores the arguments of the current task's system call where a function would have them. `first` is what its function was passed; if
 * that is not the address of the task's registers, nothing is read, and the arguments are zeros.
 */
static __always_inline void argtrace_syscall_arguments(struct pt_regs *to, unsigned long first)
{
	const struct pt_regs *from = task_pt_regs(current);

	if (likely(first == (unsigned long)from))
		argtrace_copy_syscall_arguments(to, from);
	else
		to->di = to->si = to->dx = to->cx = to->r8 = to->r9 = 0;
}

/* The same, with the other registers that are used from `entry`, the registers at the function's entry. */
static __always_inline void argtrace_syscall_regs(struct pt_regs *to, const struct pt_regs *entry)
{
	argtrace_syscall_arguments(to, entry->di);
	to->bp = entry->bp;
	to->sp = entry->sp;
	to->cs = 0;
}

#endif
