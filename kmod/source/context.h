/* SPDX-License-Identifier: GPL-2.0-only */
/* The context in which a call was made, as records have it. Preemption is off. */
#ifndef ARGTRACE_CONTEXT_H
#define ARGTRACE_CONTEXT_H

#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/thread_info.h>
#include <uapi/argtrace.h>

#include "compat.h"

/* The context in the last word of a record's header, which also has the size. */
static __always_inline u32 argtrace_context_word(unsigned int own_levels)
{
	unsigned int preempt = preempt_count() - own_levels;
	u8 flags = 0;

	/* The TRACE_FLAG_* of include/linux/trace_events.h, as kernel/trace/trace.c derives them. */
	if (irqs_disabled())
		flags |= ARGTRACE_CTX_IRQS_OFF;
	/* A single test, so that calls made with a lock held pay for no more. */
	if ((preempt & (NMI_MASK | HARDIRQ_MASK)) | argtrace_softirq_count(preempt)) {
		if (preempt & NMI_MASK)
			flags |= ARGTRACE_CTX_NMI;
		if (preempt & HARDIRQ_MASK)
			flags |= ARGTRACE_CTX_HARDIRQ;
		if (argtrace_softirq_count(preempt) & SOFTIRQ_OFFSET)
			flags |= ARGTRACE_CTX_SOFTIRQ;
		if (argtrace_softirq_count(preempt) >> (SOFTIRQ_SHIFT + 1))
			flags |= ARGTRACE_CTX_BH_OFF;
	}
	if (unlikely(argtrace_resched_is_due())) {
		if (tif_need_resched())
			flags |= ARGTRACE_CTX_NEED_RESCHED;
		if (argtrace_lazy_resched_is_due())
			flags |= ARGTRACE_CTX_NEED_RESCHED_LAZY;
	}
	if (test_preempt_need_resched())
		flags |= ARGTRACE_CTX_PREEMPT_RESCHED;
	return (u32)flags << 16 | (preempt & PREEMPT_MASK) << 24;
}

/*
 * How many levels of preempt_disable() do not belong to the traced function: ours, and
 * one more if ftrace has called us from its list function instead of our own trampoline,
 * as it does when others trace the same function.
 */
static __always_inline unsigned int argtrace_own_preempt_levels(const struct ftrace_ops *ops,
						       const void *called_from)
{
	return PREEMPT_DISABLE_OFFSET ? 1 + ((unsigned long)called_from - ops->trampoline >=
					     ops->trampoline_size) : 0;
}

/* Whether argtrace_context_word(own_levels) is 0. */
static __always_inline bool argtrace_context_is_plain_above(unsigned int own_levels)
{
	return argtrace_preempt_count_is(PREEMPT_ENABLED + own_levels * PREEMPT_DISABLE_OFFSET) &&
	       !argtrace_resched_is_due() && !irqs_disabled() && !argtrace_softirq_is_hidden();
}

/* The same if only our own level has to be subtracted. */
static __always_inline bool argtrace_context_is_plain(void)
{
	return argtrace_context_is_plain_above(1);
}

#endif
