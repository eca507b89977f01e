/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints as a source. One function of ours is registered with each of them, and takes the arguments as the kernel passes them,
 * whatever they are. __traceiter_NAME() has the same arguments, so that its prototype says where each of them is.
 */
#ifndef ARGTRACE_TRACEPOINT_H
#define ARGTRACE_TRACEPOINT_H

#include <linux/list.h>
#include <linux/types.h>

#include "base/compat.h"

struct argtrace_lane;
struct argtrace_plan;
struct argtrace_ring;
struct module;
struct tracepoint;

/* A tracepoint that calls us with this as its data. Freed when it can no longer call us. */
struct argtrace_tracepoint {
	/* What a pass needs, in one cache line. */
	struct argtrace_plan __rcu *plan; /* as the lane's table has it: NULL if that has none */
	struct argtrace_lane *lane;
	struct argtrace_ring __percpu *rings; /* the lane's */
	unsigned long addr;		/* of __traceiter_NAME() */
	unsigned long size;		/* of that function, in bytes */
	/* The preemption count in our callback if the tracepoint is passed in plain context. */
	argtrace_preempt_word plain;
	u8 own_levels;			/* of preempt_disable(), which that count has */

	void *callback;			/* what has been registered */
	struct tracepoint *tracepoint;
	struct module *module;		/* while it is being registered; NULL: the kernel's */
	struct list_head link;		/* in lane->tracepoints */
};

/*
 * The function that a tracepoint of this lane calls for such a probe (source/tracepoint.c). It depends on the
 * probe's program and arguments, on the session's clock and kind of ring, and on whether there is a filter by PID, none of which may
 * change while the lane is armed.
 */
void *argtrace_tracepoint_callback(const struct argtrace_lane *lane, const struct argtrace_plan *plan);

#endif
