// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "arm/arm.h"
#include "arm/lanes.h"
#include "base/hook.h"
#include "base/memory.h"
#include "session.h"
#include "source/returns/returns.h"
#include "source/source.h"

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

/*
 * The catalog has changed: a list that is being read in parts starts over, and poll() reports it.
 */
static void catalog_changed(struct argtrace_session *session)
{
	session->catalog.generation++;
	argtrace_notice_change(&session->notice);
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

/*
 * The lane does not call its removed probes any more. Only now may those whose calls are followed
 * become idle.
 */
static void lane_detached(struct argtrace_lane *lane)
{
	const struct argtrace_catalog *catalog = &lane->session->catalog;
	u32 id;

	if (!argtrace_lane_follows(lane->kind))
		return;
	for (id = 1; id < catalog->nr_ids; id++) {
		struct argtrace_plan *plan = catalog->by_id[id];

		if (plan->removed && plan->lane == lane->kind)
			argtrace_return_detached(plan);
	}
}

/*
 * Stops tracing the probes of the lane that have been removed from the catalog, without memory that
 * the limit or a memory cgroup could refuse. If there is no room for a smaller table, the old one
 * stays: it still names the removed probes, but these are kept, and no longer called.
 */
static int lane_follow_removal(struct argtrace_lane *lane)
{
	const struct argtrace_catalog *catalog = &lane->session->catalog;
	struct argtrace_table *table, *old = NULL;
	const bool any_left = catalog->nr_live[lane->kind];
	int ret;

	ARGTRACE_HOOK(LANE_REMOVAL);
	table = argtrace_table_create(lane->kind, catalog->by_id, catalog->nr_ids, NULL, 0);
	if (IS_ERR(table))
		table = NULL;
	/* A lane is disarmed table first, for the reason given at lane_begin(). */
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
	retire_table(old, lane->armed || argtrace_lane_follows(lane->kind));
	lane_detached(lane);
	return 0;
}

/*
 * The same for all lanes. 0 or -ENOMEM, with which the lanes before the one that failed have
 * followed: of their plans nothing can be revived.
 */
static int follow_removal(struct argtrace_session *session, enum argtrace_lane_kind *failed)
{
	int ret = 0;

	for (*failed = 0; *failed < ARGTRACE_LANES; ++*failed) {
		ret = lane_follow_removal(&session->lanes[*failed]);
		if (ret)
			break;
	}
	catalog_changed(session);
	return ret;
}

static bool is_live_at(const struct argtrace_catalog *catalog, u16 kind, unsigned long addr)
{
	const struct argtrace_plan *plan = argtrace_catalog_find(catalog, kind, addr);

	return plan && !plan->removed;
}

/* They usually are; sorting them again would take as long as reading a quarter of them. */
static bool are_sorted(struct argtrace_plan **plans, u32 count)
{
	u32 i;

	for (i = 1; i < count; i++) {
		if (argtrace_plan_compare(&plans[i], &plans[i - 1]) < 0)
			return false;
	}
	return true;
}

/*
 * Sorts the plans, and refuses functions that are listed twice or traced already. Two addresses no
 * further apart than a function's symbol and its ftrace address can be belong to the same function.
 */
static int check_new(const struct argtrace_session *session, struct argtrace_plan **plans,
		     u32 count, unsigned long *failed_addr)
{
	const struct argtrace_catalog *catalog = &session->catalog;
	u32 i;

	if (!are_sorted(plans, count))
		sort(plans, count, sizeof(*plans), argtrace_plan_compare, NULL);
	for (i = 0; i < count; i++) {
		const unsigned long addr = plans[i]->addr;
		const u16 kind = plans[i]->kind;
		const unsigned long skew = argtrace_kind_source(kind)->skew;

		*failed_addr = addr;
		if (i && plans[i - 1]->kind == kind && addr - plans[i - 1]->addr <= skew)
			return -EEXIST;
		if (is_live_at(catalog, kind, addr) || is_live_at(catalog, kind, addr - skew) ||
		    is_live_at(catalog, kind, addr + skew))
			return -EEXIST;
	}
	return 0;
}

/* A removed probe that is about to be revived, and what it has counted so far. */
struct revival {
	struct argtrace_plan *plan;
	struct argtrace_counted counted;
	u32 gone;			/* ARGTRACE_PROBE_GONE, if that was set */
};

/* A removed probe is live again. */
static void revive(struct argtrace_session *session, struct argtrace_plan *plan)
{
	argtrace_catalog_set_removed(&session->catalog, plan, false);
	if (plan->rules)
		plan->rules->start(plan, session);
}

/*
 * Whether a removed probe can replace a new one: not while calls of its earlier life are in flight.
 */
static bool can_revive(struct argtrace_plan *plan, const struct argtrace_plan *like)
{
	return argtrace_plan_same_schema(plan, like) &&
	       !(plan->returns && argtrace_return_is_leaving(plan));
}

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
								    plans[i]->kind,
								    plans[i]->addr);

		/* One that another of the new plans succeeds will be freed. */
		if (there && can_revive(there, plans[i]) &&
		    (!there->successor || there->successor == plans[i])) {
			argtrace_plan_free(plans[i]);
			revived->plan = there;
			revived->counted = argtrace_plan_counted(there);
			revived->gone = there->schema->flags & ARGTRACE_PROBE_GONE;
			revive(session, there);
			revived++;
		} else {
			plans[nr_new++] = plans[i];
		}
		cond_resched();
	}
	return nr_new;
}

static bool may_be_in_module(const struct argtrace_plan *plan)
{
	return !argtrace_kind_source(plan->kind)->addr_is_number;
}

/*
 * Before anything is armed, as the sessions that have probes in modules are found without taking
 * their locks.
 */
static void note_modules(struct argtrace_session *session, struct argtrace_plan *const *plans,
			 u32 count)
{
	u32 i;

	for (i = 0; i < count && !session->in_modules; i++) {
		if (may_be_in_module(plans[i]) && argtrace_is_in_modules(plans[i]->addr))
			WRITE_ONCE(session->in_modules, true);
	}
}

/* An addition to a lane: lane_begin(), then lane_finish() or lane_undo(). */
struct lane_addition {
	struct argtrace_lane *lane;
	unsigned long *addrs;
	u32 count;			/* 0: nothing is added to this lane */
	struct argtrace_table *old;	/* what is to be freed, or put back */
};

/*
 * Has the lane called for these addresses as well, whose plans are live in the catalog or new. On
 * error, the lane is unchanged.
 *
 * If the lane is armed, the table comes first, so that no call is missed. Otherwise it comes last:
 * all probes start at once, and the calls that ftrace itself makes while it patches the functions
 * (millions, if all functions are added) cost no more than a failing lookup.
 */
static int lane_begin(struct lane_addition *addition, struct argtrace_plan **plans, u32 nr_new,
		      unsigned long *failed_addr)
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

static void lane_finish(struct lane_addition *addition)
{
	retire_table(addition->old, true);
}

/*
 * The catalog is as it was before lane_begin(). If there is no memory to detach the new functions,
 * they are still called for, and not found in the table.
 */
static void lane_undo(struct lane_addition *addition)
{
	struct argtrace_lane *lane = addition->lane;
	struct argtrace_table *table = swap_table(lane, addition->old);

	lane->source->follow(lane);
	retire_table(table, true);
	lane_detached(lane);
}

/* The addresses for each lane, which take `addrs` all together. */
static void divide_among_lanes(struct argtrace_session *session, struct argtrace_plan *const *plans,
			       u32 count, unsigned long *addrs, struct lane_addition *additions)
{
	enum argtrace_lane_kind kind;
	u32 i;

	for (kind = 0; kind < ARGTRACE_LANES; kind++) {
		struct lane_addition *addition = &additions[kind];

		*addition = (struct lane_addition){ .lane = &session->lanes[kind], .addrs = addrs };
		for (i = 0; i < count; i++) {
			if (plans[i]->lane == kind)
				addition->addrs[addition->count++] = plans[i]->addr;
		}
		addrs += addition->count;
	}
}

/* Checks that the lanes' sources can attach to all of the addresses; 0 or -EINVAL. */
static int check_places(const struct lane_addition *additions, unsigned long *failed_addr)
{
	enum argtrace_lane_kind kind;

	for (kind = 0; kind < ARGTRACE_LANES; kind++) {
		const struct lane_addition *addition = &additions[kind];

		*failed_addr = addition->lane->source->find_bad(addition->addrs, addition->count,
								false);
		if (*failed_addr)
			return -EINVAL;
	}
	return 0;
}

/* Begins in all lanes. On error, the lanes that have begun remain to be undone. */
static int lanes_begin(struct lane_addition *additions, struct argtrace_plan **plans, u32 nr_new,
		       enum argtrace_lane_kind *begun, unsigned long *failed_addr)
{
	int ret = 0;

	for (*begun = 0; *begun < ARGTRACE_LANES; ++*begun) {
		if (additions[*begun].count)
			ret = lane_begin(&additions[*begun], plans, nr_new, failed_addr);
		if (ret)
			break;
	}
	return ret;
}

/* 0, or -EOPNOTSUPP if the return of one of the functions cannot be followed. */
static int check_lane_returns(const struct lane_addition *addition, unsigned long *failed_addr)
{
	u32 i;

	for (i = 0; i < addition->count; i++) {
		if (argtrace_return_refusal(addition->addrs[i])) {
			*failed_addr = addition->addrs[i];
			return -EOPNOTSUPP;
		}
		cond_resched();
	}
	return 0;
}

/*
 * The same for all lanes; *any says whether there is a function whose return we follow ourselves.
 */
static int check_returns(const struct lane_addition *additions, bool *any,
			 unsigned long *failed_addr)
{
	enum argtrace_lane_kind kind;
	int ret = 0;

	*any = false;
	for (kind = 0; kind < ARGTRACE_LANES && !ret; kind++) {
		if (!additions[kind].count ||
		    !(argtrace_lane_follows(kind) || kind == ARGTRACE_LANE_FALLBACK))
			continue;
		*any |= argtrace_lane_follows(kind);
		ret = check_lane_returns(&additions[kind], failed_addr);
	}
	return ret;
}

static void start_plans(struct argtrace_session *session, struct argtrace_plan **plans, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (plans[i]->rules)
			plans[i]->rules->start(plans[i], session);
	}
}

int argtrace_arm_add(struct argtrace_session *session, struct argtrace_plan **plans, u32 count,
		     unsigned long *failed_addr)
{
	struct argtrace_catalog *catalog = &session->catalog;
	struct lane_addition additions[ARGTRACE_LANES];
	struct argtrace_catalog_room room = { };
	enum argtrace_lane_kind begun = 0, kind;
	struct revival *revived = NULL;
	unsigned long *addrs = NULL;
	u32 i, nr_new = count, nr_revived = 0;
	bool wants_returns, has_returns = false;
	int ret;

	lockdep_assert_held(&session->lock);
	ret = session->removed ? -ENOENT : check_new(session, plans, count, failed_addr);
	if (ret)
		goto out;
	ret = -ENOMEM;
	addrs = argtrace_kvmalloc_array(count, sizeof(*addrs));
	revived = argtrace_kvmalloc_array(count, sizeof(*revived));
	if (!addrs || !revived)
		goto out;
	for (i = 0; i < count; i++)
		plans[i]->lane = argtrace_lane_of(plans[i]);
	divide_among_lanes(session, plans, count, addrs, additions);
	ret = check_places(additions, failed_addr);
	if (ret)
		goto out;
	ret = argtrace_catalog_reserve(catalog, count, &room);
	if (ret)
		goto out;
	ret = check_returns(additions, &wants_returns, failed_addr);
	if (!ret && wants_returns)
		ret = argtrace_returns_get();
	if (ret)
		goto out;
	has_returns = wants_returns;

	note_modules(session, plans, count);
	nr_new = revive_removed(session, plans, count, revived);
	nr_revived = count - nr_new;
	argtrace_catalog_number(catalog, plans, nr_new);
	ret = argtrace_plans_alloc_counters(plans, nr_new);
	if (!ret) {
		start_plans(session, plans, nr_new);
		ret = lanes_begin(additions, plans, nr_new, &begun, failed_addr);
	}
	if (ret)
		goto out_revived;
	/*
	 * The catalog last, as that cannot fail; whoever asks for the schema of a record waits for
	 * session->lock.
	 */
	for (kind = 0; kind < ARGTRACE_LANES; kind++) {
		if (additions[kind].count)
			lane_finish(&additions[kind]);
	}
	for (i = 0; i < nr_revived; i++) {
		if (!revived[i].plan->unloaded)
			argtrace_plan_count_from(revived[i].plan, &revived[i].counted);
		revived[i].plan->unloaded = false;
	}
	argtrace_catalog_add(catalog, plans, nr_new, &room);
	catalog_changed(session);
	nr_new = 0;
	goto out;

out_revived:
	for (i = 0; i < nr_revived; i++) {
		argtrace_catalog_set_removed(catalog, revived[i].plan, true);
		revived[i].plan->schema->flags |= revived[i].gone;
	}
	for (kind = 0; kind < begun; kind++) {
		if (additions[kind].count)
			lane_undo(&additions[kind]);
	}
	/* In the others the revived probes have not come into the table, or have left it again. */
	for (; kind < ARGTRACE_LANES && nr_revived; kind++)
		lane_detached(&session->lanes[kind]);
out:
	argtrace_catalog_room_free(&room);
	free_plans(plans, nr_new);
	if (has_returns)
		argtrace_returns_put();
	kvfree(addrs);
	kvfree(revived);
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
			revive(session, plans[i]);
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
	return may_be_in_module(plan) && within_module(plan->addr, module);
}

static bool in_module_init(const struct argtrace_plan *plan, const struct module *module)
{
	return may_be_in_module(plan) && within_module_init(plan->addr, module);
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
		lane_follow_removal(&session->lanes[kind]);
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
