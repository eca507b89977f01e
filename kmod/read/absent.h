/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User memory that a read has missed, so that whoever may sleep can bring it in
 * (read/bring_in.h).
 */
#ifndef ARGTRACE_ABSENT_H
#define ARGTRACE_ABSENT_H

#include <linux/percpu.h>
#include <linux/types.h>

/* What the last read on this CPU that failed would have read. */
struct argtrace_absent {
	u64 addr;
	u32 size;			/* 0: none has failed */
};

DECLARE_PER_CPU(struct argtrace_absent, argtrace_absent);

/* In what reads user memory, where that fails. Preemption is off. */
static inline void argtrace_absent_note(u64 addr, u32 size)
{
	this_cpu_write(argtrace_absent.addr, addr);
	this_cpu_write(argtrace_absent.size, size);
}

/* Preemption is off from reset to here; what interrupts it may have noted another read. */
static inline void argtrace_absent_reset(void)
{
	this_cpu_write(argtrace_absent.size, 0);
}

static inline struct argtrace_absent argtrace_absent_here(void)
{
	return (struct argtrace_absent){ .addr = this_cpu_read(argtrace_absent.addr),
					 .size = this_cpu_read(argtrace_absent.size) };
}

#endif
