/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* argtrace: what has become of the calls of a probe. See argtrace.h. */
#ifndef _UAPI_ARGTRACE_COUNT_H
#define _UAPI_ARGTRACE_COUNT_H

#include <linux/types.h>

/*
 * Why a call was not recorded. The sum of records, filtered, sampled, capped and all of lost[] is the number of
 * hits, that is of the calls that ftrace has passed to argtrace. If several tracers trace the
 * same function, ftrace itself drops calls that are made within one of them, without counting
 * them.
 */
enum argtrace_lost {
	ARGTRACE_LOST_FULL	= 0,	/* the CPU's ring or map was full; in a flight recorder: of calls in interrupts, see argtrace_session.h */
	ARGTRACE_LOST_RECURSION	= 1,	/* the call was made while argtrace opened a packet in the same context, or while the
					 * kernel handled a fault of a program of such a call, and so on, too deep */
	ARGTRACE_LOST_NO_BUFFER	= 2,	/* the CPU came after the session or the map was made, and there was no memory for its ring or its
					 * slots */
};

#define ARGTRACE_LOST_COUNT	3	/* causes known to this version */
#define ARGTRACE_LOST_MAX	5	/* room for them in argtrace_counts */

struct argtrace_counts {
	__u32	id;			/* the probe */
	__u32	flags;			/* ARGTRACE_PROBE_* */
	__u64	records;		/* calls written to a ring, overwritten since or not; or aggregated: see enum argtrace_sink */
	__u64	filtered;		/* calls that the session's filter or the program's rejected */
	__u64	lost[ARGTRACE_LOST_MAX];
	__u64	sampled;		/* calls that argtrace_program.sample left out */
	__u64	capped;			/* calls that argtrace_program.max_rate left out */
	__u64	faults;			/* calls whose filter or values met memory that could not be read */
};

/*
 * Why the return of a call was not followed, or not completely. The number of hits of a probe with ARGTRACE_PROBE_RETURN is that
 * of struct argtrace_counts, plus in_flight, plus all of unfollowed[].
 */
enum argtrace_unfollowed {
	ARGTRACE_UNFOLLOWED_STACK	= 0,	/* less than half of the task's stack was left, or too many such calls were nested in an
						 * interrupt */
	ARGTRACE_UNFOLLOWED_TAKEN	= 1,	/* the call was redirected by something else: a live patch, a BPF program that was
						 * attached before, another session of argtrace that follows returns of the function */
	ARGTRACE_UNFOLLOWED_REMOVED	= 2,	/* the probe was removed meanwhile */
	ARGTRACE_UNFOLLOWED_EXITED	= 3,	/* the task ended within the call, and no record says so: see ARGTRACE_ID_LEFT */
	ARGTRACE_UNFOLLOWED_MISSED	= 4,	/* the kernel's fprobe or kretprobe had no free instance, or was already running; or its uretprobes
						 * follow 64 calls of the task that are within each other, and no more */
	ARGTRACE_UNFOLLOWED_LEFT	= 5,	/* a user function was left without returning (longjmp(), an exception, a panic), likewise */
	ARGTRACE_UNFOLLOWED_NO_GOROUTINE = 6,	/* ARGTRACE_PROBE_GOROUTINES: the goroutine could not be read at entry */
};

#define ARGTRACE_UNFOLLOWED_COUNT	7	/* reasons known to this version */
#define ARGTRACE_UNFOLLOWED_MAX		7	/* room for them */

struct argtrace_return_counts {
	struct argtrace_counts counts;
	__u64	in_flight;		/* calls that have not returned yet */
	__u64	unfollowed[ARGTRACE_UNFOLLOWED_MAX];
};

#endif
