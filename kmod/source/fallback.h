/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls whose return is followed by the kernel's own means, an fprobe or a kretprobe for each
 * function: where it cannot be by our trampoline (return.h), or who adds the probe does not want
 * it. Records and outcomes are the same.
 *
 * The kernel keeps what we need of a call until it returns: one of a fixed number for each
 * function, or on a stack of limited size for each task. A call for which there is no room it does
 * not show us, and counts: `missed`. Nothing of ours is on a task's stack, and nothing in flight
 * keeps us loaded: what returns when the probe is gone, the kernel forgets, and we count as removed
 * when the probe goes.
 */
#ifndef ARGTRACE_FALLBACK_H
#define ARGTRACE_FALLBACK_H

#include <linux/fprobe.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

struct argtrace_lane;
struct argtrace_plan;
struct argtrace_session;

/* What a plan of the lane FALLBACK has beside its struct argtrace_return. Under session->lock. */
struct argtrace_fallback {
	struct list_head link;		/* in lane->fallbacks */
	struct argtrace_plan *plan;
	const struct argtrace_lane *lane;
	/* of this registration: calls of another one end unnoticed; 0: not registered */
	u64 cookie;
	unsigned long missed;		/* in earlier registrations */
	u64 charged;			/* for this registration */
	bool by_kretprobe;
	union {
		struct fprobe fprobe;
		struct kretprobe kretprobe;
	};
};

/* Whether this kernel has them, as ARGTRACE_FEATURE_*. */
u64 argtrace_fallback_features(void);

#endif
