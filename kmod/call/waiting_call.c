// SPDX-License-Identifier: GPL-2.0-only
#include "program/exec.h"
#include "read/bring_in.h"
#include "read/scratch.h"
#include "session.h"
#include "call/aggregate.h"
#include "call/record_outputs.h"
#include "call/throttle.h"
#include "call/waiting_call.h"

enum decision { ACCEPTED, FILTERED, FAULTED, CAPPED };

/* What a program makes of a call. */
struct found {
	enum decision decision;
	u8 *scratch, *end;		/* a record's outputs; NULL: there is no scratch memory */
	u64 *key_end;
	u64 key[ARGTRACE_MAP_WORDS];	/* and value */
};

static enum decision decide_on(struct argtrace_run *run)
{
	const struct argtrace_code *code = run->code;

	if (code->filter) {
		switch (argtrace_run_filter(run, code->filter)) {
		case ARGTRACE_VERDICT_ACCEPT:
			break;
		case ARGTRACE_VERDICT_FAULT:
			return FAULTED;
		default:
			return FILTERED;
		}
	}
	return code->max_rate && argtrace_is_capped(code) ? CAPPED : ACCEPTED;
}

/* Whether outputs are gathered: the others read no memory. */
static bool has_outputs_to_gather(const struct argtrace_code *code)
{
	return argtrace_code_aggregates(code) ? code->outputs == ARGTRACE_OUTPUTS_MAP :
						code->outputs != ARGTRACE_OUTPUTS_NONE;
}

/* Within argtrace_scratch_enter(). */
static __always_inline void decide_and_gather(struct argtrace_run *run, struct found *found)
{
	const struct argtrace_code *code = run->code;

	found->decision = decide_on(run);
	if (found->decision != ACCEPTED || !has_outputs_to_gather(code))
		return;
	if (code->outputs == ARGTRACE_OUTPUTS_MAP) {
		found->key_end = argtrace_run_key(run, found->key);
		return;
	}
	found->scratch = argtrace_scratch_here();
	if (unlikely(!found->scratch))
		return;
	found->end = argtrace_run_values(run, found->scratch + sizeof(u64));
	*(u64 *)found->scratch = run->unreadable;
}

/* Within argtrace_scratch_enter(), which is left. */
static __always_inline void accept(struct argtrace_plan *plan, struct ftrace_ops *ops,
				   const struct argtrace_regs *fregs, const void *called_from,
				   const struct argtrace_run *run, struct found *found)
{
	const struct argtrace_code *code = plan->code;

	if (!has_outputs_to_gather(code)) {
		argtrace_scratch_leave();
		if (argtrace_code_aggregates(code))
			argtrace_aggregate_entry(plan, run->caller, ops, fregs);
		else
			argtrace_record_match(plan, run->caller, ops, fregs, called_from);
	} else if (code->outputs == ARGTRACE_OUTPUTS_MAP) {
		argtrace_aggregate_gathered(plan, run, found->key, found->key_end);
	} else if (likely(found->scratch)) {
		argtrace_record_gathered(plan, run->caller, ops, fregs, called_from, found->scratch,
					 found->end);
	} else {
		argtrace_scratch_leave();
		argtrace_record_lose(plan, ARGTRACE_LOST_NO_BUFFER);
	}
}

static noinline void refuse(struct argtrace_plan *plan, enum decision decision)
{
	argtrace_scratch_leave();
	if (decision == CAPPED)
		argtrace_count_here(plan->counters, capped);
	else
		argtrace_count_here(plan->counters, filtered);
	if (decision == FAULTED)
		argtrace_count_here(plan->counters, faults);
	preempt_enable_notrace();
}

bool argtrace_waiting_call(struct argtrace_plan *plan, unsigned long caller,
			   struct ftrace_ops *ops, const struct argtrace_regs *fregs,
			   const void *called_from, struct argtrace_wait *wait)
{
	struct argtrace_run run argtrace_uninitialized;
	struct found found argtrace_uninitialized;

	if (plan->code->sample && !wait->is_sampled && !argtrace_is_sampled(plan)) {
		argtrace_count_here(plan->counters, sampled);
		preempt_enable_notrace();
		return true;
	}
	wait->is_sampled = true;
	if (unlikely(!argtrace_scratch_enter())) {
		argtrace_record_lose(plan, ARGTRACE_LOST_RECURSION);
		return true;
	}
	run.code = plan->code;
	run.fregs = fregs;
	run.caller = caller;
	argtrace_absent_reset();
	decide_and_gather(&run, &found);
	wait->absent = argtrace_absent_here();
	if (unlikely(wait->absent.size) && !wait->is_last) {
		argtrace_scratch_leave();
		preempt_enable_notrace();
		return false;
	}
	if (found.decision == ACCEPTED && plan->code->max_rate &&
	    !argtrace_may_record(plan->code))
		found.decision = CAPPED;
	if (likely(found.decision == ACCEPTED))
		accept(plan, ops, fregs, called_from, &run, &found);
	else
		refuse(plan, found.decision);
	return true;
}

void argtrace_wait_for_memory(struct argtrace_wait *wait)
{
	wait->is_last = !argtrace_bring_in(wait->absent.addr, wait->absent.size) ||
			++wait->times == ARGTRACE_BRING_IN_MAX;
}
