/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A lane: one path for calls into a session, from their source to the rings. A session has a
 * few lanes, each with its own callback, table and filter, so that the features of one lane
 * cost the calls of another nothing. They share the session's rings.
 *
 * A probe stays in one lane for life (arm/lanes.c decides which), so an address belongs
 * to one lane of a session, and the source knows which callback to call.
 */
#ifndef ARGTRACE_LANE_H
#define ARGTRACE_LANE_H

#include <linux/ftrace.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "filter/pid_filter.h"
#include "probe/plan.h"

struct argtrace_ring;
struct argtrace_session;
struct argtrace_source;
struct argtrace_table;
struct argtrace_timer;

struct argtrace_lane {
	/* What a call needs. */
	struct argtrace_table __rcu *table;
	struct argtrace_ring __percpu *rings;
	pid_t excluded_tgid;		/* calls of this process are filtered; -1: of none */
	/*
	 * The bits of struct argtrace_pid_filter, set for processes whose calls are recorded; NULL:
	 * all are.
	 */
	unsigned long __rcu *pid_bits;

	/* The rest is under session->lock. */
	struct argtrace_session *session;
	enum argtrace_lane_kind kind;
	const struct argtrace_source *source;
	/* calls may come in: ops is registered, or there are tracepoints or places */
	bool armed;
	/* ftrace has shut itself down: the session must not be freed */
	bool leaked;
	/* never registered for TRACEPOINT, TIMER, USER and USER_RETURN */
	struct ftrace_ops ops;
	struct list_head fallbacks;	/* FALLBACK: struct argtrace_fallback */
	/* FALLBACK, TIMER, USER, USER_RETURN: the address at which attach() failed */
	unsigned long refused;
	/* TRACEPOINT: struct argtrace_tracepoint, those that call us */
	struct list_head tracepoints;
	struct argtrace_timer *timer;	/* TIMER, while it is armed */
	/* USER, USER_RETURN: struct argtrace_user_place, those that call us */
	struct list_head user_places;
};

/* Whether its calls may go through trampolines of ours. */
static inline bool argtrace_lane_diverts(enum argtrace_lane_kind kind)
{
	return kind == ARGTRACE_LANE_RETURN || kind == ARGTRACE_LANE_SYSCALL_RETURN ||
	       kind == ARGTRACE_LANE_SYSCALL_WAIT;
}

bool argtrace_lanes_armed(const struct argtrace_session *session);
bool argtrace_lanes_leaked(const struct argtrace_session *session);

/* Set the filters of all lanes. Callbacks may still be using the old ones. */
void argtrace_lanes_exclude(struct argtrace_session *session, pid_t tgid);
/*
 * The PID now belongs to another process. May be called in any context, concurrently with
 * argtrace_lanes_exclude().
 */
void argtrace_lanes_stop_excluding(struct argtrace_session *session, pid_t tgid);
/* In an interrupt, the interrupted process decides, as for ftrace's own filter. */
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
