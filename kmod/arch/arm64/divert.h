/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ftrace_caller goes on where the program counter of struct ftrace_regs says, by a return, with x30
 * as it was at the call (arch/arm64/kernel/entry-ftrace.S). x8 hands over the struct
 * argtrace_return: it is no argument but where a function is to put a large result. One that is
 * passed it is diverted as a direct caller would have it: ftrace leaves x8 alone, x9 has the
 * caller's address, and x30 what the program counter says.
 */
#ifndef ARGTRACE_ARCH_ARM64_DIVERT_H
#define ARGTRACE_ARCH_ARM64_DIVERT_H

#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/types.h>
#include <asm/barrier.h>

#include "arch/followed.h"
#include "arch/regs.h"
#include "arch/text.h"

static __always_inline unsigned long argtrace_body_of(const struct argtrace_regs *regs)
{
	return regs->pc;
}

/* The trampoline loads returns->body next, by another address. */
static __always_inline unsigned long argtrace_load_body(const unsigned long *body)
{
	/* Pairs with the releases of call_divert_slow(). */
	return smp_load_acquire(body);
}

static __always_inline void argtrace_divert(struct argtrace_regs *regs,
					    struct argtrace_return *returns,
					    void (*trampoline)(void))
{
	regs->x[8] = (unsigned long)returns;
	argtrace_regs_go_on_at(regs, (unsigned long)trampoline);
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
/*
 * Where others trace the same function, a direct caller may come first, called after us or already
 * there, and BPF's do not preserve x8. These calls count as taken by another.
 */
static __always_inline bool argtrace_is_diverted(const struct argtrace_regs *regs, unsigned long ip,
						 bool in_list)
{
	return in_list || regs->pc != ip + AARCH64_INSN_SIZE;
}

static __always_inline void argtrace_divert_in_memory(struct argtrace_regs *regs,
						      struct argtrace_return *returns)
{
	regs->direct_caller = (unsigned long)argtrace_return_in_memory;
	regs->pc = (unsigned long)returns;
}
#else
/* Before Linux 6.2 there are no direct callers, and each ops is in the list. */
static __always_inline bool argtrace_is_diverted(const struct argtrace_regs *regs, unsigned long ip,
						 bool in_list)
{
	return argtrace_graph_runs() || regs->pc != ip + AARCH64_INSN_SIZE;
}

/* No register would be left for the struct: these calls stay counted as taken by another. */
static __always_inline void argtrace_divert_in_memory(struct argtrace_regs *regs,
						      struct argtrace_return *returns)
{
}
#endif

static __always_inline void
argtrace_divert_with_others(struct argtrace_regs *regs, struct argtrace_return *returns,
			    bool in_list)
{
	argtrace_divert(regs, returns, argtrace_return_slow);
}

#endif
