/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls as a source. The function of each is given the address of the registers that user space has entered the kernel with;
 * what is recorded of a call, and what programs see of it, are the arguments in these, as if the function had been called with them.
 */
#ifndef ARGTRACE_SYSCALL_H
#define ARGTRACE_SYSCALL_H

#include <linux/ftrace.h>
#include <linux/ptrace.h>
#include <linux/types.h>

#include "compat.h"

struct argtrace_lane;

/* Whether a function of a system call is there, by its name. */
bool argtrace_is_syscall(unsigned long addr);

/* What ftrace is to call for every call of a function of the lane. */
ftrace_func_t argtrace_syscall_callback(const struct argtrace_lane *lane);

/*
 * The arguments of the current task's system call, whose function is given `first`, where those of a function would be. They are zeros
 * should that not be the address of its registers: nothing else is read.
 */
static __always_inline void argtrace_syscall_arguments(struct pt_regs *to, unsigned long first)
{
	const struct pt_regs *from = task_pt_regs(current);

	if (likely(first == (unsigned long)from))
		argtrace_copy_syscall_arguments(to, from);
	else
		to->di = to->si = to->dx = to->cx = to->r8 = to->r9 = 0;
}

/* The same with what else is read of the registers at the entry of a function, which are `entry`. */
static __always_inline void argtrace_syscall_regs(struct pt_regs *to, const struct pt_regs *entry)
{
	argtrace_syscall_arguments(to, entry->di);
	to->bp = entry->bp;
	to->sp = entry->sp;
	to->cs = 0;
}

#endif
