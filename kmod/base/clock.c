// SPDX-License-Identifier: GPL-2.0-only
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/mutex.h>

#include "base/clock.h"
#include "base/compat.h"

/* Both clocks, read at the same moment to within half of `width` ticks. */
struct clock_sample {
	u64 tsc;
	u64 ns;
	u64 width;
};

#define TRIES		8
#define SPAN_MIN	(20 * NSEC_PER_MSEC)	/* tens of nanoseconds are a few millionths of it */
/* adjtimex() may change the rate of the clock */
#define SPAN_MAX	(1000ull * NSEC_PER_SEC)
#define SPAN_KEPT	(10ull * NSEC_PER_SEC)

static DEFINE_MUTEX(measure_lock);
static struct clock_sample earlier;

/* NMI-safe. Keeps the narrowest of a few tries, as an interrupt or the hypervisor may intervene. */
static __always_inline void take_sample(struct clock_sample *sample, int tries, u64 good_enough)
{
	u64 before, ns, width;

	sample->width = U64_MAX;
	while (tries-- && sample->width > good_enough) {
		before = argtrace_cycles_ordered();
		ns = ktime_get_mono_fast_ns();
		width = argtrace_cycles_ordered() - before;
		if (width < sample->width)
			*sample = (struct clock_sample){ before + width / 2, ns, width };
	}
}

static void sample_well(struct clock_sample *sample)
{
	unsigned long flags;

	local_irq_save(flags);
	take_sample(sample, TRIES, 0);
	local_irq_restore(flags);
}

/*
 * Whether the kernel's own clock counts this TSC: if so, the kernel's watchdog checks it as well.
 */
static bool timekeeper_counts_tsc(void)
{
	u64 before, cycles, after;
	int i;

	for (i = 0; i < 3; i++) {
		before = argtrace_cycles_ordered();
		cycles = argtrace_timekeeper_cycles() << ARGTRACE_CYCLES_SHIFT;
		after = argtrace_cycles_ordered();
		if (cycles < before || cycles > after)
			return false;
	}
	return true;
}

bool argtrace_clock_has_tsc(void)
{
	return argtrace_cycles_are_usable() &&
	       (argtrace_cycles_are_steady() || timekeeper_counts_tsc());
}

int argtrace_clock_choose(u32 *clock)
{
	switch (*clock) {
	case ARGTRACE_CLOCK_MONOTONIC:
		return 0;
	case ARGTRACE_CLOCK_TSC:
		return argtrace_clock_has_tsc() ? 0 : -EOPNOTSUPP;
	case ARGTRACE_CLOCK_BEST:
		*clock = argtrace_clock_has_tsc() ? ARGTRACE_CLOCK_TSC : ARGTRACE_CLOCK_MONOTONIC;
		return 0;
	default:
		return -EINVAL;
	}
}

void argtrace_clock_init(void)
{
	sample_well(&earlier);
}

/* ns per tick, times 2^ARGTRACE_MULT_SHIFT. */
static u64 slope(const struct clock_sample *from, const struct clock_sample *to)
{
	/* Implausible, and the quotient might overflow. */
	if (to->tsc - from->tsc <= (to->ns - from->ns) / 2)
		return 0;
	return mul_u64_u64_div_u64(to->ns - from->ns, 1ull << ARGTRACE_MULT_SHIFT,
				   to->tsc - from->tsc);
}

/* Within a thousandth of the calibrated rate; CLOCK_MONOTONIC stops during a suspend. */
static bool is_plausible(u64 mult)
{
	u64 nominal = div64_u64((u64)NSEC_PER_MSEC << ARGTRACE_MULT_SHIFT, argtrace_cycles_khz());

	return mult >= nominal - nominal / 1000 && mult <= nominal + nominal / 1000 &&
	       mult <= U32_MAX;
}

u32 argtrace_clock_mult(u32 clock)
{
	struct clock_sample now;
	u64 mult = 0;

	if (clock != ARGTRACE_CLOCK_TSC)
		return 1u << ARGTRACE_MULT_SHIFT;

	mutex_lock(&measure_lock);
	sample_well(&now);
	if (now.ns - earlier.ns >= SPAN_MIN && now.ns - earlier.ns <= SPAN_MAX)
		mult = slope(&earlier, &now);
	if (!is_plausible(mult)) {
		earlier = now;
		msleep(SPAN_MIN / NSEC_PER_MSEC);
		sample_well(&now);
		mult = slope(&earlier, &now);
	}
	/* The next session measures from here, and so over a longer span than it would wait for. */
	if (now.ns - earlier.ns > SPAN_KEPT)
		earlier = now;
	mutex_unlock(&measure_lock);
	return is_plausible(mult) ? mult :
	       div64_u64((u64)NSEC_PER_MSEC << ARGTRACE_MULT_SHIFT, argtrace_cycles_khz());
}

/* About a microsecond: an interruption is longer. */
#define GOOD_ENOUGH	2048

u64 argtrace_clock_ns(u32 clock, u64 now, u32 mult)
{
	struct clock_sample sample;

	if (clock != ARGTRACE_CLOCK_TSC)
		return now;
	take_sample(&sample, 3, GOOD_ENOUGH);
	return sample.ns - mul_u64_u32_shr(sample.tsc - now, mult, ARGTRACE_MULT_SHIFT);
}
