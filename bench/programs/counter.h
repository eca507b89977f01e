/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counter that calls are timed by: the TSC, or on arm64 the virtual counter as nanoseconds. Where time is counted in instructions
 * (scripts/vm --icount), both are their number, on arm64 in steps of 16.
 */
#ifndef ARGTRACE_BENCH_COUNTER_H
#define ARGTRACE_BENCH_COUNTER_H

#include <stdint.h>

#ifdef __aarch64__
static inline uint64_t count_now(void)
{
	uint64_t now, frequency;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
	__asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
	return now * (1000000000 / frequency);
}
#else
#include <x86intrin.h>

static inline uint64_t count_now(void)
{
	return __rdtsc();
}
#endif

#endif
