// SPDX-License-Identifier: GPL-2.0-only
/* What is settled beforehand of calls whose return is followed: how little their records take. */
#include <linux/log2.h>

#include "program/exec.h"
#include "session.h"
#include "source/returns/returns.h"

/* bytes, for which the fast path does not check how much of the stack is left */
#define MAX_QUICKLY_KEPT 256

unsigned long argtrace_return_quickly_kept(const struct argtrace_plan *plan)
{
	const struct argtrace_code *code = plan->code;
	const unsigned long kept =
		code && code->keeps ? ALIGN(sizeof(u64) + code->kept, sizeof(u64)) : 0;

	return kept && code->outputs == ARGTRACE_OUTPUTS_QUICK && kept <= MAX_QUICKLY_KEPT ? kept :
											     0;
}

static bool is_stream_by_tsc(const struct argtrace_session *session)
{
	return session->clock == ARGTRACE_CLOCK_TSC && !session->flight;
}

/*
 * Whether the parts of a record that are not a program's are quickly written: what is beyond a
 * value of less than 8 bytes is padding.
 */
static bool is_quick(const struct argtrace_plan *plan, const struct argtrace_session *session)
{
	const struct argtrace_return *returns = plan->returns;

	if (!is_stream_by_tsc(session) || plan->layout.has_rest)
		return false;
	return !returns->value_at ||
	       (returns->value_size <= sizeof(u64) && !returns->value_has_length &&
		returns->value_at + sizeof(u64) <= plan->record_size);
}

bool argtrace_return_is_narrow(const struct argtrace_plan *plan,
			       const struct argtrace_session *session)
{
	const struct argtrace_return *returns = plan->returns;

	if (!is_stream_by_tsc(session) || (plan->layout.has_rest && !plan->layout.rest_is_words))
		return false;
	return !returns->value_at ||
	       (is_power_of_2(returns->value_size) && returns->value_size <= sizeof(u64) &&
		!returns->value_has_length);
}

/*
 * Whether what decides at the return takes no memory but the frame's and the task's, which is
 * always there.
 */
static bool filters_words(const struct argtrace_code *code)
{
	const struct argtrace_op *op = code->return_filter;

	if (!op || code->max_rate || code->outputs != ARGTRACE_OUTPUTS_NONE)
		return false;
	for (; op < code->values; op++) {
		if (op->kind != ARGTRACE_OP_REG && op->kind != ARGTRACE_OP_TASK)
			return false;
	}
	return true;
}

static enum argtrace_leave_path narrow_path(const struct argtrace_plan *plan,
					    const struct argtrace_session *session)
{
	if (!plan->returns->is_narrow)
		return ARGTRACE_LEAVE_SLOW;
	if (!plan->code)
		return ARGTRACE_LEAVE_NARROW;
	return filters_words(plan->code) ? ARGTRACE_LEAVE_FILTER_NARROW : ARGTRACE_LEAVE_SLOW;
}

enum argtrace_leave_path argtrace_return_leave_path(const struct argtrace_plan *plan,
						    const struct argtrace_session *session)
{
	const struct argtrace_code *code = plan->code;

	if (code && code->outputs == ARGTRACE_OUTPUTS_WORDS && !code->keeps &&
	    !code->return_filter && !code->max_rate && session->clock == ARGTRACE_CLOCK_TSC)
		return ARGTRACE_LEAVE_WORDS;
	if (!is_quick(plan, session))
		return narrow_path(plan, session);
	if (!code)
		return ARGTRACE_LEAVE_FAST;
	if (filters_words(code))
		return ARGTRACE_LEAVE_FILTER;
	if (code->return_filter || code->max_rate || code->times)
		return ARGTRACE_LEAVE_SLOW;
	return code->outputs == ARGTRACE_OUTPUTS_NONE  ? ARGTRACE_LEAVE_FAST :
	       code->outputs == ARGTRACE_OUTPUTS_QUICK ? ARGTRACE_LEAVE_OUTPUTS :
							 ARGTRACE_LEAVE_SLOW;
}
