/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_ARCH_ARM64_SYSCALL_H
#define ARGTRACE_ARCH_ARM64_SYSCALL_H

#include <linux/compat.h>
#include <linux/compiler.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <linux/types.h>

#include "arch/regs.h"

/* arch/arm64/include/asm/syscall_wrapper.h */
#define ARGTRACE_SYSCALL_PREFIXES "__arm64_sys_", "__arm64_compat_sys_"

/*
 * User space passes the arguments where functions take them. The result replaces the first when the
 * call returns, and orig_x0 keeps it.
 */
static __always_inline void argtrace_syscall_arguments(struct argtrace_regs *to,
						       unsigned long passed)
{
	const struct pt_regs *from = task_pt_regs(current);
	const u64 mask = is_compat_task() ? U32_MAX : U64_MAX;
	unsigned int i;

	if (unlikely(passed != (unsigned long)from)) {
		memset(to->x, 0, ARGTRACE_REG_COUNT * sizeof(to->x[0]));
		return;
	}
	to->x[0] = from->orig_x0 & mask;
#pragma GCC unroll 7
	for (i = 1; i < ARGTRACE_REG_COUNT; i++)
		to->x[i] = from->regs[i] & mask;
}

static __always_inline void argtrace_syscall_regs(struct argtrace_regs *to,
						  const struct argtrace_regs *entry)
{
	argtrace_syscall_arguments(to, entry->x[0]);
	to->fp = entry->fp;
	to->lr = entry->lr;
	to->sp = entry->sp;
}

#endif
