// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "read/scratch.h"
#include "base/memory.h"

DEFINE_PER_CPU(s8, argtrace_scratch_depth) = ARGTRACE_SCRATCH_NONE;
DEFINE_PER_CPU(u8 *, argtrace_scratch);

static enum cpuhp_state hotplug_state;

/*
 * A CPU that goes offline keeps its memory. One without memory may still come online: its calls are
 * counted as lost.
 */
static int scratch_cpu_comes(unsigned int cpu)
{
	u8 **scratch = per_cpu_ptr(&argtrace_scratch, cpu);

	if (!*scratch)
		*scratch = kvmalloc_node(ARGTRACE_SCRATCH_LEVELS *
						 (ARGTRACE_OUTPUT_MAX + ARGTRACE_SCRATCH_STACK),
					 ARGTRACE_GFP_REMOVAL, cpu_to_node(cpu));
	return 0;
}

int argtrace_scratch_init(void)
{
	int ret = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "argtrace/scratch:prepare",
				    scratch_cpu_comes, NULL);

	if (ret < 0)
		return ret;
	hotplug_state = ret;
	return 0;
}

void argtrace_scratch_exit(void)
{
	int cpu;

	cpuhp_remove_state_nocalls(hotplug_state);
	for_each_possible_cpu(cpu)
		kvfree(*per_cpu_ptr(&argtrace_scratch, cpu));
}
