/* SPDX-License-Identifier: GPL-2.0-only */
/* The counter that calls are timed by, as that of bench/programs/counter.h. */
#ifndef ARGTRACE_BENCH_COUNTER_H
#define ARGTRACE_BENCH_COUNTER_H

#include <linux/time64.h>
#include <linux/types.h>

#ifdef CONFIG_ARM64
#include <asm/sysreg.h>

static __always_inline u64 count_now(void)
{
	return read_sysreg(cntvct_el0) * (NSEC_PER_SEC / read_sysreg(cntfrq_el0));
}
#else
#include <asm/msr.h>

static __always_inline u64 count_now(void)
{
	return rdtsc();
}
#endif

#endif
