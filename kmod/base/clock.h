/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clocks of records. The raw TSC costs three instructions a call, CLOCK_MONOTONIC about ninety
 * more (docs/performance.md): the TSC is the default where it is reliable. Both are read whenever a
 * packet is opened, so that user space can convert it to nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef ARGTRACE_CLOCK_H
#define ARGTRACE_CLOCK_H

#include <linux/timekeeping.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

#include "arch/clock.h"

/* At module load. */
void argtrace_clock_init(void);

/*
 * Whether the TSC always runs at one rate and is the same on all CPUs, as far as the kernel knows.
 */
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

static __always_inline u64 argtrace_clock_read(u32 clock)
{
	return clock == ARGTRACE_CLOCK_TSC ? argtrace_cycles() : ktime_get_mono_fast_ns();
}

#endif
