/* SPDX-License-Identifier: GPL-2.0-only */
/* What additions (add.c) and removals (remove.c) do to a lane, and to what lanes share. */
#ifndef ARGTRACE_CHANGE_H
#define ARGTRACE_CHANGE_H

#include <linux/types.h>

struct argtrace_lane;
struct argtrace_plan;
struct argtrace_session;
struct argtrace_table;

/*
 * The catalog has changed: a list that is being read in parts starts over, and poll() reports it.
 */
void argtrace_catalog_changed(struct argtrace_session *session);

/* A removed probe is live again. */
void argtrace_plan_revive(struct argtrace_session *session, struct argtrace_plan *plan);
bool argtrace_plan_may_be_in_module(const struct argtrace_plan *plan);

/*
 * Stops tracing the probes of the lane that have been removed from the catalog, without memory that
 * the limit or a memory cgroup could refuse. If there is no room for a smaller table, the old one
 * stays: it still names the removed probes, but these are kept, and no longer called.
 */
int argtrace_lane_follow_removal(struct argtrace_lane *lane);
/*
 * The lane does not call its removed probes any more. Only now may those whose calls are followed
 * become idle.
 */
void argtrace_lane_detached(struct argtrace_lane *lane);

/* An addition to a lane: argtrace_lane_begin(), then argtrace_lane_commit() or _undo(). */
struct argtrace_lane_addition {
	struct argtrace_lane *lane;
	unsigned long *addrs;
	u32 count;			/* 0: nothing is added to this lane */
	struct argtrace_table *old;	/* what is to be freed, or put back */
};

/*
 * Has the lane called for these addresses as well, whose plans are live in the catalog or new. On
 * error, the lane is unchanged.
 */
int argtrace_lane_begin(struct argtrace_lane_addition *addition, struct argtrace_plan **plans,
			u32 nr_new, unsigned long *failed_addr);
void argtrace_lane_commit(struct argtrace_lane_addition *addition);
/*
 * The catalog is as it was before argtrace_lane_begin(). If there is no memory to detach the new
 * functions, they are still called for, and not found in the table.
 */
void argtrace_lane_undo(struct argtrace_lane_addition *addition);

#endif
