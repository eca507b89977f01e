// SPDX-License-Identifier: GPL-2.0-only
#include "probe/followed.h"
#include "probe/plan.h"

u32 argtrace_return_prepare(struct argtrace_plan *plan, u32 at)
{
	const struct argtrace_arg *arg = argtrace_schema_args(plan->schema);
	const u32 flags = plan->schema->flags;
	struct argtrace_return *returns = plan->returns;
	u32 i;

	returns->plan = plan;
	returns->leave_path = ARGTRACE_LEAVE_STOPPED;
	returns->waits = flags & ARGTRACE_PROBE_WAITS;
	returns->in_memory = flags & ARGTRACE_PROBE_IN_MEMORY;
	returns->is_entry = !(flags & ARGTRACE_PROBE_RETURN);
	if (returns->is_entry)
		return at;
	returns->words = ((flags & ARGTRACE_PROBE_WORDS_MASK) >> ARGTRACE_PROBE_WORDS_SHIFT) - 1;
	returns->above = returns->words * sizeof(u64);
	for (i = 0; i < plan->schema->nr_args; i++, arg++) {
		if (arg->loc != ARGTRACE_LOC_RETURN)
			continue;
		returns->value_at = at;
		returns->value_size = arg->size;
		returns->value_has_length = arg->type == ARGTRACE_TYPE_BYTES;
		at += arg->size + (returns->value_has_length ? sizeof(u16) : 0);
	}
	return at;
}
