/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints as a source. One function of ours is registered with each of them, and takes the arguments as the kernel passes them,
 * whatever they are. __traceiter_NAME() has the same arguments, so that its prototype says where each of them is.
 */
#ifndef ARGTRACE_TRACEPOINT_H
#define ARGTRACE_TRACEPOINT_H

#include <linux/list.h>
#include <linux/types.h>

struct argtrace_lane;
struct module;
struct tracepoint;

/* A tracepoint that calls us with this as its data. Freed when it can no longer call us. */
struct argtrace_tracepoint {
	struct argtrace_lane *lane;
	unsigned long addr;		/* of __traceiter_NAME() */
	unsigned long size;		/* of that function, in bytes */
	u8 own_levels;			/* of disabled preemption that the tracepoint and we add */
	struct tracepoint *tracepoint;
	struct module *module;		/* while it is being registered; NULL: the kernel's */
	struct list_head link;		/* in lane->tracepoints */
};

/*
 * The function that a lane's tracepoints call (source/tracepoint.c), which depends on the session's clock and on whether it is a
 * flight recorder.
 */
void *argtrace_tracepoint_callback(const struct argtrace_lane *lane);

#endif
