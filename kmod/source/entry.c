// SPDX-License-Identifier: GPL-2.0-only
/*
 * One traced call, in any context: no locks, no allocation, nothing that could sleep or
 * print. Each call ends in exactly one outcome of its probe.
 *
 * The usual path is a single leaf function, so that no registers are saved and nothing can
 * recurse. Rare cases end in a tail call of one of the functions above it, which complete
 * the call. docs/performance.md says what the instructions are spent on.
 */
#include <linux/sched.h>

#include "base/hook.h"
#include "session.h"
#include "call/context.h"
#include "source/entry.h"
#include "source/returns/returns.h"
#include "source/syscall.h"
#include "call/record_call.h"

/*
 * Records a call with interrupts or preemption off, in an interrupt, or while others trace the same
 * function. One variant for each clock and kind of ring, so that hardly any registers have to be saved.
 */
#define DEFINE_RECORD_WITH_CONTEXT(name, clock, flight)						\
static noinline void name(struct argtrace_plan *plan, unsigned long parent_ip,			\
			  struct argtrace_ring *ring, const struct ftrace_regs *fregs,		\
			  unsigned int own_levels)						\
{												\
	argtrace_record_call(plan, ring, argtrace_context_word(own_levels), parent_ip, fregs, clock, flight);	\
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

/* Records a call in plain context, with the same variants, for callers other than the plain lane's callbacks. */
#define DEFINE_RECORD_PLAIN(name, clock, flight)						\
static noinline void name(struct argtrace_plan *plan, unsigned long parent_ip,			\
			  struct argtrace_ring *ring, const struct ftrace_regs *fregs)		\
{												\
	argtrace_record_call(plan, ring, 0, parent_ip, fregs, clock, flight);				\
}

DEFINE_RECORD_PLAIN(stream_plain_tsc, ARGTRACE_CLOCK_TSC, false)
DEFINE_RECORD_PLAIN(stream_plain_monotonic, ARGTRACE_CLOCK_MONOTONIC, false)
DEFINE_RECORD_PLAIN(flight_plain_tsc, ARGTRACE_CLOCK_TSC, true)
DEFINE_RECORD_PLAIN(flight_plain_monotonic, ARGTRACE_CLOCK_MONOTONIC, true)

/*
 * Records a call that passed a filter. Out of line and with the callback's argument order, so that
 * rejected calls move and spill no registers.
 */
static __always_inline void record_match(struct argtrace_plan *plan, unsigned long parent_ip,
					 struct ftrace_ops *ops, const struct ftrace_regs *fregs,
					 const void *called_from, const bool flight)
{
	struct argtrace_lane *lane = container_of(ops, struct argtrace_lane, ops);
	struct argtrace_ring *ring = this_cpu_ptr(lane->rings);

	if (unlikely(!argtrace_context_is_plain()))
		record_with_context(plan, parent_ip, ring, fregs,
				    argtrace_own_preempt_levels(ops, called_from), ring->clock, flight);
	else if (ring->clock != ARGTRACE_CLOCK_TSC && flight)
		flight_plain_monotonic(plan, parent_ip, ring, fregs);
	else if (ring->clock != ARGTRACE_CLOCK_TSC)
		stream_plain_monotonic(plan, parent_ip, ring, fregs);
	else if (flight)
		flight_plain_tsc(plan, parent_ip, ring, fregs);
	else
		stream_plain_tsc(plan, parent_ip, ring, fregs);
}

static noinline __noclone void stream_pid_match(struct argtrace_plan *plan, unsigned long parent_ip,
						struct ftrace_ops *ops,
						const struct ftrace_regs *fregs,
						const void *called_from)
{
	record_match(plan, parent_ip, ops, fregs, called_from, false);
}

static noinline __noclone void flight_pid_match(struct argtrace_plan *plan, unsigned long parent_ip,
						struct ftrace_ops *ops,
						const struct ftrace_regs *fregs,
						const void *called_from)
{
	record_match(plan, parent_ip, ops, fregs, called_from, true);
}

void argtrace_entry_record(struct argtrace_plan *plan, unsigned long parent_ip, struct ftrace_ops *ops,
			   const struct ftrace_regs *fregs, const void *called_from)
{
	if (this_cpu_ptr(container_of(ops, struct argtrace_lane, ops)->rings)->flight)
		record_match(plan, parent_ip, ops, fregs, called_from, true);
	else
		record_match(plan, parent_ip, ops, fregs, called_from, false);
}

/* Disabling preemption is also our RCU read-side critical section: see argtrace_synchronize(). */
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
	if (unlikely(argtrace_is_filtered(lane, by_pid))) {
		argtrace_count_here(plan->counters, filtered);
		preempt_enable_notrace();
		return;
	}
	if (by_pid && flight)
		return flight_pid_match(plan, parent_ip, ops, fregs, __builtin_return_address(0));
	if (by_pid)
		return stream_pid_match(plan, parent_ip, ops, fregs, __builtin_return_address(0));
	ring = this_cpu_ptr(lane->rings);
	if (unlikely(!argtrace_context_is_plain()))
		return record_with_context(plan, parent_ip, ring, fregs,
				      argtrace_own_preempt_levels(ops, __builtin_return_address(0)),
				      clock_id, flight);
	argtrace_record_call(plan, ring, 0, parent_ip, fregs, clock_id, flight);
}

/*
 * One variant for each kind of session, so that none pays for what it does not use. Those with a PID filter
 * take the clock from the ring.
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

	if (lane->kind == ARGTRACE_LANE_RICH || lane->kind == ARGTRACE_LANE_AGGREGATE)
		return argtrace_rich_callback(lane);
	if (lane->kind == ARGTRACE_LANE_RETURN || lane->kind == ARGTRACE_LANE_SYSCALL_RETURN)
		return argtrace_return_callback(lane);
	if (lane->kind == ARGTRACE_LANE_SYSCALL)
		return argtrace_syscall_callback(lane);
	if (rcu_access_pointer(lane->pid_bits))
		return flight ? flight_by_pid : stream_by_pid;
	if (flight)
		return tsc ? flight_tsc : flight_monotonic;
	return tsc ? stream_tsc : stream_monotonic;
}
