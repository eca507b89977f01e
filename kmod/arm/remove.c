// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sort.h>

#include "arm/arm.h"
#include "arm/change.h"
#include "base/memory.h"
#include "session.h"

static int compare_addrs(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

/*
 * argtrace_lane_follow_removal() for all lanes. 0 or -ENOMEM, with which the lanes before the one
 * that failed have followed: of their plans nothing can be revived.
 */
static int follow_removal(struct argtrace_session *session, enum argtrace_lane_kind *failed)
{
	int ret = 0;

	for (*failed = 0; *failed < ARGTRACE_LANES; ++*failed) {
		ret = argtrace_lane_follow_removal(&session->lanes[*failed]);
		if (ret)
			break;
	}
	argtrace_user_files_release(&session->user_files);
	argtrace_catalog_changed(session);
	return ret;
}

/* Stores the live plans of that kind at the addresses in `plans`. */
static int find_live(const struct argtrace_session *session, u16 kind, unsigned long *addrs,
		     u32 count, struct argtrace_plan **plans, unsigned long *failed_addr)
{
	u32 i;

	sort(addrs, count, sizeof(*addrs), compare_addrs, NULL);
	for (i = 0; i < count; i++) {
		plans[i] = argtrace_catalog_find(&session->catalog, kind, addrs[i]);
		if (!plans[i] || plans[i]->removed || (i && addrs[i] == addrs[i - 1])) {
			*failed_addr = addrs[i];
			return -ENOENT;
		}
	}
	return 0;
}

int argtrace_arm_remove(struct argtrace_session *session, u16 kind, unsigned long *addrs, u32 count,
			unsigned long *failed_addr)
{
	struct argtrace_catalog *catalog = &session->catalog;
	enum argtrace_lane_kind failed;
	struct argtrace_plan **plans;
	u32 i;
	int ret;

	lockdep_assert_held(&session->lock);
	if (!count)
		return 0;
	plans = kvmalloc_array(count, sizeof(*plans), ARGTRACE_GFP_REMOVAL);
	if (!plans)
		return -ENOMEM;
	ret = find_live(session, kind, addrs, count, plans, failed_addr);
	if (ret)
		goto out;

	for (i = 0; i < count; i++)
		argtrace_catalog_set_removed(catalog, plans[i], true);
	ret = follow_removal(session, &failed);
	/* Those that their lanes have not detached go on as before. */
	for (i = 0; ret && i < count; i++) {
		if (plans[i]->lane >= failed)
			argtrace_plan_revive(session, plans[i]);
	}
out:
	kvfree(plans);
	return ret;
}

static bool always(const struct argtrace_plan *plan, const struct module *module)
{
	return true;
}

static bool in_module(const struct argtrace_plan *plan, const struct module *module)
{
	return argtrace_plan_may_be_in_module(plan) && within_module(plan->addr, module);
}

static bool in_module_init(const struct argtrace_plan *plan, const struct module *module)
{
	return argtrace_plan_may_be_in_module(plan) && within_module_init(plan->addr, module);
}

/*
 * Removes the live probes for which picks() is true; `why` is set in their flags along with
 * REMOVED. Cannot fail.
 */
static void remove_picked(struct argtrace_session *session,
			  bool (*picks)(const struct argtrace_plan *, const struct module *),
			  const struct module *module, u32 why)
{
	struct argtrace_catalog *catalog = &session->catalog;
	enum argtrace_lane_kind kind;
	bool any = false;
	u32 i;

	lockdep_assert_held(&session->lock);
	for (i = 0; i < catalog->nr_addrs; i++) {
		struct argtrace_plan *plan = catalog->by_addr[i];

		if (plan->removed || !picks(plan, module))
			continue;
		argtrace_catalog_set_removed(catalog, plan, true);
		plan->schema->flags |= why;
		plan->unloaded = !!module;
		any = true;
	}
	if (!any || !follow_removal(session, &kind))
		return;
	/*
	 * If this fails for want of memory, ftrace drops a module's functions by itself when
	 * it forgets the module. A table that still names removed probes is harmless, as these
	 * are kept: they are not detached before their lane has followed a later removal.
	 */
	for (; kind < ARGTRACE_LANES; kind++)
		argtrace_lane_follow_removal(&session->lanes[kind]);
}

void argtrace_arm_remove_all(struct argtrace_session *session)
{
	remove_picked(session, always, NULL, 0);
}

void argtrace_arm_module_going(struct argtrace_session *session, const struct module *module,
			       bool only_init)
{
	/* Init functions are always freed once the module is live: that is not worth a report. */
	if (only_init)
		remove_picked(session, in_module_init, module, 0);
	else
		remove_picked(session, in_module, module, ARGTRACE_PROBE_GONE);
}
