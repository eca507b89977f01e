// SPDX-License-Identifier: GPL-2.0-only
/* What is rare about a record, out of line, so that the usual one saves no registers. */
#include "session.h"
#include "sink/record.h"

void argtrace_record_wake_reader(struct argtrace_session *session)
{
	/* Within the guard somebody is about to do it, or the next call will. */
	if (argtrace_recursion_enter()) {
		irq_work_queue(&session->wake);
		argtrace_recursion_leave();
	}
	preempt_enable_notrace();
}

/* Says in a record with a header which words of the stack, and so which arguments, could not be read. */
static noinline void mark_unreadable(u8 *to, const struct argtrace_plan *plan, unsigned int readable)
{
	struct argtrace_record *record = (void *)to;

	record->id += ARGTRACE_ID_UNREADABLE;
	to[plan->layout.mark_at] = readable;
}

void argtrace_record_rest(u8 *to, u32 format, const struct argtrace_plan *plan,
			  const struct ftrace_regs *fregs)
{
	unsigned int readable = ARGTRACE_STACK_WORDS;

	if (format & ARGTRACE_FORMAT_NAMED)
		argtrace_encode_named(to + max(plan->layout.caller_at + sizeof(u64),
					       sizeof(struct argtrace_record)),
				      plan->layout.steps, plan->layout.nr_steps, plan->strings, fregs,
				      &readable);
	else
		readable = argtrace_encode_rest(to, &plan->layout, fregs);
	if (unlikely(readable < ARGTRACE_STACK_WORDS))
		mark_unreadable(to, plan, readable);
}
