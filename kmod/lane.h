/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A lane: one path for calls into a session, from their source to the rings. A session has a
 * few lanes, each with its own callback, table and filter, so that the features of one lane
 * cost the calls of another nothing. They share the session's rings.
 *
 * A probe stays in one lane for life (argtrace_lane_of() decides which), so an address belongs
 * to one lane of a session, and the source knows which callback to call.
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
	pid_t excluded_tgid;		/* calls of this process are filtered; -1: of none */
	/* The bits of struct argtrace_pid_filter, set for processes whose calls are recorded; NULL: all are. */
	unsigned long __rcu *pid_bits;

	/* The rest is under session->lock. */
	struct argtrace_session *session;
	enum argtrace_lane_kind kind;
	const struct argtrace_source *source;
	bool armed;			/* calls may come in: ops is registered, or there are tracepoints */
	bool leaked;			/* ftrace has shut itself down: the session must not be freed */
	struct ftrace_ops ops;		/* TRACEPOINT, TIMER: never registered */
	struct list_head fallbacks;	/* FALLBACK: struct argtrace_fallback */
	unsigned long refused;		/* FALLBACK, TIMER: the address at which attach() failed */
	struct list_head tracepoints;	/* TRACEPOINT: struct argtrace_tracepoint, those that call us */
	struct argtrace_timer *timer;	/* TIMER, while it is armed */
};

/* The lane of a probe. It depends only on the schema, so that a probe is in the same lane when it is revived. */
enum argtrace_lane_kind argtrace_lane_of(const struct argtrace_plan *plan);

/* Whether we follow the returns of its calls ourselves. */
static inline bool argtrace_lane_follows(enum argtrace_lane_kind kind)
{
	return kind == ARGTRACE_LANE_RETURN || kind == ARGTRACE_LANE_SYSCALL_RETURN;
}

/* The source of a lane, and that of a kind of probe, which is valid. */
const struct argtrace_source *argtrace_lane_source(enum argtrace_lane_kind kind);
const struct argtrace_source *argtrace_kind_source(u16 kind);

/* Makes the lanes of a session that has its clock and rings. 0 or an error, on which nothing is freed. */
int argtrace_lanes_create(struct argtrace_session *session);
/* To be called when no callback uses them any more. */
void argtrace_lanes_free(struct argtrace_session *session);

bool argtrace_lanes_armed(const struct argtrace_session *session);
bool argtrace_lanes_leaked(const struct argtrace_session *session);

/* Set the filters of all lanes. Callbacks may still be using the old ones. */
void argtrace_lanes_exclude(struct argtrace_session *session, pid_t tgid);
/* The PID now belongs to another process. May be called in any context, concurrently with argtrace_lanes_exclude(). */
void argtrace_lanes_stop_excluding(struct argtrace_session *session, pid_t tgid);
void argtrace_lanes_set_pid_filter(struct argtrace_session *session,
				   struct argtrace_pid_filter *pid_filter);

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
