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

#include "arch/preempt.h"
#include "arch/text.h"
#include "base/compat.h"

/* Where the word has the flags, and above them the levels: see struct argtrace_record. */
#define ARGTRACE_CONTEXT_FLAGS_SHIFT	16
#define ARGTRACE_CONTEXT_PREEMPT_SHIFT	24
static_assert(PREEMPT_MASK == U32_MAX >> ARGTRACE_CONTEXT_PREEMPT_SHIFT,
	      "the shift leaves the levels alone");

/* The preemption count of plain context, where a callback has so many levels of its own. */
static __always_inline argtrace_preempt_word argtrace_plain_preempt_word(unsigned int own_levels)
{
	return PREEMPT_ENABLED + own_levels * PREEMPT_DISABLE_OFFSET;
}

/* By a branch: most flags are not set, and a conditional move takes two instructions more. */
static __always_inline u32 argtrace_flag_if(u32 flags, bool set, u32 flag)
{
	if (set) {
		flags |= flag;
		OPTIMIZER_HIDE_VAR(flags);
	}
	return flags;
}

/*
 * What the preemption count says besides levels of disabled preemption: the flags of an interrupt,
 * or of the need to reschedule. `levels` is the count less that of plain context.
 */
static __always_inline u32 argtrace_nested_context_flags(argtrace_preempt_word levels)
{
	const argtrace_preempt_word count = levels + PREEMPT_ENABLED;
	const u32 preempt = count & ~PREEMPT_NEED_RESCHED;
	u32 flags = 0;

	/* A single test, so that what only is to be rescheduled pays for no more. */
	if ((preempt & (NMI_MASK | HARDIRQ_MASK)) | argtrace_softirq_count(preempt)) {
		flags = argtrace_flag_if(flags, preempt & NMI_MASK, ARGTRACE_CTX_NMI);
		flags = argtrace_flag_if(flags, preempt & HARDIRQ_MASK, ARGTRACE_CTX_HARDIRQ);
		flags = argtrace_flag_if(flags, argtrace_softirq_count(preempt) & SOFTIRQ_OFFSET,
					 ARGTRACE_CTX_SOFTIRQ);
		flags = argtrace_flag_if(flags,
					 argtrace_softirq_count(preempt) >> (SOFTIRQ_SHIFT + 1),
					 ARGTRACE_CTX_BH_OFF);
	}
	return argtrace_flag_if(flags, !(count & PREEMPT_NEED_RESCHED),
				ARGTRACE_CTX_PREEMPT_RESCHED);
}

/*
 * The context in the last word of a record's header, which also has the size: the TRACE_FLAG_* of
 * include/linux/trace_events.h, as kernel/trace/trace.c derives them. `plain` is the preemption
 * count of plain context. Each thing is looked at once, and those that most calls do not have,
 * together.
 */
static __always_inline u32 argtrace_context_word_above(argtrace_preempt_word plain)
{
	const argtrace_preempt_word levels = argtrace_read_preempt_word() - plain;
	u32 context = (u32)levels << ARGTRACE_CONTEXT_PREEMPT_SHIFT;

	if (unlikely(levels & ~(argtrace_preempt_word)PREEMPT_MASK) || argtrace_softirq_is_hidden())
		context |= argtrace_nested_context_flags(levels) << ARGTRACE_CONTEXT_FLAGS_SHIFT;
	context = argtrace_flag_if(context, irqs_disabled(),
				   ARGTRACE_CTX_IRQS_OFF << ARGTRACE_CONTEXT_FLAGS_SHIFT);
	if (unlikely(argtrace_resched_is_due())) {
		if (tif_need_resched())
			context |= ARGTRACE_CTX_NEED_RESCHED << ARGTRACE_CONTEXT_FLAGS_SHIFT;
		if (argtrace_lazy_resched_is_due())
			context |= ARGTRACE_CTX_NEED_RESCHED_LAZY << ARGTRACE_CONTEXT_FLAGS_SHIFT;
	}
	return context;
}

static __always_inline u32 argtrace_context_word(unsigned int own_levels)
{
	return argtrace_context_word_above(argtrace_plain_preempt_word(own_levels));
}

/*
 * How many levels of preempt_disable() do not belong to the traced function: ours, and
 * one more if ftrace has called us from its list function, as it does when others trace the same
 * function.
 */
static __always_inline unsigned int argtrace_own_preempt_levels(const struct ftrace_ops *ops,
								const void *called_from)
{
	return PREEMPT_DISABLE_OFFSET ? 1 + argtrace_is_called_by_list(ops, called_from) : 0;
}

/*
 * In place of the address that a callback was called from, for sources that are not called by
 * ftrace: the number of these levels itself. No function is at such an address.
 */
#define ARGTRACE_OWN_LEVELS(levels)	((const void *)(unsigned long)(levels))
#define ARGTRACE_OWN_LEVELS_MAX		2

/* The same for functions that serve all sources. */
static __always_inline unsigned int argtrace_levels_of(const struct ftrace_ops *ops,
						       const void *called_from)
{
	if ((unsigned long)called_from <= ARGTRACE_OWN_LEVELS_MAX)
		return (unsigned long)called_from;
	return argtrace_own_preempt_levels(ops, called_from);
}

/* Whether the context is plain, if only our own level has to be subtracted. */
static __always_inline bool argtrace_context_is_plain(void)
{
	return argtrace_read_preempt_word() == argtrace_plain_preempt_word(1) &&
	       !argtrace_resched_is_due() && !irqs_disabled() && !argtrace_softirq_is_hidden();
}

#endif
