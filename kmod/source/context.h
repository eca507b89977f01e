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

/* The preemption count of plain context, where a callback has so many levels of its own. */
static __always_inline argtrace_preempt_word argtrace_plain_preempt_word(unsigned int own_levels)
{
	return PREEMPT_ENABLED + own_levels * PREEMPT_DISABLE_OFFSET;
}

/* Whether interrupts are on and nothing is to be scheduled, apart from what is in the preemption count. */
static __always_inline bool argtrace_rest_is_plain(void)
{
	return !argtrace_resched_is_due() && !irqs_disabled() && !argtrace_softirq_is_hidden();
}

/* argtrace_context_word_above() where more has to be told than levels of disabled preemption. `levels` is what is above plain context. */
static __always_inline u32 argtrace_context_word_in_full(argtrace_preempt_word levels)
{
	const argtrace_preempt_word count = levels + PREEMPT_ENABLED;
	const u32 preempt = count & ~PREEMPT_NEED_RESCHED;
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
	if (!(count & PREEMPT_NEED_RESCHED))
		flags |= ARGTRACE_CTX_PREEMPT_RESCHED;
	return (u32)flags << 16 | (preempt & PREEMPT_MASK) << 24;
}

/*
 * The context in the last word of a record's header, which also has the size. `plain` is the preemption count of plain context. The
 * usual contexts are plain, or have a lock, and are told by the same tests.
 */
static __always_inline u32 argtrace_context_word_above(argtrace_preempt_word plain)
{
	const argtrace_preempt_word levels = argtrace_read_preempt_word() - plain;

	if (likely(!(levels & ~(argtrace_preempt_word)PREEMPT_MASK)) && likely(argtrace_rest_is_plain()))
		return (u32)levels << 24;
	return argtrace_context_word_in_full(levels);
}

static __always_inline u32 argtrace_context_word(unsigned int own_levels)
{
	return argtrace_context_word_above(argtrace_plain_preempt_word(own_levels));
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

/* Whether the context is plain, if only our own level has to be subtracted. */
static __always_inline bool argtrace_context_is_plain(void)
{
	return argtrace_read_preempt_word() == argtrace_plain_preempt_word(1) && argtrace_rest_is_plain();
}

#endif
