// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tick of a timer, in a hard interrupt or NMI: like source/entry.c, this takes no locks, allocates nothing, and ends in exactly one
 * outcome of the probe. Its registers are those of the interrupted code.
 */
#include <linux/perf_event.h>
#include <linux/ptrace.h>

#include "base/compat.h"
#include "session.h"
#include "call/begin.h"
#include "call/context.h"
#include "call/record_forms.h"
#include "call/program_call.h"
#include "source/timer.h"

void argtrace_timer_tick(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs)
{
	const struct argtrace_timer *timer = event->overflow_handler_context;
	const unsigned long caller = user_mode(regs) ? 0 : regs->ip;
	const struct ftrace_regs *fregs = argtrace_regs_of(regs);
	struct argtrace_lane *lane = timer->lane;
	struct argtrace_plan *plan;

	plan = argtrace_begin(lane, timer->addr);
	if (unlikely(!plan))
		return;
	/* Apart from the interrupt, only we have disabled preemption. */
	if (plan->code)
		argtrace_program_call(plan, caller, &lane->ops, fregs, ARGTRACE_OWN_LEVELS(1));
	else
		argtrace_record_match(plan, caller, &lane->ops, fregs, ARGTRACE_OWN_LEVELS(1));
}
