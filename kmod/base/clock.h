/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clocks of records. The raw TSC costs three instructions a call, CLOCK_MONOTONIC about ninety more
 * (docs/performance.md): the TSC is the default where it is reliable. Both are read whenever a packet is
 * opened, so that user space can convert it to nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef ARGTRACE_CLOCK_H
#define ARGTRACE_CLOCK_H

#include <linux/timekeeping.h>
#include <linux/types.h>
#include <asm/msr.h>
#include <uapi/argtrace.h>

/* At module load. */
void argtrace_clock_init(void);

/* Whether the TSC always runs at one rate and is the same on all CPUs, as far as the kernel knows. */
bool argtrace_clock_has_tsc(void);

/* Replaces ARGTRACE_CLOCK_BEST by the clock it stands for; 0, -EINVAL, -EOPNOTSUPP. */
int argtrace_clock_choose(u32 *clock);

/* argtrace_packet.mult for a new session. May sleep for some milliseconds. */
u32 argtrace_clock_mult(u32 clock);

/*
 * CLOCK_MONOTONIC when `clock` was `now`, a moment ago. Calls functions that can be traced
 * (recursion.h).
 */
u64 argtrace_clock_ns(u32 clock, u64 now, u32 mult);

/* As two halves, which is how RDTSC returns them and how callers use them. */
static __always_inline void argtrace_clock_tsc(u32 *low, u32 *high)
{
	asm volatile("rdtsc" : "=a"(*low), "=d"(*high));
}

/* Moves b to the register of a: RAX, where RDTSC leaves b, is needed for the exchange. */
#define argtrace_use_register_of(a, b)	do {			\
	asm("mov %1, %0" : "=&d"(a) : "a"(b));			\
	(b) = (a);						\
} while (0)

static __always_inline u64 argtrace_clock_read(u32 clock)
{
	return clock == ARGTRACE_CLOCK_TSC ? rdtsc() : ktime_get_mono_fast_ns();
}

#endif
