/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ftrace's trampoline goes on where the instruction pointer of struct ftrace_regs says after its
 * callbacks have returned, unless orig_ax names a direct caller, which then comes first
 * (arch/x86/kernel/ftrace_64.S). rax is no function's argument, and hands over the struct
 * argtrace_return; a variadic function's count of vector registers, which is in al, is refused
 * beforehand.
 */
#ifndef ARGTRACE_ARCH_X86_DIVERT_H
#define ARGTRACE_ARCH_X86_DIVERT_H

#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/types.h>

#include "arch/followed.h"
#include "arch/regs.h"

static __always_inline unsigned long argtrace_body_of(const struct argtrace_regs *regs)
{
	return regs->regs.ip;
}

/* Loads are not reordered, and this one may be part of a comparison. */
static __always_inline unsigned long argtrace_load_body(const unsigned long *body)
{
	return *body;
}

static __always_inline void argtrace_divert(struct argtrace_regs *regs,
					    struct argtrace_return *returns,
					    void (*trampoline)(void))
{
	regs->regs.ax = (unsigned long)returns;
	regs->regs.ip = (unsigned long)trampoline;
}

/*
 * `in_list`: others trace the same function. If one of them has asked for all registers there may
 * be a direct caller, which goes before whatever the instruction pointer says.
 */
static __always_inline bool argtrace_has_direct_caller(const struct argtrace_regs *regs,
						       bool in_list)
{
	return in_list && regs->regs.cs && regs->regs.orig_ax;
}

/*
 * Whether the call goes elsewhere already: to one of our own trampolines, of another session, that
 * would not find in rax what it needs, or to where another tracer has it go.
 */
static __always_inline bool argtrace_is_diverted(const struct argtrace_regs *regs, unsigned long ip,
						 bool in_list)
{
	/* Since Linux 7 bit 0 says how the direct caller is to be reached. */
	return regs->regs.ip != ip + MCOUNT_INSN_SIZE ||
	       (argtrace_has_direct_caller(regs, in_list) &&
		argtrace_in_trampoline(regs->regs.orig_ax & ~1ul));
}

/* No probe is of a function that has such a register. */
static __always_inline void argtrace_divert_in_memory(struct argtrace_regs *regs,
						      struct argtrace_return *returns)
{
	argtrace_divert(regs, returns, argtrace_return_slow);
}

/* Where there may be a direct caller, we are one too, and call another that is there already. */
static __always_inline void
argtrace_divert_with_others(struct argtrace_regs *to, struct argtrace_return *returns, bool in_list)
{
	struct pt_regs *regs = &to->regs;

	regs->ax = (unsigned long)returns;
	if (!in_list || !regs->cs) {
		regs->ip = (unsigned long)argtrace_return_slow;
	} else if (!regs->orig_ax) {
		regs->orig_ax = (unsigned long)argtrace_return_direct;
	} else {
		regs->r10 = regs->orig_ax;
		regs->orig_ax = (unsigned long)argtrace_return_chain;
	}
}

#endif
