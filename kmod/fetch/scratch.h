/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory for what a call gathers before it reserves room in a ring, and the guard of programs that read memory. Reading what
 * is not there ends in the kernel's handler of page faults, functions of which may be traced by such a program again:
 * a few calls may be inside each other on a CPU, interrupts included, and each has a part of the scratch memory.
 */
#ifndef ARGTRACE_SCRATCH_H
#define ARGTRACE_SCRATCH_H

#include <linux/limits.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

#include "compat.h"

#define ARGTRACE_SCRATCH_LEVELS	5	/* task, softirq, interrupt, NMI, and one for a fault in them */
#define ARGTRACE_SCRATCH_STACK	2048	/* what each level has beside ARGTRACE_OUTPUT_MAX bytes, for a walk of the stack */

/* How many calls are inside each other, counted so that one too many is negative. */
DECLARE_PER_CPU(s8, argtrace_scratch_depth);
#define ARGTRACE_SCRATCH_NONE	(S8_MAX - ARGTRACE_SCRATCH_LEVELS)

DECLARE_PER_CPU(u8 *, argtrace_scratch);

/* Preemption is off. False: too many calls are inside each other here. */
static __always_inline bool argtrace_scratch_enter(void)
{
	if (likely(!argtrace_this_cpu_inc_is_negative(argtrace_scratch_depth)))
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
	const long depth = this_cpu_read(argtrace_scratch_depth);

	if (unlikely(!scratch))
		return NULL;
	scratch += (depth - ARGTRACE_SCRATCH_NONE - 1) * ARGTRACE_OUTPUT_MAX;
	/* The compiler would test it again. */
	if (!scratch)
		__builtin_unreachable();
	return scratch;
}

/* The same of ARGTRACE_SCRATCH_STACK bytes, which come after the others of all levels. */
static __always_inline u8 *argtrace_scratch_stack(void)
{
	u8 *scratch = this_cpu_read(argtrace_scratch);
	const long depth = this_cpu_read(argtrace_scratch_depth);

	return likely(scratch) ? scratch + ARGTRACE_SCRATCH_LEVELS * ARGTRACE_OUTPUT_MAX +
					 (depth - ARGTRACE_SCRATCH_NONE - 1) * ARGTRACE_SCRATCH_STACK : NULL;
}

/* At module load and unload. */
int argtrace_scratch_init(void);
void argtrace_scratch_exit(void);

#endif
