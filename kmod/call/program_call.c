// SPDX-License-Identifier: GPL-2.0-only
/*
 * A call whose probe has a program: whether it is recorded, or counted, or added to a map, is
 * decided here. As in source/entry.c there are no locks and no allocation, and each call ends in
 * exactly one outcome; faults are counted in addition.
 *
 * Order: PID filter, sampling, the program's filter, the cap, then what is done with the call.
 * Memory is read within the guard of read/scratch.h.
 *
 * Like the plain lane's, the usual paths call no function, and end in tail calls of functions that
 * take their parameters in the callback's registers. Rare cases start over in a slower function.
 */
#include "program/exec.h"
#include "read/scratch.h"
#include "session.h"
#include "call/aggregate.h"
#include "call/begin.h"
#include "call/program_call.h"
#include "call/record_outputs.h"
#include "call/throttle.h"

static __always_inline void count_capped(struct argtrace_plan *plan)
{
	argtrace_count_here(plan->counters, capped);
	preempt_enable_notrace();
}

static __always_inline void count_rejected(struct argtrace_plan *plan)
{
	argtrace_count_here(plan->counters, filtered);
	preempt_enable_notrace();
}

/* A call that the filter has accepted, for a probe with a cap. */
static noinline __noclone void
process_up_to_cap(struct argtrace_plan *plan, unsigned long parent_ip, struct ftrace_ops *ops,
		  const struct argtrace_regs *fregs, const void *called_from)
{
	if (!argtrace_may_record(plan->code))
		return count_capped(plan);
	if (argtrace_code_aggregates(plan->code))
		return argtrace_aggregate_entry(plan, parent_ip, ops, fregs);
	argtrace_record_outputs(plan, parent_ip, ops, fregs, called_from);
}

/* The verdict of any filter. */
static enum argtrace_verdict verdict_of(const struct argtrace_plan *plan, unsigned long parent_ip,
					const struct argtrace_regs *fregs)
{
	struct argtrace_run run argtrace_uninitialized;
	enum argtrace_verdict verdict;

	run.code = plan->code;
	run.fregs = fregs;
	run.caller = parent_ip;
	if (unlikely(!argtrace_scratch_enter()))
		return ARGTRACE_VERDICT_TOO_DEEP;
	verdict = argtrace_run_filter(&run, plan->code->filter);
	argtrace_scratch_leave();
	return verdict;
}

/* A call whose filter takes more than quick operations: starts over with the filter. */
static noinline __noclone void filter_slowly(struct argtrace_plan *plan, unsigned long parent_ip,
					     struct ftrace_ops *ops,
					     const struct argtrace_regs *fregs,
					     const void *called_from)
{
	switch (verdict_of(plan, parent_ip, fregs)) {
	case ARGTRACE_VERDICT_TOO_DEEP:
		return argtrace_record_lose(plan, ARGTRACE_LOST_RECURSION);
	case ARGTRACE_VERDICT_FAULT:
		argtrace_count_here(plan->counters, faults);
		fallthrough;
	case ARGTRACE_VERDICT_REJECT:
		return count_rejected(plan);
	default:
		if (plan->code->max_rate)
			return process_up_to_cap(plan, parent_ip, ops, fregs, called_from);
		if (argtrace_code_aggregates(plan->code))
			return argtrace_aggregate_entry(plan, parent_ip, ops, fregs);
		argtrace_record_outputs(plan, parent_ip, ops, fregs, called_from);
	}
}

/*
 * What the callback was called from is read from its return address only where it is needed, as
 * rejected calls do not need it. What uses this is inlined into the callback.
 */
#define CALLED_FROM(is_callback, called_from) \
	((is_callback) ? __builtin_return_address(0) : (called_from))

/*
 * A call that has passed the PID filter: runs the quick operations of its filter, and continues
 * with the function that completes the call.
 */
static __always_inline void decide(struct argtrace_plan *plan, unsigned long parent_ip,
				   struct ftrace_ops *ops, const struct argtrace_regs *fregs,
				   const void *called_from, const bool is_callback,
				   const bool aggregates)
{
	const struct argtrace_op *op;

	op = plan->start;
	if (aggregates && likely(argtrace_op_is_sink(op)))
		goto add;
	while (!argtrace_op_ends(op)) {
		if (aggregates && argtrace_op_is_sink(op))
			goto add;
		if (op->kind == ARGTRACE_OP_REG) {
			op = argtrace_op_test(op, argtrace_op_reg(op, fregs));
			continue;
		}
		if (op->kind == ARGTRACE_OP_TASK) {
			op = argtrace_op_test(op, argtrace_op_task(op));
			continue;
		}
		/* Loads are all that is left of the quick values. */
		if (argtrace_op_has_quick_value(op)) {
			if (unlikely(!argtrace_scratch_enter()))
				return argtrace_record_lose(plan, ARGTRACE_LOST_RECURSION);
			op = argtrace_run_loads(op, fregs);
			argtrace_scratch_leave();
			if (argtrace_op_ends(op))
				break;
		}
		if (op->kind == ARGTRACE_OP_IDENTITY) {
			op = argtrace_op_test(op, argtrace_op_identity(op));
			continue;
		}
		if (op->kind == ARGTRACE_OP_SAMPLE) {
			if (argtrace_is_sampled(plan)) {
				op = op->next[1];
				continue;
			}
			argtrace_count_here(plan->counters, sampled);
			preempt_enable_notrace();
			return;
		}
		if (op->kind == ARGTRACE_OP_CAP) {
			if (argtrace_is_capped(plan->code))
				return count_capped(plan);
			return process_up_to_cap(plan, parent_ip, ops, fregs,
						 CALLED_FROM(is_callback, called_from));
		}
		return filter_slowly(plan, parent_ip, ops, fregs,
				     CALLED_FROM(is_callback, called_from));
	}
	if (!aggregates && op == ARGTRACE_OP_ACCEPT)
		return argtrace_record_outputs(plan, parent_ip, ops, fregs,
					       CALLED_FROM(is_callback, called_from));
	return count_rejected(plan);
add:
	argtrace_aggregate_call(plan, op, parent_ip, ops, fregs);
}

static __always_inline void begin_program_call(unsigned long ip, unsigned long parent_ip,
					       struct ftrace_ops *ops,
					       const struct argtrace_regs *fregs, const bool by_pid,
					       const bool aggregates)
{
	struct argtrace_plan *plan;

	plan = argtrace_begin_at(container_of(ops, struct argtrace_lane, ops), ip, by_pid);
	if (unlikely(!plan))
		return;
	argtrace_keep_in_place(parent_ip, ops, fregs);
	decide(plan, parent_ip, ops, fregs, NULL, true, aggregates);
}

void argtrace_program_call(struct argtrace_plan *plan, unsigned long parent_ip,
			   struct ftrace_ops *ops, const struct argtrace_regs *fregs,
			   const void *called_from)
{
	if (argtrace_code_aggregates(plan->code))
		decide(plan, parent_ip, ops, fregs, called_from, false, true);
	else
		decide(plan, parent_ip, ops, fregs, called_from, false, false);
}

#define DEFINE_CALLBACK(name, by_pid, aggregates)						\
static void name(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,		\
		 struct ftrace_regs *fregs)							\
{												\
	begin_program_call(ip, parent_ip, ops, argtrace_regs_of_ftrace(fregs), by_pid,		\
			   aggregates);								\
}

DEFINE_CALLBACK(by_program, false, false)
DEFINE_CALLBACK(by_program_and_pid, true, false)
DEFINE_CALLBACK(aggregating, false, true)
DEFINE_CALLBACK(aggregating_by_pid, true, true)

ftrace_func_t argtrace_program_callback(const struct argtrace_lane *lane)
{
	if (lane->kind == ARGTRACE_LANE_AGGREGATE)
		return rcu_access_pointer(lane->pid_bits) ? aggregating_by_pid : aggregating;
	return rcu_access_pointer(lane->pid_bits) ? by_program_and_pid : by_program;
}
