/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Timers as a source: include/uapi/argtrace_timer.h. Each CPU that is online has a perf event,
 * whose overflows are the ticks.
 */
#ifndef ARGTRACE_SOURCE_TIMER_H
#define ARGTRACE_SOURCE_TIMER_H

#include <linux/list.h>
#include <linux/types.h>

#include "arch/regs.h"

struct argtrace_lane;
struct perf_event;
struct perf_sample_data;

/* The timer of a lane. Freed when its events can no longer call us. */
struct argtrace_timer {
	struct argtrace_lane *lane;
	unsigned long addr;		/* of its probe, made by ARGTRACE_TIMER() */
	struct perf_event * __percpu *events;
	struct hlist_node node;		/* in the CPU hotplug state */
	int error;			/* the first error in making the event of a CPU */
	/* a CPU that gets no event from now on is named in the kernel's log */
	bool attached;
	unsigned int nr_silent;		/* how many of those there were */
	u64 charged;
};

/* At module load and unload. */
int argtrace_timers_init(void);
void argtrace_timers_exit(void);

/* Called by an event in an interrupt or NMI; the event's context is the timer. source/timer.c */
void argtrace_timer_tick(struct perf_event *event, struct perf_sample_data *data,
			 argtrace_full_regs *full);

#endif
