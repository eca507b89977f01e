/* SPDX-License-Identifier: GPL-2.0-only */
/* The TSC (Intel SDM, volume 3, 18.17). */
#ifndef ARGTRACE_ARCH_X86_CLOCK_H
#define ARGTRACE_ARCH_X86_CLOCK_H

#include <linux/types.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#define ARGTRACE_CYCLES_SHIFT	0

static __always_inline u64 argtrace_cycles(void)
{
	return rdtsc();
}

static __always_inline u64 argtrace_cycles_ordered(void)
{
	return rdtsc_ordered();
}

/* As RDTSC returns them. */
static __always_inline void argtrace_cycles_halves(u32 *low, u32 *high)
{
	asm volatile("rdtsc" : "=a"(*low), "=d"(*high));
}

/* Moves b to the register of a: RAX, where RDTSC leaves b, is needed for the exchange. */
#define argtrace_use_register_of(a, b)	do {			\
	asm("mov %1, %0" : "=&d"(a) : "a"(b));			\
	(b) = (a);						\
} while (0)

static inline u32 argtrace_cycles_khz(void)
{
	return tsc_khz;
}

static inline bool argtrace_cycles_are_usable(void)
{
	return boot_cpu_has(X86_FEATURE_TSC) && !check_tsc_unstable() && tsc_khz > 500000;
}

static inline bool argtrace_cycles_are_steady(void)
{
	return boot_cpu_has(X86_FEATURE_TSC_RELIABLE) ||
	       (boot_cpu_has(X86_FEATURE_CONSTANT_TSC) && boot_cpu_has(X86_FEATURE_NONSTOP_TSC));
}

#endif
