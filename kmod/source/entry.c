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

#include "call/begin.h"
#include "call/context.h"
#include "call/record_call.h"
#include "call/record_forms.h"
#include "session.h"
#include "source/entry.h"

static __always_inline void trace_entry(unsigned long ip, unsigned long parent_ip,
					struct ftrace_ops *ops, const struct argtrace_regs *fregs,
					const u32 clock_id, const bool by_pid, const bool flight)
{
	struct argtrace_lane *lane = container_of(ops, struct argtrace_lane, ops);
	struct argtrace_ring *ring;
	struct argtrace_plan *plan;
	unsigned int levels;

	plan = argtrace_begin_at(lane, ip, by_pid);
	if (unlikely(!plan))
		return;
	if (by_pid && flight)
		return argtrace_record_match_in_flight(plan, parent_ip, ops, fregs,
						       __builtin_return_address(0));
	if (by_pid)
		return argtrace_record_match_in_stream(plan, parent_ip, ops, fregs,
						       __builtin_return_address(0));
	ring = this_cpu_ptr(lane->rings);
	if (unlikely(!argtrace_context_is_plain())) {
		levels = argtrace_own_preempt_levels(ops, __builtin_return_address(0));
		return argtrace_record_with_context(plan, parent_ip, ring, fregs, levels, clock_id,
						    flight);
	}
	argtrace_record_call(plan, ring, 0, parent_ip, fregs, clock_id, flight);
}

/*
 * One variant for each kind of session, so that none pays for what it does not use. Those with a
 * PID filter take the clock from the ring.
 */
#define DEFINE_CALLBACK(name, clock, by_pid, flight)						\
static void name(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,		\
		 struct ftrace_regs *fregs)							\
{												\
	trace_entry(ip, parent_ip, ops, argtrace_regs_of_ftrace(fregs), clock, by_pid, flight);	\
}

DEFINE_CALLBACK(entry_stream_tsc, ARGTRACE_CLOCK_TSC, false, false)
DEFINE_CALLBACK(entry_stream_monotonic, ARGTRACE_CLOCK_MONOTONIC, false, false)
DEFINE_CALLBACK(entry_stream_by_pid, ARGTRACE_CLOCK_BEST, true, false)
DEFINE_CALLBACK(entry_flight_tsc, ARGTRACE_CLOCK_TSC, false, true)
DEFINE_CALLBACK(entry_flight_monotonic, ARGTRACE_CLOCK_MONOTONIC, false, true)
DEFINE_CALLBACK(entry_flight_by_pid, ARGTRACE_CLOCK_BEST, true, true)

ftrace_func_t argtrace_entry_callback(const struct argtrace_lane *lane)
{
	const bool tsc = lane->session->clock == ARGTRACE_CLOCK_TSC;
	const bool flight = lane->session->flight;

	if (rcu_access_pointer(lane->pid_bits))
		return flight ? entry_flight_by_pid : entry_stream_by_pid;
	if (flight)
		return tsc ? entry_flight_tsc : entry_flight_monotonic;
	return tsc ? entry_stream_tsc : entry_stream_monotonic;
}
