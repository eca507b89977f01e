// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the events of a timer, in a CPU hotplug callback, which is called for the CPUs that are
 * online when the timer is attached, and for CPUs that come online later.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include "base/memory.h"
#include "session.h"
#include "source/source.h"
#include "source/timer.h"

static enum cpuhp_state hotplug_state;

static u32 frequency_of(unsigned long addr)
{
	return addr;
}

static enum argtrace_timer_event event_of(unsigned long addr)
{
	return (u8)(addr >> 32);
}

static bool addr_is_valid(unsigned long addr)
{
	const u32 frequency = frequency_of(addr);
	const enum argtrace_timer_event event = event_of(addr);

	return frequency && frequency <= ARGTRACE_TIMER_FREQUENCY_MAX &&
	       (event == ARGTRACE_TIMER_CYCLES || event == ARGTRACE_TIMER_CPU_CLOCK) &&
	       !(addr >> 40 & ~ARGTRACE_TIMER_IDLE);
}

/* Idle CPUs are not excluded, as their ticks have to be counted as well. */
static struct perf_event *make_event(struct argtrace_timer *timer, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = event_of(timer->addr) == ARGTRACE_TIMER_CYCLES ? PERF_TYPE_HARDWARE :
									 PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = event_of(timer->addr) == ARGTRACE_TIMER_CYCLES ?
				  PERF_COUNT_HW_CPU_CYCLES :
				  PERF_COUNT_SW_CPU_CLOCK,
		.sample_freq = frequency_of(timer->addr),
		.freq = 1,
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL, argtrace_timer_tick, timer);
}

static int timer_cpu_comes(unsigned int cpu, struct hlist_node *node)
{
	struct argtrace_timer *timer = hlist_entry(node, struct argtrace_timer, node);
	struct perf_event *event = make_event(timer, cpu);

	if (!IS_ERR(event)) {
		*per_cpu_ptr(timer->events, cpu) = event;
		return 0;
	}
	/*
	 * A full barrier the first time, which pairs with smp_store_mb() in attach_timer(): either
	 * that sees the error, or the timer is attached here.
	 */
	cmpxchg(&timer->error, 0, (int)PTR_ERR(event));
	if (!READ_ONCE(timer->attached))
		return 0;
	/* This does not keep a CPU that comes later offline: it just has no ticks. */
	timer->nr_silent++;
	pr_warn_ratelimited("CPU %u does not tick: no perf event could be made there (%d); it is in no profile that runs now\n",
			    cpu, (int)PTR_ERR(event));
	return 0;
}

static int cpu_goes(unsigned int cpu, struct hlist_node *node)
{
	struct argtrace_timer *timer = hlist_entry(node, struct argtrace_timer, node);
	struct perf_event **event = per_cpu_ptr(timer->events, cpu);

	if (*event)
		perf_event_release_kernel(*event);
	*event = NULL;
	return 0;
}

int argtrace_timers_init(void)
{
	const int ret = cpuhp_setup_state_multi(CPUHP_AP_ONLINE_DYN, "argtrace/timers:online",
						timer_cpu_comes, cpu_goes);

	if (ret < 0)
		return ret;
	hotplug_state = ret;
	return 0;
}

void argtrace_timers_exit(void)
{
	cpuhp_remove_multi_state(hotplug_state);
}

static unsigned long find_bad_timer(const unsigned long *addrs, u32 count, bool all)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (!addr_is_valid(addrs[i]))
			return addrs[i];
	}
	return 0;
}

static void init_timer_lane(struct argtrace_lane *lane)
{
	/* Never registered. */
	lane->ops = (struct ftrace_ops){ };
}

/* To be called when it has no events any more. */
static void free_timer(struct argtrace_timer *timer)
{
	free_percpu(timer->events);
	argtrace_memory_uncharge(timer->charged);
	kfree(timer);
}

static struct argtrace_timer *alloc_timer(struct argtrace_lane *lane, unsigned long addr)
{
	const u64 charge = num_possible_cpus() * sizeof(struct perf_event) +
			   argtrace_percpu_size(sizeof(struct perf_event *));
	struct argtrace_timer *timer;
	int ret = argtrace_memory_charge(charge);

	if (ret)
		return ERR_PTR(ret);
	timer = kzalloc(sizeof(*timer), ARGTRACE_GFP);
	if (!timer) {
		argtrace_memory_uncharge(charge);
		return ERR_PTR(-ENOMEM);
	}
	timer->lane = lane;
	timer->addr = addr;
	timer->charged = charge;
	timer->events = alloc_percpu_gfp(struct perf_event *, ARGTRACE_GFP);
	if (!timer->events) {
		free_timer(timer);
		return ERR_PTR(-ENOMEM);
	}
	return timer;
}

/*
 * perf has different errors for events that this machine does not have, or that cannot interrupt
 * it.
 */
static int refusal(int error)
{
	return error == -ENOENT || error == -EINVAL || error == -ENODEV ? -EOPNOTSUPP : error;
}

static int attach_timer(struct argtrace_lane *lane, const struct argtrace_table *table,
			unsigned long *addrs, u32 count)
{
	struct argtrace_timer *timer;
	int ret;

	if (lane->timer && count == 1 && lane->timer->addr == addrs[0])
		return 0;
	if (lane->timer || count > 1)
		return -E2BIG;
	timer = alloc_timer(lane, addrs[0]);
	if (IS_ERR(timer))
		return PTR_ERR(timer);
	ret = cpuhp_state_add_instance(hotplug_state, &timer->node);
	/* Pairs with cmpxchg() in timer_cpu_comes(). */
	smp_store_mb(timer->attached, true);
	if (!ret && READ_ONCE(timer->error)) {
		cpuhp_state_remove_instance(hotplug_state, &timer->node);
		ret = refusal(timer->error);
	}
	if (ret) {
		lane->refused = addrs[0];
		free_timer(timer);
		return ret;
	}
	lane->timer = timer;
	lane->armed = true;
	return 0;
}

static int follow_timer(struct argtrace_lane *lane)
{
	const struct argtrace_plan *plan;

	if (!lane->timer)
		return 0;
	plan = argtrace_catalog_find(&lane->session->catalog, ARGTRACE_KIND_TIMER,
				     lane->timer->addr);
	if (plan && !plan->removed)
		return 0;
	/* Releases the events; for each, its CPU confirms that it is no longer running it. */
	cpuhp_state_remove_instance(hotplug_state, &lane->timer->node);
	free_timer(lane->timer);
	lane->timer = NULL;
	lane->armed = false;
	return 0;
}

const struct argtrace_source argtrace_timer_source = {
	.kind = ARGTRACE_KIND_TIMER,
	.addr_is_number = true,
	.init = init_timer_lane,
	.find_bad = find_bad_timer,
	.attach = attach_timer,
	.follow = follow_timer,
};
