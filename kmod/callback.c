// SPDX-License-Identifier: GPL-2.0-only
/*
 * One traced call, in whatever context it happened: no locks, no allocation, nothing that
 * could sleep or print. Each call ends in exactly one outcome of its probe.
 *
 * Its usual way is one function without a call in it, so that nothing needs to be saved and
 * nothing can recurse. Where something rare is to be done it ends in a tail call of
 * one of the functions above it, which complete the call. docs/performance.md says what the
 * instructions are spent on.
 */
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/thread_info.h>

#include "callback.h"
#include "guard.h"
#include "session.h"

/* What a record says of the context, beside its size, in the last word of its header. */
static __always_inline u32 context_word(unsigned int own_levels)
{
	unsigned int preempt = preempt_count() - own_levels;
	u8 flags = 0;

	/* The TRACE_FLAG_* of include/linux/trace_events.h, as kernel/trace/trace.c derives them. */
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
	return (u32)flags << 16 | (preempt & PREEMPT_MASK) << 24;
}

/*
 * How many levels of preempt_disable() are not the traced function's: ours, and
 * one more when ftrace has not called us from our own trampoline but from the list
 * function, as it does where others trace the same function.
 */
#define own_preempt_levels(ops) \
	(PREEMPT_DISABLE_OFFSET ? 1 + ((unsigned long)__builtin_return_address(0) - \
				       (ops)->trampoline >= (ops)->trampoline_size) : 0)

/* Whether context_word() is 0 where only our own level is to be taken away. */
static __always_inline bool context_is_plain(void)
{
	return argtrace_preempt_count_is(PREEMPT_ENABLED + PREEMPT_DISABLE_OFFSET) &&
	       !tif_need_resched() && !irqs_disabled();
}

static __always_inline void write_header(u8 *to, const struct argtrace_plan *plan, u32 clock,
					 u32 tid, u32 context)
{
	struct argtrace_record *record = (void *)to;
	u32 *last = (void *)&record->size;

	record->clock = clock;
	record->id = plan->id;
	record->tid = tid;
	*last = plan->record_size | context;
}

static __always_inline void write_registers(u8 *to, const struct argtrace_plan *plan,
					    unsigned long parent_ip,
					    const struct ftrace_regs *fregs)
{
	*(u64 *)(to + plan->caller_at) = parent_ip;
	argtrace_encode_registers(to, &plan->layout, fregs);
}

/* All that is not in a register, or takes care. */
static __always_inline void write_rest(u8 *to, const struct argtrace_session *session,
				       const struct argtrace_plan *plan,
				       const struct ftrace_regs *fregs)
{
	if (unlikely(session->format & ARGTRACE_FORMAT_NAMED))
		argtrace_encode_named(to + max(plan->caller_at + sizeof(u64),
					       sizeof(struct argtrace_record)),
				      plan->layout.steps, plan->layout.nr_steps, plan->strings, fregs);
	else
		argtrace_encode_rest(to, &plan->layout, fregs);
}

/* Somebody waits for data. */
static noinline void wake_reader(struct argtrace_session *session)
{
	/* Within the guard somebody is about to do it, or the next call will. */
	if (argtrace_guard_enter()) {
		irq_work_queue(&session->wake);
		argtrace_guard_leave();
	}
	preempt_enable_notrace();
}

/* The end of every call for which ring_begin() has been called. */
static __always_inline void finish(struct argtrace_session *session,
				   struct argtrace_ring_control *control)
{
	argtrace_ring_end(control);
	if (unlikely(READ_ONCE(session->waiting)))
		return wake_reader(session);
	preempt_enable_notrace();
}

static noinline void finish_with_rest(struct argtrace_session *session,
				       struct argtrace_plan *plan,
				       struct argtrace_ring_control *control, u8 *to,
				       const struct ftrace_regs *fregs)
{
	write_rest(to, session, plan, fregs);
	this_cpu_inc(plan->outcomes->records);
	finish(session, control);
}

/* Where ring_reserve() said that it takes more. */
static noinline void record_slow(struct argtrace_session *session, struct argtrace_plan *plan,
				 struct argtrace_ring *ring, unsigned int own_levels,
				 unsigned long parent_ip, const struct ftrace_regs *fregs)
{
	u64 clock;
	u8 *to;

	if (unlikely(!argtrace_guard_enter())) {
		this_cpu_inc(plan->outcomes->lost[ARGTRACE_LOST_RECURSION]);
		return finish(session, ring->control);
	}
	to = argtrace_ring_reserve_slow(ring, plan->record_size, &clock);
	argtrace_guard_leave();
	if (unlikely(!to)) {
		this_cpu_inc(plan->outcomes->lost[ARGTRACE_LOST_FULL]);
		return finish(session, ring->control);
	}
	write_registers(to, plan, parent_ip, fregs);
	write_header(to, plan, clock, current->pid, context_word(own_levels));
	finish_with_rest(session, plan, ring->control, to, fregs);
}

/* Preemption is off, which is also our read side of RCU (argtrace_synchronize()); turns it on. */
static __always_inline void record_call(struct argtrace_session *session,
					struct argtrace_plan *plan, const u32 clock_id,
					struct ftrace_ops *ops, unsigned long parent_ip,
					const struct ftrace_regs *fregs)
{
	struct argtrace_ring *ring = this_cpu_ptr(session->rings);
	struct argtrace_ring_control *control = ring->control;
	const u32 tid = current->pid;
	u32 clock, context;
	u8 *to;

	if (unlikely(!control)) {
		this_cpu_inc(plan->outcomes->lost[ARGTRACE_LOST_NO_BUFFER]);
		preempt_enable_notrace();
		return;
	}
	argtrace_ring_begin(control);
	if (unlikely(!argtrace_ring_reserve(ring, control, plan->record_size, tid, clock_id,
					    &clock, &to)))
		return record_slow(session, plan, ring, own_preempt_levels(ops), parent_ip, fregs);

	write_registers(to, plan, parent_ip, fregs);
	context = likely(context_is_plain()) ? 0 : context_word(own_preempt_levels(ops));
	write_header(to, plan, clock, tid, context);
	if (unlikely(plan->layout.has_rest) && !argtrace_encode_stack(to, &plan->layout, fregs))
		return finish_with_rest(session, plan, control, to, fregs);
	this_cpu_inc(plan->outcomes->records);
	finish(session, control);
}

static __always_inline bool is_filtered(const struct argtrace_session *session)
{
	return current->tgid == READ_ONCE(session->excluded_tgid);
}

static __always_inline void filter_call(struct argtrace_plan *plan)
{
	this_cpu_inc(plan->outcomes->filtered);
	preempt_enable_notrace();
}

static __always_inline void callback(unsigned long ip, unsigned long parent_ip,
				     struct ftrace_ops *ops, const struct ftrace_regs *fregs,
				     const u32 clock_id)
{
	struct argtrace_session *session = container_of(ops, struct argtrace_session, ops);
	struct argtrace_plan *plan;

	preempt_disable_notrace();
	plan = argtrace_table_lookup(rcu_dereference_raw(session->table), ip);
	if (unlikely(!plan)) {
		preempt_enable_notrace();
		return;
	}
	if (unlikely(is_filtered(session)))
		return filter_call(plan);
	record_call(session, plan, clock_id, ops, parent_ip, fregs);
}

static void callback_tsc(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
	callback(ip, parent_ip, ops, fregs, ARGTRACE_CLOCK_TSC);
}

static void callback_monotonic(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			       struct ftrace_regs *fregs)
{
	callback(ip, parent_ip, ops, fregs, ARGTRACE_CLOCK_MONOTONIC);
}

ftrace_func_t argtrace_callback_of(u32 clock)
{
	return clock == ARGTRACE_CLOCK_TSC ? callback_tsc : callback_monotonic;
}
