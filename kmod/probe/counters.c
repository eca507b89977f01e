// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#include "memory.h"
#include "probe/counters.h"

/*
 * CPUs that have been online since the module was loaded: the counters of the others are zero. A machine may
 * make provision for many more than it has.
 */
static struct cpumask cpus_seen;
static enum cpuhp_state hotplug_state;

static int cpu_comes(unsigned int cpu)
{
	cpumask_set_cpu(cpu, &cpus_seen);
	return 0;
}

int argtrace_counters_init(void)
{
	int ret = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "argtrace/counters:prepare", cpu_comes, NULL);

	if (ret < 0)
		return ret;
	hotplug_state = ret;
	return 0;
}

void argtrace_counters_exit(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
}

/* Half of the most that alloc_percpu() ever gives, so that it finds a place soon. */
#define BLOCK_PROBES	(PCPU_MIN_UNIT_SIZE / 2 / sizeof(struct argtrace_counters))

struct argtrace_counters_block *argtrace_counters_block_create(u32 wanted)
{
	const u32 users = min_t(u32, wanted, BLOCK_PROBES);
	const size_t bytes = users * sizeof(struct argtrace_counters);
	struct argtrace_counters_block *block;
	u64 charge = argtrace_kvmalloc_size(sizeof(*block)) + argtrace_percpu_size(bytes);
	int ret = argtrace_memory_charge(charge);

	if (ret)
		return ERR_PTR(ret);
	block = kmalloc(sizeof(*block), ARGTRACE_GFP);
	if (!block)
		goto err;
	block->counters = __alloc_percpu_gfp(bytes, __alignof__(struct argtrace_counters), ARGTRACE_GFP);
	if (!block->counters)
		goto err;
	block->users = users;
	block->charged = charge;
	return block;

err:
	kfree(block);
	argtrace_memory_uncharge(charge);
	return ERR_PTR(-ENOMEM);
}

void argtrace_counters_block_put(struct argtrace_counters_block *block)
{
	if (--block->users)
		return;
	free_percpu(block->counters);
	argtrace_memory_uncharge(block->charged);
	kfree(block);
}

struct argtrace_counters argtrace_counters_sum(const struct argtrace_counters __percpu *counters)
{
	struct argtrace_counters sum = { };
	int cpu, cause;

	for_each_cpu(cpu, &cpus_seen) {
		const struct argtrace_counters *on = per_cpu_ptr(counters, cpu);

		sum.records += READ_ONCE(on->records);
		sum.filtered += READ_ONCE(on->filtered);
		for (cause = 0; cause < ARGTRACE_LOST_COUNT; cause++)
			sum.lost[cause] += READ_ONCE(on->lost[cause]);
	}
	return sum;
}
