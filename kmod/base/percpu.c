// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>

#include "base/memory.h"
#include "base/percpu.h"

/* The CPU hotplug state that gives a CPU its parts before it comes online. */
static enum cpuhp_state hotplug_state;

static int provide_part(struct argtrace_percpu *set, unsigned int cpu)
{
	const u64 charge = set->kind->charge(set);
	int ret;

	if (set->kind->exists(set, cpu))
		return 0;
	ret = argtrace_memory_charge(charge);
	if (ret)
		return ret;
	ret = set->kind->create(set, cpu);
	if (ret)
		argtrace_memory_uncharge(charge);
	else
		set->charged += charge;
	return ret;
}

/*
 * Called for each CPU that is online when a set is provided for, and before another comes online.
 */
static int percpu_cpu_comes(unsigned int cpu, struct hlist_node *node)
{
	struct argtrace_percpu *set = hlist_entry(node, struct argtrace_percpu, node);
	const bool had_one = set->kind->exists(set, cpu);
	const int ret = provide_part(set, cpu);

	if (set->kind->came && !had_one && set->kind->exists(set, cpu))
		set->kind->came(set);
	return cpu_online(cpu) ? ret : 0;
}

int argtrace_percpu_init(void)
{
	const int ret = cpuhp_setup_state_multi(CPUHP_BP_PREPARE_DYN, "argtrace/percpu:prepare",
						percpu_cpu_comes, NULL);

	if (ret < 0)
		return ret;
	hotplug_state = ret;
	return 0;
}

void argtrace_percpu_exit(void)
{
	cpuhp_remove_multi_state(hotplug_state);
}

int argtrace_percpu_provide(struct argtrace_percpu *set, const struct argtrace_percpu_kind *kind)
{
	int cpu, ret = 0;

	set->kind = kind;
	cpus_read_lock();
	for_each_present_cpu(cpu) {
		ret = provide_part(set, cpu);
		if (ret)
			break;
	}
	cpus_read_unlock();
	return ret ?: cpuhp_state_add_instance(hotplug_state, &set->node);
}

void argtrace_percpu_stop(struct argtrace_percpu *set)
{
	cpuhp_state_remove_instance_nocalls(hotplug_state, &set->node);
}
