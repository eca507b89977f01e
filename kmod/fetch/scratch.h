/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory for what a call gathers before it reserves room in a ring, and the guard of programs that read memory. Reading what
 * is not there ends in the kernel's handler of page faults, functions of which may be traced by such a program again:
 * a few calls may be inside each other on a CPU, interrupts included, and each has a part of the scratch memory.
 */
#ifndef ARGTRACE_SCRATCH_H
#define ARGTRACE_SCRATCH_H

#include <linux/percpu.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

#define ARGTRACE_SCRATCH_LEVELS	5	/* task, softirq, interrupt, NMI, and one for a fault in them */

DECLARE_PER_CPU(u8, argtrace_scratch_depth);
DECLARE_PER_CPU(u8 *, argtrace_scratch);

/* Preemption is off. False: too many calls are inside each other here. */
static __always_inline bool argtrace_scratch_enter(void)
{
	if (likely(this_cpu_inc_return(argtrace_scratch_depth) <= ARGTRACE_SCRATCH_LEVELS))
		return true;
	this_cpu_dec(argtrace_scratch_depth);
	return false;
}

static __always_inline void argtrace_scratch_leave(void)
{
	this_cpu_dec(argtrace_scratch_depth);
}

/* ARGTRACE_OUTPUT_MAX bytes, between enter and leave; NULL: the CPU came when there was no memory. */
static __always_inline u8 *argtrace_scratch_here(void)
{
	u8 *scratch = this_cpu_read(argtrace_scratch);

	return scratch ? scratch + (this_cpu_read(argtrace_scratch_depth) - 1) * ARGTRACE_OUTPUT_MAX : NULL;
}

/* At module load and unload. */
int argtrace_scratch_init(void);
void argtrace_scratch_exit(void);

#endif
