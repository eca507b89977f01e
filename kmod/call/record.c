// SPDX-License-Identifier: GPL-2.0-only
/* The rare parts of records, out of line, so that the usual path saves no registers. */
#include "sink/notice.h"
#include "call/record.h"
#include "call/record_call.h"

void argtrace_record_wake_reader(struct argtrace_notice *notice)
{
	/* If the guard is taken, its holder is about to do it, or the next call will. */
	if (argtrace_recursion_enter()) {
		irq_work_queue(&notice->wake);
		argtrace_recursion_leave();
	}
	preempt_enable_notrace();
}

__noendbr void argtrace_record_lose(struct argtrace_plan *plan, enum argtrace_lost cause)
{
	argtrace_count_here(plan->counters, lost[cause]);
	preempt_enable_notrace();
}

/*
 * Marks in a record with a header which words of the stack, and so which arguments, could not be
 * read.
 */
static noinline void mark_unreadable(u8 *to, const struct argtrace_plan *plan,
				     unsigned int readable)
{
	struct argtrace_record *record = (void *)to;

	record->id += ARGTRACE_ID_UNREADABLE;
	to[plan->layout.mark_at] = readable;
}

static noinline void write_rest(u8 *to, u32 format, const struct argtrace_plan *plan,
				const struct argtrace_regs *fregs)
{
	unsigned int readable = ARGTRACE_STACK_WORDS;

	if (format & ARGTRACE_FORMAT_NAMED)
		argtrace_encode_named(to + max(plan->layout.caller_at + sizeof(u64),
					       sizeof(struct argtrace_record)),
				      plan->layout.steps,
				      plan->layout.steps_end - plan->layout.steps, plan->strings,
				      fregs, &readable);
	else
		readable = argtrace_encode_rest(to, &plan->layout, fregs);
	argtrace_encode_end(to, &plan->layout);
	if (unlikely(readable < ARGTRACE_STACK_WORDS))
		mark_unreadable(to, plan, readable);
}

void argtrace_record_rest(u8 *to, u32 format, const struct argtrace_plan *plan,
			  const struct argtrace_regs *fregs)
{
	if (unlikely(!plan->layout.rest_is_words))
		return write_rest(to, format, plan, fregs);
	argtrace_encode_words(to, &plan->layout, fregs);
	argtrace_encode_end(to, &plan->layout);
}

void argtrace_record_with_rest(struct argtrace_plan *plan, u8 *to, struct argtrace_ring *ring,
			       const struct argtrace_regs *fregs)
{
	argtrace_record_rest(to, ring->format, plan, fregs);
	argtrace_record_complete(plan, ring);
}

static noinline void record_in_any_context(struct argtrace_plan *plan, unsigned long parent_ip,
					   struct argtrace_ring *ring,
					   const struct argtrace_regs *fregs, u32 context)
{
	u64 clock;
	u8 *to = argtrace_record_reserve(plan, ring, plan->record_size, &clock);

	if (unlikely(!to))
		return argtrace_record_finish(ring);
	argtrace_record_registers(to, plan, parent_ip, fregs);
	argtrace_record_header(to, plan, clock, current->pid, context);
	argtrace_record_with_rest(plan, to, ring, fregs);
}

void argtrace_record_slow(struct argtrace_plan *plan, unsigned long parent_ip,
			  struct argtrace_ring *ring, const struct argtrace_regs *fregs,
			  u32 context)
{
	if (argtrace_record_is_lost(plan, ring, plan->record_size))
		return argtrace_record_finish(ring);
	record_in_any_context(plan, parent_ip, ring, fregs, context);
}
