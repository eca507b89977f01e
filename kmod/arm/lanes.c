// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>

#include "arm/lanes.h"
#include "base/compat.h"
#include "probe/table.h"
#include "session.h"
#include "source/source.h"

static const struct argtrace_source *const sources[ARGTRACE_LANES] = {
	[ARGTRACE_LANE_PLAIN] = &argtrace_entry_source,
	[ARGTRACE_LANE_PROGRAM] = &argtrace_entry_source,
	[ARGTRACE_LANE_AGGREGATE] = &argtrace_entry_source,
	[ARGTRACE_LANE_RETURN] = &argtrace_entry_source,
	[ARGTRACE_LANE_TRACEPOINT] = &argtrace_tracepoint_source,
	[ARGTRACE_LANE_SYSCALL] = &argtrace_syscall_source,
	[ARGTRACE_LANE_SYSCALL_RETURN] = &argtrace_syscall_source,
	[ARGTRACE_LANE_SYSCALL_WAIT] = &argtrace_syscall_source,
	[ARGTRACE_LANE_FALLBACK] = &argtrace_fallback_source,
	[ARGTRACE_LANE_TIMER] = &argtrace_timer_source,
	[ARGTRACE_LANE_USER] = &argtrace_user_source,
	[ARGTRACE_LANE_USER_RETURN] = &argtrace_user_source,
};

enum argtrace_lane_kind argtrace_lane_of(const struct argtrace_plan *plan)
{
	if (plan->kind == ARGTRACE_KIND_TRACEPOINT)
		return ARGTRACE_LANE_TRACEPOINT;
	if (plan->kind == ARGTRACE_KIND_SYSCALL && plan->returns)
		return plan->returns->is_entry ? ARGTRACE_LANE_SYSCALL_WAIT :
						 ARGTRACE_LANE_SYSCALL_RETURN;
	if (plan->kind == ARGTRACE_KIND_SYSCALL)
		return ARGTRACE_LANE_SYSCALL;
	if (plan->kind == ARGTRACE_KIND_TIMER)
		return ARGTRACE_LANE_TIMER;
	if (plan->kind == ARGTRACE_KIND_USER)
		return plan->returns ? ARGTRACE_LANE_USER_RETURN : ARGTRACE_LANE_USER;
	if (plan->returns)
		return plan->returns->fallback ? ARGTRACE_LANE_FALLBACK : ARGTRACE_LANE_RETURN;
	if (!plan->code)
		return ARGTRACE_LANE_PLAIN;
	return argtrace_code_aggregates(plan->code) ? ARGTRACE_LANE_AGGREGATE :
						      ARGTRACE_LANE_PROGRAM;
}

const struct argtrace_source *argtrace_kind_source(u16 kind)
{
	enum argtrace_lane_kind lane;

	for (lane = 0; lane < ARGTRACE_LANES; lane++) {
		if (sources[lane]->kind == kind)
			return sources[lane];
	}
	return NULL;
}

static int lane_init(struct argtrace_session *session, enum argtrace_lane_kind kind)
{
	struct argtrace_lane *lane = &session->lanes[kind];
	struct argtrace_table *table = argtrace_table_create(kind, NULL, 0, NULL, 0);

	if (IS_ERR(table))
		return PTR_ERR(table);
	RCU_INIT_POINTER(lane->table, table);
	lane->kind = kind;
	lane->source = sources[kind];
	lane->session = session;
	lane->rings = session->rings;
	lane->excluded_tgid = -1;
	lane->source->init(lane);
	return 0;
}

int argtrace_lanes_create(struct argtrace_session *session)
{
	enum argtrace_lane_kind kind;
	int ret = 0;

	for (kind = 0; kind < ARGTRACE_LANES && !ret; kind++)
		ret = lane_init(session, kind);
	return ret;
}

void argtrace_lanes_free(struct argtrace_session *session)
{
	enum argtrace_lane_kind kind;

	for (kind = 0; kind < ARGTRACE_LANES; kind++)
		argtrace_table_free(rcu_dereference_protected(session->lanes[kind].table, true));
}

static void set_pid_filter(struct argtrace_session *session, struct argtrace_pid_filter *pid_filter)
{
	enum argtrace_lane_kind kind;

	lockdep_assert_held(&session->lock);
	for (kind = 0; kind < ARGTRACE_LANES; kind++) {
		struct argtrace_lane *lane = &session->lanes[kind];

		rcu_assign_pointer(lane->pid_bits, pid_filter ? pid_filter->bits : NULL);
		/*
		 * The choice of the callback depends on it, and an armed lane keeps its callback.
		 */
		if (!lane->armed)
			lane->source->init(lane);
	}
}

/* Tells the armed lanes whose sources have to know. On error, some may follow the new filter. */
static int follow_filter(struct argtrace_session *session)
{
	enum argtrace_lane_kind kind;
	int ret = 0;

	for (kind = 0; kind < ARGTRACE_LANES && !ret; kind++) {
		struct argtrace_lane *lane = &session->lanes[kind];

		if (lane->armed && lane->source->filter_changed)
			ret = lane->source->filter_changed(lane);
	}
	return ret;
}

int argtrace_lanes_set_pid_filter(struct argtrace_session *session,
				  struct argtrace_pid_filter *pid_filter)
{
	struct argtrace_pid_filter *before;
	bool armed;
	int ret;

	mutex_lock(&session->lock);
	armed = argtrace_lanes_armed(session);
	before = session->pid_filter;
	if (session->removed || (armed && !pid_filter != !before)) {
		ret = session->removed ? -ENOENT : -EBUSY;
		mutex_unlock(&session->lock);
		return ret;
	}
	set_pid_filter(session, pid_filter);
	ret = follow_filter(session);
	if (ret) {
		/* What has followed the new filter has more breakpoints than it needs, or less. */
		set_pid_filter(session, before);
		follow_filter(session);
	} else {
		session->pid_filter = pid_filter;
	}
	mutex_unlock(&session->lock);

	/* The caller of a filter that was refused frees it. */
	if (armed && (ret || before))
		argtrace_synchronize();
	if (!ret)
		argtrace_pid_filter_free(before);
	return ret;
}
