/* SPDX-License-Identifier: GPL-2.0-only */
/* The generic timer's virtual counter (Arm ARM, D12, "The Generic Timer in AArch64 state"). */
#ifndef ARGTRACE_ARCH_ARM64_CLOCK_H
#define ARGTRACE_ARCH_ARM64_CLOCK_H

/*
 * The counter runs at 1 MHz to 1 GHz, mostly at 19 to 100 MHz, where a tick is longer than
 * argtrace_packet.mult can express. Each tick counts as 32. A constant saves a load in each call; a
 * counter of less than 16 MHz remains too slow, and such a machine uses CLOCK_MONOTONIC.
 * user/abi/architecture.cpp has the same shift.
 */
#define ARGTRACE_CYCLES_SHIFT	5

#ifndef __ASSEMBLER__
#include <linux/cpumask.h>
#include <linux/types.h>
#include <asm/arch_timer.h>
#include <asm/sysreg.h>

/*
 * Without an ISB, which costs more than the rest of a call: the processor may read it a few
 * instructions early, as it may the TSC.
 */
static __always_inline u64 argtrace_cycles(void)
{
	return read_sysreg(cntvct_el0) << ARGTRACE_CYCLES_SHIFT;
}

static __always_inline u64 argtrace_cycles_ordered(void)
{
	isb();
	return argtrace_cycles();
}

static __always_inline void argtrace_cycles_halves(u32 *low, u32 *high)
{
	const u64 now = argtrace_cycles();

	*low = now;
	*high = now >> 32;
}

/* Any register will do. */
#define argtrace_use_register_of(a, b)	((void)(a), (void)(b))

static inline u32 argtrace_cycles_khz(void)
{
	return ((u64)arch_timer_get_cntfrq() << ARGTRACE_CYCLES_SHIFT) / 1000;
}

/* Some processors count wrongly, and the kernel reads their counters in ways of their own. */
static inline bool argtrace_cycles_have_errata(void)
{
#ifdef CONFIG_ARM_ARCH_TIMER_OOL_WORKAROUND
	int cpu;

	for_each_possible_cpu(cpu) {
		if (per_cpu(timer_unstable_counter_workaround, cpu))
			return true;
	}
#endif
	return false;
}

static inline bool argtrace_cycles_are_usable(void)
{
	return argtrace_cycles_khz() > 500000 && !argtrace_cycles_have_errata();
}

/*
 * The architecture says so of every system counter. Whether this is the one that the kernel keeps
 * time by, the physical and the virtual one being apart under some hypervisors, only a comparison
 * tells.
 */
static inline bool argtrace_cycles_are_steady(void)
{
	return false;
}

#endif
#endif
