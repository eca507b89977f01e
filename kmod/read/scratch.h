/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory in which a call gathers data before it reserves room in a ring, and the recursion guard of
 * programs that read memory. A read that faults runs the kernel's page fault handler, whose
 * functions may themselves be traced by such a program. So a few calls may be nested on a CPU,
 * including interrupts, and each level has its own part of the scratch memory.
 */
#ifndef ARGTRACE_SCRATCH_H
#define ARGTRACE_SCRATCH_H

#include <linux/limits.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

#include "arch/percpu.h"
#include "base/compat.h"

/* task, softirq, interrupt, NMI, and one for a fault in them */
#define ARGTRACE_SCRATCH_LEVELS	5
/* per level, in addition to ARGTRACE_OUTPUT_MAX bytes: for walking the stack */
#define ARGTRACE_SCRATCH_STACK	2048

/* How deeply calls are nested, counted so that one level too many is negative. */
DECLARE_PER_CPU(s8, argtrace_scratch_depth);
#define ARGTRACE_SCRATCH_NONE	(S8_MAX - ARGTRACE_SCRATCH_LEVELS)

DECLARE_PER_CPU(u8 *, argtrace_scratch);

/* Preemption is off. False if calls are nested too deeply here. */
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

/*
 * ARGTRACE_OUTPUT_MAX bytes, between enter and leave; NULL if there was no memory when the CPU came
 * online.
 */
static __always_inline u8 *argtrace_scratch_here(void)
{
	u8 *scratch = this_cpu_read(argtrace_scratch);
	const long depth = this_cpu_read(argtrace_scratch_depth);

	if (unlikely(!scratch))
		return NULL;
	scratch += (depth - ARGTRACE_SCRATCH_NONE - 1) * ARGTRACE_OUTPUT_MAX;
	/* Otherwise the compiler would test it again. */
	if (!scratch)
		__builtin_unreachable();
	return scratch;
}

/* The same for ARGTRACE_SCRATCH_STACK bytes, which follow the other parts of all levels. */
static __always_inline u8 *argtrace_scratch_stack(void)
{
	u8 *scratch = this_cpu_read(argtrace_scratch);
	const long depth = this_cpu_read(argtrace_scratch_depth);

	return likely(scratch) ?
		       scratch + ARGTRACE_SCRATCH_LEVELS * ARGTRACE_OUTPUT_MAX +
			       (depth - ARGTRACE_SCRATCH_NONE - 1) * ARGTRACE_SCRATCH_STACK :
		       NULL;
}

/* At module load and unload. */
int argtrace_scratch_init(void);
void argtrace_scratch_exit(void);

#endif
