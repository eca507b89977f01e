// SPDX-License-Identifier: GPL-2.0-only
/* A plan is looked at after it has been freed. */
#include <linux/printk.h>

#include "probe.h"

void __real_argtrace_plan_free(struct argtrace_plan *plan);
void __wrap_argtrace_plan_free(struct argtrace_plan *plan);

void __wrap_argtrace_plan_free(struct argtrace_plan *plan)
{
	__real_argtrace_plan_free(plan);
	if (!IS_ERR_OR_NULL(plan) && READ_ONCE(plan->id) == ~0u)
		pr_info("the last id there is\n");
}
