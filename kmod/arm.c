// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "arm.h"
#include "callback.h"
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

static struct argtrace_table *table_of_catalog(const struct argtrace_catalog *catalog)
{
	return argtrace_table_create(catalog->by_id, catalog->nr_ids, NULL, 0);
}

/* What ftrace says of one address, asked through the filter of an ops that is never registered. */
static bool ftrace_knows(struct ftrace_ops *scratch, unsigned long addr)
{
	return ftrace_set_filter_ip(scratch, addr, 0, 1) != -EINVAL;
}

static bool is_traceable(struct ftrace_ops *scratch, unsigned long addr)
{
	if (!ftrace_knows(scratch, addr))
		return false;
	/*
	 * ftrace_location() takes any byte of the call at a function's begin for it. One
	 * that is not the first has a neighbour before it that is taken as well. Symbols are
	 * aligned but for very few: do not ask twice for the others.
	 */
	return IS_ALIGNED(addr, 16) || !ftrace_knows(scratch, addr - 1);
}

/*
 * Which of the addresses no traceable function begins at; 0: none. With `all` each is
 * asked for, else only those that ftrace_set_filter_ips() would take by mistake.
 */
static unsigned long find_untraceable(const unsigned long *addrs, u32 count, bool all)
{
	struct ftrace_ops scratch = { };
	unsigned long bad = 0;
	u32 i;

	for (i = 0; i < count && !bad; i++) {
		if (!all && IS_ALIGNED(addrs[i], 16))
			continue;
		if (!is_traceable(&scratch, addrs[i]))
			bad = addrs[i];
		cond_resched();
	}
	ftrace_free_filter(&scratch);
	return bad;
}

void argtrace_arm_init(struct argtrace_session *session)
{
	/* PERMANENT: without it kernel.ftrace_enabled=0 would silently stop the calls. */
	session->ops = (struct ftrace_ops){
		.func = argtrace_callback,
		.flags = FTRACE_OPS_FL_PERMANENT,
	};
}

/* ftrace_free_filter() leaves the ops pointing at what it has freed: it must begin anew. */
static void reset_ops(struct argtrace_session *session)
{
	ftrace_free_filter(&session->ops);
	argtrace_arm_init(session);
}

/*
 * ftrace has shut itself down after a fault of its own: it may go on calling us for ever,
 * so neither the session nor the module may go.
 */
static void keep_for_ever(struct argtrace_session *session)
{
	session->undead = true;
	__module_get(THIS_MODULE);
}

/* An empty filter means every function there is: never register with one. */
static int arm(struct argtrace_session *session, unsigned long *addrs, u32 count)
{
	int ret;

	ret = ftrace_set_filter_ips(&session->ops, addrs, count, 0, !session->armed);
	if (session->armed)
		return ret;
	if (!ret)
		ret = register_ftrace_function(&session->ops);
	session->armed = !ret || ret == -ENODEV;
	if (ret == -ENODEV)
		keep_for_ever(session);
	else if (ret)
		reset_ops(session);
	return ret;
}

static void disarm_all(struct argtrace_session *session)
{
	if (!session->armed)
		return;
	if (session->undead)
		return;
	if (WARN_ON_ONCE(unregister_ftrace_function(&session->ops))) {
		keep_for_ever(session);
		return;
	}
	reset_ops(session);
	session->armed = false;
}

static void set_removed(struct argtrace_session *session, struct argtrace_plan **plans, u32 count,
			bool removed)
{
	u32 i;

	for (i = 0; i < count; i++) {
		WRITE_ONCE(plans[i]->removed, removed);
		plans[i]->schema->flags = removed ? ARGTRACE_PROBE_REMOVED : 0;
	}
	if (removed)
		session->catalog.nr_live -= count;
	else
		session->catalog.nr_live += count;
}

static u32 live_addrs(const struct argtrace_catalog *catalog, unsigned long *addrs)
{
	u32 i, count = 0;

	for (i = 0; i < catalog->nr_addrs; i++) {
		if (!catalog->by_addr[i]->removed)
			addrs[count++] = catalog->by_addr[i]->addr;
	}
	return count;
}

/*
 * Makes the filter what the catalog says is live. A function that has gone with its module
 * without our notice (see module_event()) is found here, and removed as well.
 */
static int disarm_removed(struct argtrace_session *session)
{
	struct argtrace_catalog *catalog = &session->catalog;
	unsigned long *addrs, gone;
	int ret = 0;

	addrs = kvmalloc_array(catalog->nr_live, sizeof(*addrs), GFP_KERNEL);
	if (!addrs)
		return -ENOMEM;
	/* Unregister before the filter gets empty: an empty one would trace everything. */
	while (catalog->nr_live) {
		u32 count = live_addrs(catalog, addrs);
		struct argtrace_plan *plan;

		ret = ftrace_set_filter_ips(&session->ops, addrs, count, 0, 1);
		gone = ret == -EINVAL ? find_untraceable(addrs, count, true) : 0;
		if (!gone)
			break;
		plan = argtrace_catalog_find(catalog, gone);
		set_removed(session, &plan, 1, true);
	}
	if (!catalog->nr_live) {
		disarm_all(session);
		ret = 0;
	}
	kvfree(addrs);
	return ret;
}

static bool is_live_at(const struct argtrace_catalog *catalog, unsigned long addr)
{
	const struct argtrace_plan *plan = argtrace_catalog_find(catalog, addr);

	return plan && !plan->removed;
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
	struct argtrace_outcomes counted;
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
			revived->counted = argtrace_plan_outcomes(there);
			set_removed(session, &there, 1, false);
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
	*failed_addr = find_untraceable(addrs, count, false);
	if (*failed_addr)
		goto out;
	ret = argtrace_catalog_reserve(catalog, count, &room);
	if (ret)
		goto out;

	nr_new = revive_removed(session, plans, count, revived);
	nr_revived = count - nr_new;
	argtrace_catalog_number(catalog, plans, nr_new);

	/*
	 * The table first: a function that is armed must be found. The catalog last, as that
	 * cannot fail; who asks for the schema of a record waits for session->lock.
	 */
	table = argtrace_table_create(catalog->by_id, catalog->nr_ids, plans, nr_new);
	ret = PTR_ERR_OR_ZERO(table);
	if (ret)
		goto out_revived;
	old = swap_table(session, table);
	ret = arm(session, addrs, count);
	if (ret) {
		if (ret == -EINVAL)
			*failed_addr = find_untraceable(addrs, count, true);
		retire_table(swap_table(session, old), was_armed || session->armed);
		goto out_revived;
	}
	for (i = 0; i < nr_revived; i++)
		argtrace_plan_count_from(revived[i].plan, &revived[i].counted);
	argtrace_catalog_add(catalog, plans, nr_new, &room);
	catalog->generation++;
	retire_table(old, was_armed);
	nr_new = 0;
	goto out;

out_revived:
	for (i = 0; i < nr_revived; i++)
		set_removed(session, &revived[i].plan, 1, true);
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
	struct argtrace_plan **plans;
	struct argtrace_table *table;
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

	set_removed(session, plans, count, true);
	table = table_of_catalog(&session->catalog);
	ret = PTR_ERR_OR_ZERO(table);
	if (!ret) {
		ret = disarm_removed(session);
		if (ret)
			argtrace_table_free(table);
	}
	if (ret) {
		set_removed(session, plans, count, false);
		goto out;
	}
	retire_table(swap_table(session, table), session->armed);
	session->catalog.generation++;
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
	struct argtrace_table *table;
	u32 i, live = catalog->nr_live;

	lockdep_assert_held(&session->lock);
	for (i = 0; i < catalog->nr_addrs; i++) {
		struct argtrace_plan *plan = catalog->by_addr[i];

		if (!plan->removed && picks(plan, module))
			set_removed(session, &plan, 1, true);
	}
	if (catalog->nr_live == live)
		return;
	/*
	 * Should there be no memory to keep the others armed without these, ftrace takes
	 * a module's functions out itself when it forgets the module. A table that
	 * still names removed probes does no harm: they are kept.
	 */
	disarm_removed(session);
	catalog->generation++;
	table = table_of_catalog(catalog);
	if (!IS_ERR(table))
		retire_table(swap_table(session, table), session->armed);
}

void argtrace_arm_remove_all(struct argtrace_session *session)
{
	remove_picked(session, always, NULL);
}

void argtrace_arm_forget_module(struct argtrace_session *session, const struct module *module,
				bool only_init)
{
	remove_picked(session, only_init ? in_module_init : in_module, module);
}
