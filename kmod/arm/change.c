// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>

#include "arm/change.h"
#include "arm/lanes.h"
#include "base/hook.h"
#include "session.h"
#include "source/returns/returns.h"
#include "source/source.h"

void argtrace_catalog_changed(struct argtrace_session *session)
{
	session->catalog.generation++;
	argtrace_notice_change(&session->notice);
}

void argtrace_plan_revive(struct argtrace_session *session, struct argtrace_plan *plan)
{
	argtrace_catalog_set_removed(&session->catalog, plan, false);
	if (plan->rules)
		plan->rules->start(plan, session);
}

bool argtrace_plan_may_be_in_module(const struct argtrace_plan *plan)
{
	return !argtrace_kind_source(plan->kind)->addr_is_number;
}

/* Callbacks see the new table from here on, and may still be using the one returned. */
static struct argtrace_table *swap_table(struct argtrace_lane *lane, struct argtrace_table *table)
{
	table = rcu_replace_pointer(lane->table, table, lockdep_is_held(&lane->session->lock));
	if (lane->source->table_changed)
		lane->source->table_changed(lane);
	return table;
}

/*
 * Frees a table that has been swapped out. `armed`: there may be callbacks to wait for.
 * Without a registered ops there are none, since unregistering has waited for them.
 */
static void retire_table(struct argtrace_table *table, bool armed)
{
	if (armed)
		argtrace_synchronize();
	argtrace_table_free(table);
}

void argtrace_lane_detached(struct argtrace_lane *lane)
{
	const struct argtrace_catalog *catalog = &lane->session->catalog;
	u32 id;

	if (!argtrace_lane_diverts(lane->kind))
		return;
	for (id = 1; id < catalog->nr_ids; id++) {
		struct argtrace_plan *plan = catalog->by_id[id];

		if (plan->removed && plan->lane == lane->kind)
			argtrace_return_detached(plan);
	}
}

int argtrace_lane_follow_removal(struct argtrace_lane *lane)
{
	const struct argtrace_catalog *catalog = &lane->session->catalog;
	struct argtrace_table *table, *old = NULL;
	const bool any_left = catalog->nr_live[lane->kind];
	int ret;

	ARGTRACE_HOOK(LANE_REMOVAL);
	table = argtrace_table_create(lane->kind, catalog->by_id, catalog->nr_ids, NULL, 0);
	if (IS_ERR(table))
		table = NULL;
	/* A lane is disarmed table first, for the reason given at argtrace_lane_begin(). */
	if (table && !any_left)
		old = swap_table(lane, table);
	ret = lane->source->follow(lane);
	if (ret) {
		/*
		 * The probes are about to be revived: the table that names them comes back, or has
		 * never left.
		 */
		if (old)
			retire_table(swap_table(lane, old), true);
		else
			argtrace_table_free(table);
		return ret;
	}
	if (table && any_left)
		old = swap_table(lane, table);
	/* Functions that the trampolines call may be running although no ops is registered. */
	retire_table(old, lane->armed || argtrace_lane_diverts(lane->kind));
	argtrace_lane_detached(lane);
	return 0;
}

/*
 * If the lane is armed, the table comes first, so that no call is missed. Otherwise it comes last:
 * all probes start at once, and the calls that ftrace itself makes while it patches the functions
 * (millions, if all functions are added) cost no more than a failing lookup.
 */
int argtrace_lane_begin(struct argtrace_lane_addition *addition, struct argtrace_plan **plans,
			u32 nr_new, unsigned long *failed_addr)
{
	struct argtrace_lane *lane = addition->lane;
	const struct argtrace_catalog *catalog = &lane->session->catalog;
	const bool was_armed = lane->armed;
	struct argtrace_table *table;
	int ret;

	table = argtrace_table_create(lane->kind, catalog->by_id, catalog->nr_ids, plans, nr_new);
	if (IS_ERR(table))
		return PTR_ERR(table);
	addition->old = was_armed ? swap_table(lane, table) : NULL;
	ret = lane->source->attach(lane, table, addition->addrs, addition->count);
	if (ret) {
		if (ret == -EINVAL)
			*failed_addr = lane->source->find_bad(addition->addrs, addition->count,
							      true);
		if (ret == -EOPNOTSUPP)
			*failed_addr = lane->refused;
		retire_table(was_armed ? swap_table(lane, addition->old) : table, was_armed);
		return ret;
	}
	if (!was_armed)
		addition->old = swap_table(lane, table);
	return 0;
}

void argtrace_lane_commit(struct argtrace_lane_addition *addition)
{
	retire_table(addition->old, true);
}

void argtrace_lane_undo(struct argtrace_lane_addition *addition)
{
	struct argtrace_lane *lane = addition->lane;
	struct argtrace_table *table = swap_table(lane, addition->old);

	lane->source->follow(lane);
	retire_table(table, true);
	argtrace_lane_detached(lane);
}
