/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a plan has whose calls are followed until they return, or go through a trampoline to wait
 * for memory: source/returns/ is who follows them.
 */
#ifndef ARGTRACE_FOLLOWED_H
#define ARGTRACE_FOLLOWED_H

#include <linux/list.h>
#include <linux/types.h>

#include "probe/counters.h"

struct argtrace_fallback;
struct argtrace_lane;
struct argtrace_plan;
struct argtrace_ring;

enum argtrace_return_life {
	ARGTRACE_RETURN_IDLE,		/* has no calls in flight, and gets none */
	ARGTRACE_RETURN_LIVE,
	ARGTRACE_RETURN_STOPPED,	/* records nothing, but its lane may still call it */
	ARGTRACE_RETURN_LEAVING,	/* its lane does not call it; calls may be in flight */
};

/* What argtrace_return_leave() does with a call, in plain context; in any other it is SLOW. */
enum argtrace_leave_path {
	ARGTRACE_LEAVE_FAST,		/* writes the record, of which all parts are words */
	ARGTRACE_LEAVE_SLOW,		/* has the slow path record the call */
	ARGTRACE_LEAVE_STOPPED,		/* records nothing any more, in any context */
	ARGTRACE_LEAVE_OUTPUTS,		/* as FAST, and writes the quick outputs of the program */
	ARGTRACE_LEAVE_WORDS,		/* has a map aggregate words of the frame and the task */
	ARGTRACE_LEAVE_FILTER,		/* as FAST, if a filter of such words accepts the call */
	ARGTRACE_LEAVE_NARROW,		/* as FAST, with numbers at the end that are no words */
	ARGTRACE_LEAVE_FILTER_NARROW,	/* as FILTER, with such numbers */
};

/*
 * What a plan whose calls are followed has beside the others. While it is not idle it holds a
 * reference to the plan.
 */
struct argtrace_return {
	/* What the trampolines read: see arch/followed.h. */
	unsigned long body;		/* behind ftrace's call; 0 before the first call */
	unsigned long words;		/* of 8 bytes, that arguments take on the stack */

	/* What a call needs. */
	/* the same, where a call that goes there takes no more than the callback does itself */
	unsigned long quick_body;
	unsigned long leave_path;	/* enum argtrace_leave_path */
	unsigned long above;		/* bytes of the stack above the frame that are read */
	struct argtrace_plan *plan;
	struct argtrace_ring __percpu *rings;	/* not to be touched once STOPPED */
	struct argtrace_counters *following;	/* struct argtrace_return_counters */

	/* Programs: bytes saved at entry, 0 if not known beforehand. */
	unsigned long kept;
	unsigned long accepted_body;	/* quick_body, for a call that the program has accepted */
	u16 duration_at;		/* in the record */
	u16 value_at;			/* 0: nothing is returned */
	u16 value_size;
	bool value_has_length;		/* ARGTRACE_TYPE_BYTES */
	bool is_narrow;			/* argtrace_return_is_narrow(): set with leave_path */
	u32 clock;			/* the session's */
	bool waits;			/* ARGTRACE_PROBE_WAITS */
	bool in_memory;			/* ARGTRACE_PROBE_IN_MEMORY */
	/* without ARGTRACE_PROBE_RETURN: recorded before the body; neither duration nor value */
	bool is_entry;
	struct argtrace_lane *lane;	/* of such a plan; not to be touched once STOPPED */

	/* The rest is under the lock of source/returns/life.c. */
	struct list_head link;		/* LEAVING */
	enum argtrace_return_life life;
	bool seen;			/* leaving since before the last argtrace_synchronize() */
	bool logged;			/* the log names its calls in flight */
	unsigned long stopped_at;	/* jiffies: LEAVING */

	struct argtrace_counters_block *following_block;
	struct argtrace_return_counters before;	/* of earlier lives: counts no more */

	/* Under session->lock. */
	/* set if fprobe or kretprobe follows the calls; life stays IDLE */
	struct argtrace_fallback *fallback;
	u64 missed_before;			/* of earlier lives */
};

/*
 * Settles what follows from the plan's schema and layout, where the value goes in the record, and
 * returns the end of it.
 */
u32 argtrace_return_prepare(struct argtrace_plan *plan, u32 at);

#endif
