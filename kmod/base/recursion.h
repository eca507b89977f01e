/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The usual path of a call uses no kernel function, and so nothing that can be traced. The rare
 * paths (opening a packet, waking a reader, a read that may fault) do, and these functions may be
 * traced and lead back here. The guard lets each context of a CPU enter a rare path once; an
 * interrupt or NMI has its own turn, and completes before the interrupted context continues.
 *
 * All sessions share the guard, but other tracers do not: what is called while another tracer
 * handles a hit is a call like any other.
 */
#ifndef ARGTRACE_RECURSION_H
#define ARGTRACE_RECURSION_H

#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/types.h>

DECLARE_PER_CPU(u8, argtrace_recursion);

/* Preemption is off. False if this context is in a rare path already. */
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
