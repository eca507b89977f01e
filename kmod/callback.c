// SPDX-License-Identifier: GPL-2.0-only
/*
 * One traced call, in whatever context it happened: no locks, no allocation, nothing that
 * could sleep or print. Each call ends in exactly one outcome of its probe.
 */
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/thread_info.h>
#include <linux/trace_recursion.h>

#include "callback.h"
#include "session.h"

/* The TRACE_FLAG_* of include/linux/trace_events.h, as kernel/trace/trace.c derives them. */
static __always_inline u8 context_flags(unsigned int preempt)
{
	u8 flags = 0;

	if (irqs_disabled())
		flags |= ARGTRACE_CTX_IRQS_OFF;
	if (preempt & NMI_MASK)
		flags |= ARGTRACE_CTX_NMI;
	if (preempt & HARDIRQ_MASK)
		flags |= ARGTRACE_CTX_HARDIRQ;
	if (preempt & SOFTIRQ_OFFSET)
		flags |= ARGTRACE_CTX_SOFTIRQ;
	if ((preempt & SOFTIRQ_MASK) >> (SOFTIRQ_SHIFT + 1))
		flags |= ARGTRACE_CTX_BH_OFF;
	if (tif_need_resched())
		flags |= ARGTRACE_CTX_NEED_RESCHED;
	if (test_preempt_need_resched())
		flags |= ARGTRACE_CTX_PREEMPT_RESCHED;
	return flags;
}

static __always_inline void encode(u8 *to, const struct argtrace_session *session,
				   const struct argtrace_plan *plan, u64 clock,
				   unsigned int own_levels, unsigned long parent_ip,
				   const struct ftrace_regs *fregs)
{
	unsigned int preempt = preempt_count() - own_levels;
	struct argtrace_record *record = (void *)to;

	/* The padding is what is left of the last word. */
	*(u64 *)(to + plan->record_size - sizeof(u64)) = 0;
	*record = (struct argtrace_record){
		.clock = clock,
		.id = plan->id,
		.tid = current->pid,
		.size = plan->record_size,
		.context = context_flags(preempt),
		.preempt = preempt & PREEMPT_MASK,
	};
	to += sizeof(*record);
	if (likely(!(session->format & ARGTRACE_FORMAT_NO_CALLER))) {
		*(u64 *)to = parent_ip;
		to += sizeof(u64);
	}
	if (likely(!(session->format & ARGTRACE_FORMAT_NAMED)))
		argtrace_encode_compact(to, plan->steps, plan->nr_steps, fregs);
	else
		argtrace_encode_named(to, plan->steps, plan->nr_steps, plan->strings, fregs);
}

static __always_inline void record_call(struct argtrace_session *session,
					struct argtrace_plan *plan, unsigned int own_levels,
					unsigned long parent_ip,
					const struct ftrace_regs *fregs)
{
	struct argtrace_ring *ring = this_cpu_ptr(session->rings);
	u64 clock;
	u8 *to;

	if (unlikely(!ring->control)) {
		this_cpu_inc(plan->outcomes->lost[ARGTRACE_LOST_NO_BUFFER]);
		return;
	}
	argtrace_ring_begin(ring);
	to = argtrace_ring_reserve(ring, plan->record_size, &clock);
	if (likely(to)) {
		encode(to, session, plan, clock, own_levels, parent_ip, fregs);
		this_cpu_inc(plan->outcomes->records);
	} else {
		this_cpu_inc(plan->outcomes->lost[ARGTRACE_LOST_FULL]);
	}
	argtrace_ring_end(ring);
	if (unlikely(READ_ONCE(session->waiting)))
		irq_work_queue(&session->wake);
}

/*
 * How many levels of preempt_disable() are not the traced function's: the guard's, and
 * one more when ftrace has not called us from our own trampoline but from the list
 * function, as it does where others trace the same function.
 */
#define own_preempt_levels(ops) \
	(1 + ((unsigned long)__builtin_return_address(0) - (ops)->trampoline >= \
	      (ops)->trampoline_size))

/* Inside another tracer, or in what we call ourselves, in this very context. */
static noinline void count_recursion(struct argtrace_session *session, unsigned long ip)
{
	struct argtrace_plan *plan;

	preempt_disable_notrace();
	plan = argtrace_table_lookup(rcu_dereference_raw(session->table), ip);
	if (plan)
		this_cpu_inc(plan->outcomes->lost[ARGTRACE_LOST_RECURSION]);
	preempt_enable_notrace();
}

void argtrace_callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs)
{
	struct argtrace_session *session = container_of(ops, struct argtrace_session, ops);
	const unsigned int own_levels = own_preempt_levels(ops);
	struct argtrace_plan *plan;
	int bit;

	/* Turns preemption off, which is also our read side of RCU (argtrace_synchronize()). */
	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (unlikely(bit < 0)) {
		count_recursion(session, ip);
		return;
	}
	plan = argtrace_table_lookup(rcu_dereference_raw(session->table), ip);
	if (likely(plan)) {
		if (unlikely(current->tgid == READ_ONCE(session->excluded_tgid)))
			this_cpu_inc(plan->outcomes->filtered);
		else
			record_call(session, plan, own_levels, parent_ip, fregs);
	}
	ftrace_test_recursion_unlock(bit);
}
