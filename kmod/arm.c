// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "arm.h"
#include "source/attachment.h"
#include "session.h"

static int compare_addrs(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

static void free_plans(struct argtrace_plan **plans, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		argtrace_plan_free(plans[i]);
}

/* Callbacks see the new table from here on, and may still be using the one returned. */
static struct argtrace_table *swap_table(struct argtrace_session *session,
					 struct argtrace_table *table)
{
	return rcu_replace_pointer(session->table, table, lockdep_is_held(&session->lock));
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

/* Functions have been removed from the catalog: they are not to be traced any more. 0 or -ENOMEM. */
static int follow_removal(struct argtrace_session *session)
{
	struct argtrace_catalog *catalog = &session->catalog;
	struct argtrace_table *old, *table = argtrace_table_create(catalog->by_id, catalog->nr_ids, NULL, 0);
	int ret;

	if (IS_ERR(table))
		return PTR_ERR(table);
	if (!catalog->nr_live) {
		/* As in argtrace_arm_add(), the table first. To disarm the last ones takes no memory. */
		old = swap_table(session, table);
		argtrace_attachment_follow(session);
	} else {
		ret = argtrace_attachment_follow(session);
		if (ret) {
			argtrace_table_free(table);
			return ret;
		}
		old = swap_table(session, table);
	}
	retire_table(old, session->armed);
	catalog->generation++;
	return 0;
}

static bool is_live_at(const struct argtrace_catalog *catalog, unsigned long addr)
{
	const struct argtrace_plan *plan = argtrace_catalog_find(catalog, addr);

	return plan && !plan->removed;
}

/* As they mostly come; to sort all of them again takes as long as to read a quarter of them. */
static bool are_sorted(struct argtrace_plan **plans, u32 count)
{
	u32 i;

	for (i = 1; i < count; i++) {
		if (plans[i]->addr < plans[i - 1]->addr)
			return false;
	}
	return true;
}

/*
 * Sorts, and refuses what is there twice or already. Addresses as close as symbol and ftrace
 * address of a function may be are the same function.
 */
static int check_new(const struct argtrace_session *session, struct argtrace_plan **plans,
		     u32 count, unsigned long *failed_addr)
{
	const struct argtrace_catalog *catalog = &session->catalog;
	u32 i;

	if (!are_sorted(plans, count))
		sort(plans, count, sizeof(*plans), argtrace_plan_compare, NULL);
	for (i = 0; i < count; i++) {
		unsigned long addr = plans[i]->addr;

		*failed_addr = addr;
		if (i && addr - plans[i - 1]->addr <= ARGTRACE_FENTRY_SKEW)
			return -EEXIST;
		if (is_live_at(catalog, addr) ||
		    is_live_at(catalog, addr - ARGTRACE_FENTRY_SKEW) ||
		    is_live_at(catalog, addr + ARGTRACE_FENTRY_SKEW))
			return -EEXIST;
	}
	return 0;
}

/* A removed probe that is to be live again, and what it has counted until now. */
struct revival {
	struct argtrace_plan *plan;
	struct argtrace_counters counted;
};

/*
 * Where a removed probe with the same schema is still kept, it comes back to life
 * in place of the new plan: adding and removing in turns takes no memory. Keeps what
 * is really new at the front of `plans`, frees the others, and returns how many are new.
 */
static u32 revive_removed(struct argtrace_session *session, struct argtrace_plan **plans,
			  u32 count, struct revival *revived)
{
	u32 i, nr_new = 0;

	for (i = 0; i < count; i++) {
		struct argtrace_plan *there = argtrace_catalog_find(&session->catalog,
								    plans[i]->addr);

		if (there && argtrace_plan_same_schema(there, plans[i])) {
			argtrace_plan_free(plans[i]);
			revived->plan = there;
			revived->counted = argtrace_counters_sum(there->counters);
			argtrace_catalog_set_removed(&session->catalog, there, false);
			revived++;
		} else {
			plans[nr_new++] = plans[i];
		}
		cond_resched();
	}
	return nr_new;
}

int argtrace_arm_add(struct argtrace_session *session, struct argtrace_plan **plans, u32 count,
		     unsigned long *failed_addr)
{
	struct argtrace_catalog *catalog = &session->catalog;
	struct argtrace_catalog_room room = { };
	struct revival *revived = NULL;
	struct argtrace_table *table, *old;
	unsigned long *addrs = NULL;
	bool was_armed = session->armed;
	u32 i, nr_new = count, nr_revived = 0;
	int ret;

	lockdep_assert_held(&session->lock);
	ret = session->removed ? -ENOENT : check_new(session, plans, count, failed_addr);
	if (ret)
		goto out;
	ret = -ENOMEM;
	addrs = kvmalloc_array(count, sizeof(*addrs), GFP_KERNEL);
	revived = kvmalloc_array(count, sizeof(*revived), GFP_KERNEL);
	if (!addrs || !revived)
		goto out;
	for (i = 0; i < count; i++)
		addrs[i] = plans[i]->addr;
	ret = -EINVAL;
	*failed_addr = argtrace_attachment_find_bad(addrs, count, false);
	if (*failed_addr)
		goto out;
	ret = argtrace_catalog_reserve(catalog, count, &room);
	if (ret)
		goto out;

	nr_new = revive_removed(session, plans, count, revived);
	nr_revived = count - nr_new;
	argtrace_catalog_number(catalog, plans, nr_new);
	ret = argtrace_plans_alloc_counters(plans, nr_new);
	if (ret)
		goto out_revived;

	/*
	 * In a session that is armed the table comes first, so that no call is missed. In one that is not
	 * it comes behind: all begin at once, and what ftrace itself calls while it patches them, millions of
	 * calls if they are all there are, costs no more than to find nothing. The catalog last, as
	 * that cannot fail; who asks for the schema of a record waits for session->lock.
	 */
	table = argtrace_table_create(catalog->by_id, catalog->nr_ids, plans, nr_new);
	ret = PTR_ERR_OR_ZERO(table);
	if (ret)
		goto out_revived;
	old = was_armed ? swap_table(session, table) : NULL;
	ret = argtrace_attachment_add(session, addrs, count);
	if (ret) {
		if (ret == -EINVAL)
			*failed_addr = argtrace_attachment_find_bad(addrs, count, true);
		retire_table(old ? swap_table(session, old) : table, was_armed);
		goto out_revived;
	}
	if (!was_armed)
		old = swap_table(session, table);
	for (i = 0; i < nr_revived; i++)
		argtrace_plan_count_from(revived[i].plan, &revived[i].counted);
	argtrace_catalog_add(catalog, plans, nr_new, &room);
	catalog->generation++;
	retire_table(old, true);
	nr_new = 0;
	goto out;

out_revived:
	for (i = 0; i < nr_revived; i++)
		argtrace_catalog_set_removed(catalog, revived[i].plan, true);
out:
	argtrace_catalog_room_free(&room);
	free_plans(plans, nr_new);
	kvfree(addrs);
	kvfree(revived);
	return ret;
}

/* The live plans at the addresses, into `plans`. */
static int find_live(const struct argtrace_session *session, unsigned long *addrs, u32 count,
		     struct argtrace_plan **plans, unsigned long *failed_addr)
{
	u32 i;

	sort(addrs, count, sizeof(*addrs), compare_addrs, NULL);
	for (i = 0; i < count; i++) {
		plans[i] = argtrace_catalog_find(&session->catalog, addrs[i]);
		if (!plans[i] || plans[i]->removed || (i && addrs[i] == addrs[i - 1])) {
			*failed_addr = addrs[i];
			return -ENOENT;
		}
	}
	return 0;
}

int argtrace_arm_remove(struct argtrace_session *session, unsigned long *addrs, u32 count,
			unsigned long *failed_addr)
{
	struct argtrace_catalog *catalog = &session->catalog;
	struct argtrace_plan **plans;
	u32 i;
	int ret;

	lockdep_assert_held(&session->lock);
	if (!count)
		return 0;
	plans = kvmalloc_array(count, sizeof(*plans), GFP_KERNEL);
	if (!plans)
		return -ENOMEM;
	ret = find_live(session, addrs, count, plans, failed_addr);
	if (ret)
		goto out;

	for (i = 0; i < count; i++)
		argtrace_catalog_set_removed(catalog, plans[i], true);
	ret = follow_removal(session);
	if (ret) {
		for (i = 0; i < count; i++)
			argtrace_catalog_set_removed(catalog, plans[i], false);
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
	return within_module(plan->addr, module);
}

static bool in_module_init(const struct argtrace_plan *plan, const struct module *module)
{
	return within_module_init(plan->addr, module);
}

/* Removes the live probes that `picks` picks. Cannot fail. */
static void remove_picked(struct argtrace_session *session,
			  bool (*picks)(const struct argtrace_plan *, const struct module *),
			  const struct module *module)
{
	struct argtrace_catalog *catalog = &session->catalog;
	u32 i, live = catalog->nr_live;

	lockdep_assert_held(&session->lock);
	for (i = 0; i < catalog->nr_addrs; i++) {
		struct argtrace_plan *plan = catalog->by_addr[i];

		if (!plan->removed && picks(plan, module))
			argtrace_catalog_set_removed(catalog, plan, true);
	}
	if (catalog->nr_live == live)
		return;
	if (!follow_removal(session))
		return;
	/*
	 * Should there be no memory to keep the others armed without these, ftrace takes
	 * a module's functions out itself when it forgets the module. A table that
	 * still names removed probes does no harm: they are kept.
	 */
	argtrace_attachment_follow(session);
	catalog->generation++;
}

void argtrace_arm_remove_all(struct argtrace_session *session)
{
	remove_picked(session, always, NULL);
}

void argtrace_arm_module_going(struct argtrace_session *session, const struct module *module,
				bool only_init)
{
	remove_picked(session, only_init ? in_module_init : in_module, module);
}
