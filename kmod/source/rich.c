// SPDX-License-Identifier: GPL-2.0-only
/*
 * A call in the rich lane: its probe has a program, which says whether it is recorded and what more is
 * recorded of it. As in source/entry.c there are no locks and no allocation, and each call ends in
 * exactly one outcome; faults are counted beside it.
 *
 * Order: the filter by process, sampling, the program's filter, the cap, the record. What reads memory does so within the guard
 * of fetch/scratch.h.
 */
#include <linux/sched.h>

#include "fetch/exec.h"
#include "fetch/scratch.h"
#include "filter/throttle.h"
#include "session.h"
#include "sink/record.h"
#include "source/context.h"
#include "source/entry.h"

/* How the parts of a call are handed on. */
struct rich_call {
	struct argtrace_plan *plan;
	unsigned long parent_ip;
	const struct ftrace_regs *fregs;
	u32 context;
};

/* Where a record of this call goes. Between argtrace_ring_begin() and argtrace_record_finish(). NULL: it is counted as lost. */
static __always_inline u8 *reserve(struct argtrace_plan *plan, struct argtrace_ring *ring, u32 size, u32 *clock)
{
	struct argtrace_ring_control *control = ring->control;
	const u32 tid = current->pid;
	u64 full_clock;
	u8 *to;

	if (ring->clock == ARGTRACE_CLOCK_TSC ?
		    argtrace_ring_reserve(ring, control, size, tid, ARGTRACE_CLOCK_TSC, ring->flight, clock, &to) :
		    argtrace_ring_reserve(ring, control, size, tid, ARGTRACE_CLOCK_MONOTONIC, ring->flight, clock, &to))
		return to;
	if (argtrace_record_is_lost(plan, ring, size))
		return NULL;
	to = argtrace_record_reserve(plan, ring, size, &full_clock);
	*clock = full_clock;
	return to;
}

/* Everything but the outputs of the program, into a record of `size` bytes. */
static void write_plain(u8 *to, const struct rich_call *call, const struct argtrace_ring *ring, u32 size, u32 clock)
{
	const struct argtrace_plan *plan = call->plan;

	argtrace_record_registers(to, plan, call->parent_ip, call->fregs);
	argtrace_record_header(to, plan, clock, current->pid, call->context);
	((struct argtrace_record *)to)->size = size;
	if (plan->layout.has_rest)
		argtrace_record_rest(to, ring->format, plan, call->fregs);
}

/* After the registers, which may write to the same places before. */
static void write_unreadable(u8 *to, const struct argtrace_code *code, u64 unreadable)
{
	__builtin_memcpy(to + code->unreadable_at, &unreadable, sizeof(unreadable));
}

static void count_faults(struct argtrace_plan *plan, u64 unreadable)
{
	if (unlikely(unreadable))
		argtrace_count_here(plan->counters, faults);
}

static void lose(struct argtrace_plan *plan, enum argtrace_lost cause)
{
	argtrace_count_here(plan->counters, lost[cause]);
	preempt_enable_notrace();
}

/* The size of the outputs is known: they are written where they belong. */
static void record_in_place(const struct rich_call *call, struct argtrace_run *run, struct argtrace_ring *ring)
{
	struct argtrace_plan *plan = call->plan;
	const struct argtrace_code *code = run->code;
	u32 clock;
	u8 *to;

	if (code->values_read && unlikely(!argtrace_scratch_enter()))
		return lose(plan, ARGTRACE_LOST_RECURSION);
	argtrace_ring_begin(ring->control);
	to = reserve(plan, ring, plan->record_size, &clock);
	if (likely(to)) {
		write_plain(to, call, ring, plan->record_size, clock);
		if (code->values < code->end) {
			argtrace_run_values(run, to + code->unreadable_at + sizeof(u64));
			write_unreadable(to, code, run->unreadable);
			count_faults(plan, run->unreadable);
		}
	}
	if (code->values_read)
		argtrace_scratch_leave();
	if (likely(to))
		argtrace_record_complete(plan, ring);
	else
		argtrace_record_finish(ring);
}

/* It is not known: they are gathered first, and room is reserved for what there is. */
static void record_gathered(const struct rich_call *call, struct argtrace_run *run, struct argtrace_ring *ring)
{
	struct argtrace_plan *plan = call->plan;
	const u32 at = run->code->unreadable_at + sizeof(u64);
	u32 size, clock, length;
	u8 *scratch, *to;

	if (unlikely(!argtrace_scratch_enter()))
		return lose(plan, ARGTRACE_LOST_RECURSION);
	scratch = argtrace_scratch_here();
	if (unlikely(!scratch)) {
		argtrace_scratch_leave();
		return lose(plan, ARGTRACE_LOST_NO_BUFFER);
	}
	length = argtrace_run_values(run, scratch) - scratch;
	size = ALIGN(at + length, 8);
	argtrace_ring_begin(ring->control);
	to = reserve(plan, ring, size, &clock);
	if (likely(to)) {
		write_plain(to, call, ring, size, clock);
		write_unreadable(to, run->code, run->unreadable);
		argtrace_copy_words(to + at, scratch, length);
		count_faults(plan, run->unreadable);
	}
	argtrace_scratch_leave();
	if (likely(to))
		argtrace_record_complete(plan, ring);
	else
		argtrace_record_finish(ring);
}

/* A filter that is not simple. */
static enum argtrace_verdict run_filter(struct argtrace_run *run)
{
	enum argtrace_verdict verdict;

	if (!run->code->filter_reads)
		return argtrace_run_filter(run);
	if (unlikely(!argtrace_scratch_enter()))
		return ARGTRACE_VERDICT_TOO_DEEP;
	verdict = argtrace_run_filter(run);
	argtrace_scratch_leave();
	return verdict;
}

/* The end of a call that the filter has not accepted. */
static noinline void reject(struct argtrace_plan *plan, enum argtrace_verdict verdict)
{
	if (unlikely(verdict == ARGTRACE_VERDICT_TOO_DEEP))
		return lose(plan, ARGTRACE_LOST_RECURSION);
	if (unlikely(verdict == ARGTRACE_VERDICT_FAULT))
		argtrace_count_here(plan->counters, faults);
	argtrace_count_here(plan->counters, filtered);
	preempt_enable_notrace();
}

/* What is left to be done of a call, which may have been accepted by the simple filter. */
static __always_inline void filter_and_record(struct argtrace_plan *plan, unsigned long parent_ip,
					      struct ftrace_ops *ops, const struct ftrace_regs *fregs,
					      const void *called_from, const bool accepted)
{
	const struct argtrace_lane *lane = container_of(ops, struct argtrace_lane, ops);
	struct argtrace_ring *ring = this_cpu_ptr(lane->rings);
	struct argtrace_code *code = plan->code;
	struct argtrace_run run argtrace_uninitialized;
	const struct rich_call call = {
		.plan = plan,
		.parent_ip = parent_ip,
		.fregs = fregs,
		.context = argtrace_context_is_plain() ? 0 :
			   argtrace_context_word(argtrace_own_preempt_levels(ops, called_from)),
	};

	/* The slots are set before they are used, which has been verified: not to be cleared. */
	run.code = code;
	run.fregs = fregs;
	run.caller = parent_ip;
	if (!accepted) {
		const enum argtrace_verdict verdict = run_filter(&run);

		if (verdict != ARGTRACE_VERDICT_ACCEPT)
			return reject(plan, verdict);
	}
	if (code->max_rate && !argtrace_may_record(code)) {
		argtrace_count_here(plan->counters, capped);
		preempt_enable_notrace();
	} else if (code->variable) {
		record_gathered(&call, &run, ring);
	} else {
		record_in_place(&call, &run, ring);
	}
}

static noinline void record(struct argtrace_plan *plan, unsigned long parent_ip, struct ftrace_ops *ops,
			    const struct ftrace_regs *fregs, const void *called_from)
{
	filter_and_record(plan, parent_ip, ops, fregs, called_from, true);
}

static noinline void filter(struct argtrace_plan *plan, unsigned long parent_ip, struct ftrace_ops *ops,
			    const struct ftrace_regs *fregs, const void *called_from)
{
	filter_and_record(plan, parent_ip, ops, fregs, called_from, false);
}

/* The verdict of a filter that is simple. */
static __always_inline enum argtrace_verdict run_simple(const struct argtrace_code *code,
							const struct ftrace_regs *fregs)
{
	enum argtrace_verdict verdict;

	if (!code->filter_reads)
		return argtrace_run_simple(code->filter, fregs);
	if (unlikely(!argtrace_scratch_enter()))
		return ARGTRACE_VERDICT_TOO_DEEP;
	verdict = argtrace_run_simple(code->filter, fregs);
	argtrace_scratch_leave();
	return verdict;
}

static __always_inline void callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
				     const struct ftrace_regs *fregs, const bool by_pid)
{
	struct argtrace_lane *lane = container_of(ops, struct argtrace_lane, ops);
	const struct argtrace_code *code;
	struct argtrace_plan *plan;

	preempt_disable_notrace();
	plan = argtrace_table_lookup(rcu_dereference_raw(lane->table), ip);
	if (unlikely(!plan)) {
		preempt_enable_notrace();
		return;
	}
	if (unlikely(argtrace_is_filtered(lane, by_pid))) {
		argtrace_count_here(plan->counters, filtered);
		preempt_enable_notrace();
		return;
	}
	code = plan->code;
	if (code->sample && !argtrace_is_sampled(plan)) {
		argtrace_count_here(plan->counters, sampled);
		preempt_enable_notrace();
		return;
	}
	if (code->simple) {
		const enum argtrace_verdict verdict = run_simple(code, fregs);

		if (likely(verdict == ARGTRACE_VERDICT_REJECT)) {
			argtrace_count_here(plan->counters, filtered);
			preempt_enable_notrace();
			return;
		}
		if (unlikely(verdict == ARGTRACE_VERDICT_TOO_DEEP))
			return reject(plan, verdict);
		if (unlikely(verdict == ARGTRACE_VERDICT_UNDECIDED))
			return filter(plan, parent_ip, ops, fregs, __builtin_return_address(0));
	} else if (code->filter) {
		return filter(plan, parent_ip, ops, fregs, __builtin_return_address(0));
	}
	record(plan, parent_ip, ops, fregs, __builtin_return_address(0));
}

static void rich(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	callback(ip, parent_ip, ops, fregs, false);
}

static void rich_by_pid(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			struct ftrace_regs *fregs)
{
	callback(ip, parent_ip, ops, fregs, true);
}

ftrace_func_t argtrace_rich_callback(const struct argtrace_lane *lane)
{
	return rcu_access_pointer(lane->pid_bits) ? rich_by_pid : rich;
}
