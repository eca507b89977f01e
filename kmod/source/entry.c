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

#include "source/entry.h"
#include "hook.h"
#include "recursion.h"
#include "session.h"
#include "sink/encode.h"

/* What a record says of the context, beside its size, in the last word of its header. */
static __always_inline u32 context_word(unsigned int own_levels)
{
	unsigned int preempt = preempt_count() - own_levels;
	u8 flags = 0;

	/* The TRACE_FLAG_* of include/linux/trace_events.h, as kernel/trace/trace.c derives them. */
	if (irqs_disabled())
		flags |= ARGTRACE_CTX_IRQS_OFF;
	/* One test suffices for a call made with a lock held. */
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
	if (tif_need_resched())
		flags |= ARGTRACE_CTX_NEED_RESCHED;
	if (argtrace_lazy_resched_is_due())
		flags |= ARGTRACE_CTX_NEED_RESCHED_LAZY;
	if (test_preempt_need_resched())
		flags |= ARGTRACE_CTX_PREEMPT_RESCHED;
	return (u32)flags << 16 | (preempt & PREEMPT_MASK) << 24;
}

/*
 * How many levels of preempt_disable() are not the traced function's: ours, and
 * one more when ftrace has not called us from our own trampoline but from the list
 * function, as it does where others trace the same function.
 */
static __always_inline unsigned int own_preempt_levels(const struct ftrace_ops *ops,
						       const void *called_from)
{
	return PREEMPT_DISABLE_OFFSET ? 1 + ((unsigned long)called_from - ops->trampoline >=
					     ops->trampoline_size) : 0;
}

/* Whether context_word() is 0 where only our own level is to be taken away. */
static __always_inline bool context_is_plain(void)
{
	return argtrace_preempt_count_is(PREEMPT_ENABLED + PREEMPT_DISABLE_OFFSET) &&
	       !argtrace_resched_is_due() && !irqs_disabled() && !argtrace_softirq_is_hidden();
}

static __always_inline void write_header(u8 *to, const struct argtrace_plan *plan, u32 clock,
					 u32 tid, u32 context)
{
	struct argtrace_record *record = (void *)to;

	record->clock = clock;
	record->tid = tid;
	__builtin_memcpy(&record->id, &plan->head, sizeof(plan->head));
	*(u32 *)&record->size |= context;
}

static __always_inline void write_registers(u8 *to, const struct argtrace_plan *plan,
					    unsigned long parent_ip,
					    const struct ftrace_regs *fregs)
{
	*(u64 *)(to + plan->layout.caller_at) = parent_ip;
	argtrace_encode_registers(to, &plan->layout, fregs);
}

/* Says in a record with a header which words of the stack, and so which arguments, could not be read. */
static noinline void mark_unreadable(u8 *to, const struct argtrace_plan *plan, unsigned int readable)
{
	struct argtrace_record *record = (void *)to;

	record->id += ARGTRACE_ID_UNREADABLE;
	to[plan->layout.mark_at] = readable;
}

/* Arguments that are not plain registers, into a record with a header. */
static __always_inline void write_rest(u8 *to, u32 format, const struct argtrace_plan *plan,
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

static noinline void wake_reader(struct argtrace_session *session)
{
	/* Within the guard somebody is about to do it, or the next call will. */
	if (argtrace_recursion_enter()) {
		irq_work_queue(&session->wake);
		argtrace_recursion_leave();
	}
	preempt_enable_notrace();
}

/* The end of every call for which ring_begin() has been called. */
static __always_inline void finish(struct argtrace_ring *ring)
{
	argtrace_ring_end(ring->control);
	barrier();
	if (unlikely(ring->waiting))
		return wake_reader(ring->session);
	preempt_enable_notrace();
}

/* The parameters of these are in an order that leaves in their registers what the callback gets. */
static noinline void finish_with_rest(struct argtrace_plan *plan, u8 *to,
				      struct argtrace_ring *ring, const struct ftrace_regs *fregs)
{
	write_rest(to, ring->format, plan, fregs);
	this_cpu_inc(plan->counters->records);
	finish(ring);
}

/* What may have to precede the record: a packet, the clock, the task. */
static noinline void record_with_care(struct argtrace_plan *plan, unsigned long parent_ip,
				      struct argtrace_ring *ring, const struct ftrace_regs *fregs,
				      u32 context)
{
	u64 clock;
	u8 *to;

	if (unlikely(!argtrace_recursion_enter())) {
		this_cpu_inc(plan->counters->lost[ARGTRACE_LOST_RECURSION]);
		return finish(ring);
	}
	to = argtrace_ring_reserve_slow(ring, plan->record_size, &clock);
	argtrace_recursion_leave();
	if (unlikely(!to)) {
		this_cpu_inc(plan->counters->lost[ARGTRACE_LOST_FULL]);
		return finish(ring);
	}
	write_registers(to, plan, parent_ip, fregs);
	write_header(to, plan, clock, current->pid, context);
	finish_with_rest(plan, to, ring, fregs);
}

/* argtrace_ring_reserve() failed; with no reader every call ends here. */
static noinline void record_slow(struct argtrace_plan *plan, unsigned long parent_ip,
				 struct argtrace_ring *ring, const struct ftrace_regs *fregs,
				 u32 context)
{
	if (unlikely(!ring->packets)) {
		this_cpu_inc(plan->counters->lost[ARGTRACE_LOST_NO_BUFFER]);
		return finish(ring);
	}
	if (argtrace_ring_is_full(ring, plan->record_size)) {
		argtrace_ring_count_lost(ring);
		this_cpu_inc(plan->counters->lost[ARGTRACE_LOST_FULL]);
		return finish(ring);
	}
	record_with_care(plan, parent_ip, ring, fregs, context);
}

/* Preemption is off, and on again at the end. */
static __always_inline void record_call(struct argtrace_plan *plan, struct argtrace_ring *ring,
					u32 context, unsigned long parent_ip,
					const struct ftrace_regs *fregs, const u32 clock_id,
					const bool flight)
{
	struct argtrace_ring_control *control = ring->control;
	u32 clock;
	u8 *to;

	argtrace_ring_begin(control);
	if (unlikely(!argtrace_ring_reserve(ring, control, plan->record_size, current->pid,
					    clock_id, flight, &clock, &to)))
		return record_slow(plan, parent_ip, ring, fregs, context);

	write_registers(to, plan, parent_ip, fregs);
	if (unlikely(plan->layout.has_rest) && !argtrace_encode_stack(to, &plan->layout, fregs)) {
		write_header(to, plan, clock, ring->last_tid, context);
		return finish_with_rest(plan, to, ring, fregs);
	}
	write_header(to, plan, clock, ring->last_tid, context);
	this_cpu_inc(plan->counters->records);
	finish(ring);
}

/*
 * With interrupts or preemption off, in an interrupt, or when others trace the same function. One for
 * each clock and kind of ring, so that hardly a register has to be saved.
 */
#define DEFINE_RECORD_WITH_CONTEXT(name, clock, flight)						\
static noinline void name(struct argtrace_plan *plan, unsigned long parent_ip,			\
			  struct argtrace_ring *ring, const struct ftrace_regs *fregs,		\
			  unsigned int own_levels)						\
{												\
	record_call(plan, ring, context_word(own_levels), parent_ip, fregs, clock, flight);	\
}

DEFINE_RECORD_WITH_CONTEXT(stream_with_context_tsc, ARGTRACE_CLOCK_TSC, false)
DEFINE_RECORD_WITH_CONTEXT(stream_with_context_monotonic, ARGTRACE_CLOCK_MONOTONIC, false)
DEFINE_RECORD_WITH_CONTEXT(flight_with_context_tsc, ARGTRACE_CLOCK_TSC, true)
DEFINE_RECORD_WITH_CONTEXT(flight_with_context_monotonic, ARGTRACE_CLOCK_MONOTONIC, true)

static __always_inline void record_with_context(struct argtrace_plan *plan, unsigned long parent_ip,
						struct argtrace_ring *ring,
						const struct ftrace_regs *fregs,
						unsigned int own_levels, u32 clock,
						const bool flight)
{
	if (clock == ARGTRACE_CLOCK_TSC && flight)
		flight_with_context_tsc(plan, parent_ip, ring, fregs, own_levels);
	else if (clock == ARGTRACE_CLOCK_TSC)
		stream_with_context_tsc(plan, parent_ip, ring, fregs, own_levels);
	else if (flight)
		flight_with_context_monotonic(plan, parent_ip, ring, fregs, own_levels);
	else
		stream_with_context_monotonic(plan, parent_ip, ring, fregs, own_levels);
}

/*
 * Records a call that passed the PID filter. Out of line and with the callback's argument order, so that
 * rejected calls move and spill no registers.
 */
#define DEFINE_RECORD_PID_MATCH(name, flight)							\
static noinline __noclone void name(struct argtrace_plan *plan, unsigned long parent_ip,	\
				    struct ftrace_ops *ops, const struct ftrace_regs *fregs,	\
				    const void *called_from)					\
{												\
	struct argtrace_lane *lane = container_of(ops, struct argtrace_lane, ops);		\
	struct argtrace_ring *ring = this_cpu_ptr(lane->rings);					\
												\
	if (unlikely(!context_is_plain()))							\
		record_with_context(plan, parent_ip, ring, fregs,				\
				    own_preempt_levels(ops, called_from), ring->clock, flight);	\
	else if (ring->clock == ARGTRACE_CLOCK_TSC)						\
		record_call(plan, ring, 0, parent_ip, fregs, ARGTRACE_CLOCK_TSC, flight);	\
	else											\
		record_call(plan, ring, 0, parent_ip, fregs, ARGTRACE_CLOCK_MONOTONIC, flight);	\
}

DEFINE_RECORD_PID_MATCH(stream_pid_match, false)
DEFINE_RECORD_PID_MATCH(flight_pid_match, true)

/* In an interrupt it is the interrupted process that counts, as for ftrace's own filter. */
static __always_inline bool is_filtered(const struct argtrace_lane *lane,
					const bool by_pid)
{
	const pid_t tgid = current->tgid;

	if (by_pid &&
	    !argtrace_pid_filter_has(rcu_dereference_raw(lane->pid_filter), tgid))
		return true;
	return tgid == READ_ONCE(lane->excluded_tgid);
}

/* Preemption off is also our read side of RCU (argtrace_synchronize()). */
static __always_inline void callback(unsigned long ip, unsigned long parent_ip,
				     struct ftrace_ops *ops, const struct ftrace_regs *fregs,
				     const u32 clock_id, const bool by_pid, const bool flight)
{
	struct argtrace_lane *lane = container_of(ops, struct argtrace_lane, ops);
	struct argtrace_ring *ring;
	struct argtrace_plan *plan;

	preempt_disable_notrace();
	plan = argtrace_table_lookup(rcu_dereference_raw(lane->table), ip);
	if (unlikely(!plan)) {
		ARGTRACE_HOOK(NO_PROBE);
		preempt_enable_notrace();
		return;
	}
	if (unlikely(is_filtered(lane, by_pid))) {
		this_cpu_inc(plan->counters->filtered);
		preempt_enable_notrace();
		return;
	}
	if (by_pid && flight)
		return flight_pid_match(plan, parent_ip, ops, fregs, __builtin_return_address(0));
	if (by_pid)
		return stream_pid_match(plan, parent_ip, ops, fregs, __builtin_return_address(0));
	ring = this_cpu_ptr(lane->rings);
	if (unlikely(!context_is_plain()))
		return record_with_context(plan, parent_ip, ring, fregs,
				      own_preempt_levels(ops, __builtin_return_address(0)),
				      clock_id, flight);
	record_call(plan, ring, 0, parent_ip, fregs, clock_id, flight);
}

/*
 * One for each kind of session, so that none pays for what it does not use. Those with a PID filter take
 * the clock from the ring.
 */
#define DEFINE_CALLBACK(name, clock, by_pid, flight)						\
static void name(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,		\
		 struct ftrace_regs *fregs)							\
{												\
	callback(ip, parent_ip, ops, fregs, clock, by_pid, flight);				\
}

DEFINE_CALLBACK(stream_tsc, ARGTRACE_CLOCK_TSC, false, false)
DEFINE_CALLBACK(stream_monotonic, ARGTRACE_CLOCK_MONOTONIC, false, false)
DEFINE_CALLBACK(stream_by_pid, ARGTRACE_CLOCK_BEST, true, false)
DEFINE_CALLBACK(flight_tsc, ARGTRACE_CLOCK_TSC, false, true)
DEFINE_CALLBACK(flight_monotonic, ARGTRACE_CLOCK_MONOTONIC, false, true)
DEFINE_CALLBACK(flight_by_pid, ARGTRACE_CLOCK_BEST, true, true)

ftrace_func_t argtrace_entry_callback(const struct argtrace_lane *lane)
{
	const bool tsc = lane->session->clock == ARGTRACE_CLOCK_TSC;
	const bool flight = lane->session->flight;

	/* The plain lane is the only one. */
	if (rcu_access_pointer(lane->pid_filter))
		return flight ? flight_by_pid : stream_by_pid;
	if (flight)
		return tsc ? flight_tsc : flight_monotonic;
	return tsc ? stream_tsc : stream_monotonic;
}
