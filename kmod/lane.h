/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A lane: one way for calls to come into a session, from what hands them to us to the rings.
 * A session has a few, each with a callback, a table and a filter of its own, so that what one
 * lane can do costs the calls of another nothing. The rings are the session's, and shared.
 *
 * A probe is in one lane for as long as it lives (arm.c decides which), so an address belongs to
 * one lane of a session, and whatever hands over the call knows the callback.
 */
#ifndef ARGTRACE_LANE_H
#define ARGTRACE_LANE_H

#include <linux/ftrace.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "filter/pid_filter.h"

struct argtrace_plan;
struct argtrace_ring;
struct argtrace_session;
struct argtrace_source;
struct argtrace_table;
struct argtrace_timer;

enum argtrace_lane_kind {
	ARGTRACE_LANE_PLAIN,	/* arguments straight from registers and stack */
	ARGTRACE_LANE_RICH,	/* programs */
	ARGTRACE_LANE_AGGREGATE, /* programs that record nothing: counts and maps */
	ARGTRACE_LANE_RETURN,	/* calls whose return is followed */
	ARGTRACE_LANE_TRACEPOINT, /* tracepoints, with programs and without */
	ARGTRACE_LANE_SYSCALL,	/* system calls, likewise */
	ARGTRACE_LANE_SYSCALL_RETURN, /* those whose return is followed */
	ARGTRACE_LANE_FALLBACK,	/* calls whose return the kernel follows for us */
	ARGTRACE_LANE_TIMER,	/* ticks, with programs and without */
	ARGTRACE_LANES,
};

struct argtrace_lane {
	/* What a call needs. */
	struct argtrace_table __rcu *table;
	struct argtrace_ring __percpu *rings;
	pid_t excluded_tgid;		/* its calls are filtered; -1: nobody's */
	/* A bit for each process whose calls are not filtered, that of struct argtrace_pid_filter; NULL: nobody's are. */
	unsigned long __rcu *pid_bits;

	/* The rest is under session->lock. */
	struct argtrace_session *session;
	enum argtrace_lane_kind kind;
	const struct argtrace_source *source;
	bool armed;			/* calls may come in: ops is registered, or there are tracepoints */
	bool leaked;			/* ftrace has shut itself down: the session must not be freed */
	struct ftrace_ops ops;		/* of TRACEPOINT and TIMER: never registered */
	struct list_head fallbacks;	/* of FALLBACK: struct argtrace_fallback */
	unsigned long refused;		/* of FALLBACK and TIMER: the address at which attach() failed */
	struct list_head tracepoints;	/* of TRACEPOINT: struct argtrace_tracepoint, those that call us */
	struct argtrace_timer *timer;	/* of TIMER, while it is armed */
};

/* In which lane a probe is. It follows from its schema alone, so that a removed probe that comes back to life is in the same. */
enum argtrace_lane_kind argtrace_lane_of(const struct argtrace_plan *plan);

/* Whether the returns of its calls are followed by our own means. */
static inline bool argtrace_lane_follows(enum argtrace_lane_kind kind)
{
	return kind == ARGTRACE_LANE_RETURN || kind == ARGTRACE_LANE_SYSCALL_RETURN;
}

/* The source of a lane, and that of a kind of probe, which is valid. */
const struct argtrace_source *argtrace_lane_source(enum argtrace_lane_kind kind);
const struct argtrace_source *argtrace_kind_source(u16 kind);

/* The lanes of a session whose clock and rings are there. 0 or an error; frees nothing. */
int argtrace_lanes_create(struct argtrace_session *session);
/* No callback uses them any more. */
void argtrace_lanes_free(struct argtrace_session *session);

bool argtrace_lanes_armed(const struct argtrace_session *session);
bool argtrace_lanes_leaked(const struct argtrace_session *session);

/* The filters of all lanes. A callback may still be using what they were before. */
void argtrace_lanes_exclude(struct argtrace_session *session, pid_t tgid);
/* The number is another process's now. From any context, beside argtrace_lanes_exclude(). */
void argtrace_lanes_stop_excluding(struct argtrace_session *session, pid_t tgid);
void argtrace_lanes_set_pid_filter(struct argtrace_session *session,
				   struct argtrace_pid_filter *pid_filter);

/* In an interrupt it is the interrupted process that counts, as for ftrace's own filter. */
static __always_inline bool argtrace_is_filtered(const struct argtrace_lane *lane,
					const bool by_pid)
{
	const pid_t tgid = current->tgid;

	if (by_pid &&
	    !argtrace_pid_bits_have(rcu_dereference_raw(lane->pid_bits), tgid))
		return true;
	return tgid == READ_ONCE(lane->excluded_tgid);
}

#endif
