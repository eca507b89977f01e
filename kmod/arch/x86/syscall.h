/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_ARCH_X86_SYSCALL_H
#define ARGTRACE_ARCH_X86_SYSCALL_H

#include <linux/compat.h>
#include <linux/compiler.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/types.h>

#include "arch/regs.h"

/*
 * arch/x86/include/asm/syscall_wrapper.h. For a system call without arguments, __do_sys_NAME() has
 * the same address as the others, and is the symbol that the kernel finds first. Where it is a
 * separate function, it is not called with the address of the registers.
 */
#define ARGTRACE_SYSCALL_PREFIXES                                                            \
	"__x64_sys_", "__x64_compat_sys_", "__ia32_sys_", "__ia32_compat_sys_", "__do_sys_", \
		"__do_compat_sys_"

/*
 * Moves the arguments from the registers of the system call's ABI (arch/x86/entry/entry_64.S,
 * entry_64_compat.S) to those in which the psABI passes a function's arguments. x32 uses the
 * registers of x86-64.
 */
static __always_inline void argtrace_copy_syscall_arguments(struct pt_regs *to,
							    const struct pt_regs *from)
{
	if (unlikely(in_ia32_syscall())) {
		to->di = (u32)from->bx;
		to->si = (u32)from->cx;
		to->dx = (u32)from->dx;
		to->cx = (u32)from->si;
		to->r8 = (u32)from->di;
		to->r9 = (u32)from->bp;
		return;
	}
	to->di = from->di;
	to->si = from->si;
	to->dx = from->dx;
	to->cx = from->r10;
	to->r8 = from->r8;
	to->r9 = from->r9;
}

static __always_inline void argtrace_clear_arguments(struct pt_regs *regs)
{
	regs->di = 0;
	regs->si = 0;
	regs->dx = 0;
	regs->cx = 0;
	regs->r8 = 0;
	regs->r9 = 0;
}

static __always_inline void argtrace_syscall_arguments(struct argtrace_regs *regs,
						       unsigned long passed)
{
	const struct pt_regs *from = task_pt_regs(current);
	struct pt_regs *to = &regs->regs;

	if (likely(passed == (unsigned long)from))
		argtrace_copy_syscall_arguments(to, from);
	else
		argtrace_clear_arguments(to);
}

static __always_inline void argtrace_syscall_regs(struct argtrace_regs *to,
						  const struct argtrace_regs *entry)
{
	argtrace_syscall_arguments(to, entry->regs.di);
	to->regs.bp = entry->regs.bp;
	to->regs.sp = entry->regs.sp;
	to->regs.cs = 0;
}

#endif
