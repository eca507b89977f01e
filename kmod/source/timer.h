/* SPDX-License-Identifier: GPL-2.0-only */
/* Timers as a source: include/uapi/argtrace_timer.h. Each CPU that is online has a perf event, whose overflows are the ticks. */
#ifndef ARGTRACE_SOURCE_TIMER_H
#define ARGTRACE_SOURCE_TIMER_H

#include <linux/list.h>
#include <linux/types.h>

struct argtrace_lane;
struct perf_event;
struct perf_sample_data;
struct pt_regs;

/* The timer of a lane. Freed when none of its events calls us any more. */
struct argtrace_timer {
	struct argtrace_lane *lane;
	unsigned long addr;		/* of its probe: what ARGTRACE_TIMER() has made */
	struct perf_event * __percpu *events;
	struct hlist_node node;		/* of the state of CPU hotplug */
	int error;			/* the first that a CPU has met for which there was to be an event, until it is attached */
	bool attached;			/* CPUs come from now on that were not online before */
	unsigned int nr_silent;		/* how many of those got no event */
	u64 charged;
};

/* At module load and unload. */
int argtrace_timers_init(void);
void argtrace_timers_exit(void);

/* What an event calls, in an interrupt or NMI, whose context is the timer: source/timer.c. */
void argtrace_timer_tick(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs);

#endif
