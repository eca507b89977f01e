// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hit of a tracepoint, in any context: like source/entry.c, this takes no locks, allocates nothing, and ends in exactly one outcome
 * of the probe.
 */
#include <linux/ptrace.h>

#include "compat.h"
#include "session.h"
#include "sink/record_call.h"
#include "source/begin.h"
#include "source/context.h"
#include "source/entry.h"
#include "source/tracepoint.h"

/*
 * The address of the code that hit the tracepoint. If there are other probes on it, __traceiter_NAME() calls us, and its caller is
 * not known: there is no caller in that case.
 */
static __always_inline unsigned long caller_of(const struct argtrace_tracepoint *place, unsigned long called_from)
{
	return called_from - place->addr < place->size ? 0 : called_from;
}

/* A probe with a program uses more than the arguments. `frame` is the frame of the function that the tracepoint calls. */
static noinline void run_program(struct argtrace_tracepoint *place, struct argtrace_plan *plan, struct pt_regs *regs,
				 const unsigned long *frame)
{
	struct ftrace_ops *ops = &place->lane->ops;

	regs->bp = frame[0];
	regs->cs = 0;
	/* argtrace_own_preempt_levels() compares this, to know whether there is a level more than ours. */
	argtrace_rich_call(plan, caller_of(place, frame[1]), ops, (const struct ftrace_regs *)regs,
			   (const void *)(place->own_levels > 1 ? ops->trampoline_size : 0));
}

static __always_inline void record(struct argtrace_tracepoint *place, struct argtrace_plan *plan, const struct pt_regs *regs,
				   unsigned long caller, const u32 clock_id, const bool flight)
{
	const u32 context = likely(argtrace_context_is_plain_above(place->own_levels)) ? 0 : argtrace_context_word(place->own_levels);

	argtrace_record_call(plan, this_cpu_ptr(place->lane->rings), context, caller, (const struct ftrace_regs *)regs, clock_id, flight);
}

/*
 * The first argument of a tracepoint's function, in rdi, is the probe's data; the tracepoint's arguments follow. As in any call, more
 * of them may be on the stack, above the return address.
 */
static __always_inline void callback(struct argtrace_tracepoint *place, u64 second, u64 third, u64 fourth, u64 fifth, u64 sixth,
				     const unsigned long *frame, const u32 clock_id, const bool flight)
{
	struct argtrace_lane *lane = place->lane;
	struct pt_regs regs argtrace_uninitialized;
	struct argtrace_plan *plan;

	/* Stored first, to free their registers. */
	regs.di = 0;
	regs.si = second;
	regs.dx = third;
	regs.cx = fourth;
	regs.r8 = fifth;
	regs.r9 = sixth;
	regs.sp = (unsigned long)&frame[1];
	barrier_data(&regs);

	plan = argtrace_begin(lane, place->addr);
	if (unlikely(!plan))
		return;
	if (plan->code)
		run_program(place, plan, &regs, frame);
	else
		record(place, plan, &regs, caller_of(place, frame[1]), clock_id, flight);
}

/*
 * One variant for each clock and kind of ring, as in source/entry.c. A frame consists of the saved frame pointer and the return address
 * above it. No stack protector: there is no array that could overflow.
 */
#define DEFINE_CALLBACK(name, clock, flight)							\
static __no_stack_protector void name(struct argtrace_tracepoint *place, u64 second, u64 third,	\
				      u64 fourth, u64 fifth, u64 sixth)				\
{												\
	callback(place, second, third, fourth, fifth, sixth, __builtin_frame_address(0), clock, flight); \
}

DEFINE_CALLBACK(stream_tsc, ARGTRACE_CLOCK_TSC, false)
DEFINE_CALLBACK(stream_monotonic, ARGTRACE_CLOCK_MONOTONIC, false)
DEFINE_CALLBACK(flight_tsc, ARGTRACE_CLOCK_TSC, true)
DEFINE_CALLBACK(flight_monotonic, ARGTRACE_CLOCK_MONOTONIC, true)

void *argtrace_tracepoint_callback(const struct argtrace_lane *lane)
{
	const bool tsc = lane->session->clock == ARGTRACE_CLOCK_TSC;

	if (lane->session->flight)
		return tsc ? flight_tsc : flight_monotonic;
	return tsc ? stream_tsc : stream_monotonic;
}
