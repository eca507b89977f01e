/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a call does on its usual way calls nothing, so that nothing of it can be traced. The
 * rare parts (opening a packet, waking a reader, a read that may fault) do call kernel
 * functions; these may be traced and bring us back here. The guard lets one context of a CPU be in
 * a rare part once; an interrupt or NMI has its own turn, and runs to its end before we go on.
 *
 * It is shared by all sessions, and not shared with other tracers: what is called while another one
 * handles a hit is a call like any other.
 */
#ifndef ARGTRACE_RECURSION_H
#define ARGTRACE_RECURSION_H

#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/types.h>

DECLARE_PER_CPU(u8, argtrace_recursion);

/* Preemption is off. False: this context is in a rare part already. */
static inline bool argtrace_recursion_enter(void)
{
	const u8 bit = 1 << interrupt_context_level();

	if (this_cpu_read(argtrace_recursion) & bit)
		return false;
	this_cpu_or(argtrace_recursion, bit);
	return true;
}

static inline void argtrace_recursion_leave(void)
{
	this_cpu_and(argtrace_recursion, (u8)~(1 << interrupt_context_level()));
}

#endif
