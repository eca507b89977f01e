/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User memory that a read has missed, because it is not present, and how to bring it in: in the
 * task that it belongs to, on its way to user mode, where a page fault may sleep.
 */
#ifndef ARGTRACE_BRING_IN_H
#define ARGTRACE_BRING_IN_H

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

/*
 * Brings in the pages of the current process's memory. May sleep, but no longer than for a disk:
 * only anonymous memory and regular files are brought in, and not where user space answers page
 * faults. False if a page cannot be.
 */
bool argtrace_bring_in(u64 addr, u32 size);

#endif
