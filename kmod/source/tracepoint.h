/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints as a source. What is registered with each of them is one function of ours, which takes the arguments as the kernel
 * passes them, whatever they are: __traceiter_NAME() has the same, so that its prototype says where each of them is.
 */
#ifndef ARGTRACE_TRACEPOINT_H
#define ARGTRACE_TRACEPOINT_H

#include <linux/list.h>
#include <linux/types.h>

struct argtrace_lane;
struct module;
struct tracepoint;

/* A tracepoint that calls us: what it hands to us as its data. Freed when it can do so no more. */
struct argtrace_tracepoint {
	struct argtrace_lane *lane;
	unsigned long addr;		/* of __traceiter_NAME() */
	unsigned long size;		/* its bytes */
	u8 own_levels;			/* of preemption that are off when a call is recorded, but not where the tracepoint is passed */
	struct tracepoint *tracepoint;
	struct module *module;		/* while it is being registered; NULL: the kernel's */
	struct list_head link;		/* in lane->tracepoints */
};

/*
 * What the tracepoints of a lane are to call: source/tracepoint.c. It follows from the clock of the session and from whether that is
 * a flight recorder.
 */
void *argtrace_tracepoint_callback(const struct argtrace_lane *lane);

#endif
