/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clocks of records. CLOCK_MONOTONIC costs about 50 instructions a call, the raw TSC three:
 * it is the default where it can be believed. Anchors, taken whenever a packet is opened,
 * tell user space what it is in nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef ARGTRACE_CLOCK_H
#define ARGTRACE_CLOCK_H

#include <linux/timekeeping.h>
#include <linux/types.h>
#include <asm/msr.h>
#include <uapi/argtrace.h>

/* At module load. */
void argtrace_clock_init(void);

/* Whether the TSC runs at one rate, always, and alike on all CPUs, as far as the kernel knows. */
bool argtrace_clock_has_tsc(void);

/* Settles what BEST means; 0, -EINVAL, -EOPNOTSUPP. */
int argtrace_clock_choose(u32 *clock);

/* Of a session that begins: argtrace_packet.mult. May sleep for a moment. */
u32 argtrace_clock_mult(u32 clock);

/*
 * CLOCK_MONOTONIC at the moment when `clock` was `now`, which was a moment ago. Calls what can be
 * traced (guard.h).
 */
u64 argtrace_clock_ns(u32 clock, u64 now, u32 mult);

/* Low and high half are wanted apart: they are read so. */
static __always_inline void argtrace_clock_tsc(u32 *low, u32 *high)
{
	asm volatile("rdtsc" : "=a"(*low), "=d"(*high));
}

/* Moves b to where a was: RAX, where RDTSC leaves it, is needed for the exchange. */
#define argtrace_use_register_of(a, b)	do {			\
	asm("mov %1, %0" : "=&d"(a) : "a"(b));			\
	(b) = (a);						\
} while (0)

static __always_inline u64 argtrace_clock_read(u32 clock)
{
	return clock == ARGTRACE_CLOCK_TSC ? rdtsc() : ktime_get_mono_fast_ns();
}

#endif
