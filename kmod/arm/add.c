// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mm.h>
#include <linux/sort.h>

#include "arm/arm.h"
#include "arm/change.h"
#include "arm/lanes.h"
#include "base/memory.h"
#include "session.h"
#include "source/returns/returns.h"
#include "source/source.h"

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
			argtrace_plan_revive(session, there);
			revived++;
		} else {
			plans[nr_new++] = plans[i];
		}
		cond_resched();
	}
	return nr_new;
}

/*
 * Before anything is armed: a module that goes or comes looks for sessions with in_modules, without
 * session->lock (arm/sessions.c). What attaching takes orders this store before what the module's
 * notifiers read:
 *
 *   tracepoint  attaching takes a reference to the module, which pairs with what a module does
 *               before GOING: it waits until nobody has a reference, or, where its init function
 *               has failed, for an RCU grace period since the last one could be taken. So GOING
 *               finds the session, and waits for session->lock until the tracepoint is attached.
 *   function    attaching takes ftrace_lock, and so does ftrace when it forgets the functions of
 *               the module, after GOING. GOING may have missed the session, as it misses a function
 *               that is added just after it. But a module that is loaded to the same addresses
 *               comes after ftrace_lock, and finds the session: argtrace_sessions_module_coming().
 */
static void note_modules(struct argtrace_session *session, struct argtrace_plan *const *plans,
			 u32 count)
{
	u32 i;

	for (i = 0; i < count && !session->in_modules; i++) {
		if (argtrace_plan_may_be_in_module(plans[i]) &&
		    argtrace_is_in_modules(plans[i]->addr))
			WRITE_ONCE(session->in_modules, true);
	}
}

/* The addresses for each lane, which take `addrs` all together. */
static void divide_among_lanes(struct argtrace_session *session, struct argtrace_plan *const *plans,
			       u32 count, unsigned long *addrs,
			       struct argtrace_lane_addition *additions)
{
	enum argtrace_lane_kind kind;
	u32 i;

	for (kind = 0; kind < ARGTRACE_LANES; kind++) {
		struct argtrace_lane_addition *addition = &additions[kind];

		*addition = (struct argtrace_lane_addition){ .lane = &session->lanes[kind],
							     .addrs = addrs };
		for (i = 0; i < count; i++) {
			if (plans[i]->lane == kind)
				addition->addrs[addition->count++] = plans[i]->addr;
		}
		addrs += addition->count;
	}
}

/* Checks that the lanes' sources can attach to all of the addresses; 0 or -EINVAL. */
static int check_places(const struct argtrace_lane_addition *additions, unsigned long *failed_addr)
{
	enum argtrace_lane_kind kind;

	for (kind = 0; kind < ARGTRACE_LANES; kind++) {
		const struct argtrace_lane_addition *addition = &additions[kind];

		*failed_addr = addition->lane->source->find_bad(addition->addrs, addition->count,
								false);
		if (*failed_addr)
			return -EINVAL;
	}
	return 0;
}

/* Begins in all lanes. On error, the lanes that have begun remain to be undone. */
static int lanes_begin(struct argtrace_lane_addition *additions, struct argtrace_plan **plans,
		       u32 nr_new, enum argtrace_lane_kind *begun, unsigned long *failed_addr)
{
	int ret = 0;

	for (*begun = 0; *begun < ARGTRACE_LANES; ++*begun) {
		if (additions[*begun].count)
			ret = argtrace_lane_begin(&additions[*begun], plans, nr_new, failed_addr);
		if (ret)
			break;
	}
	return ret;
}

/* 0, or -EOPNOTSUPP if the return of one of the functions cannot be followed. */
static int check_lane_returns(const struct argtrace_lane_addition *addition,
			      unsigned long *failed_addr)
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
static int check_returns(const struct argtrace_lane_addition *additions, bool *any,
			 unsigned long *failed_addr)
{
	enum argtrace_lane_kind kind;
	int ret = 0;

	*any = false;
	for (kind = 0; kind < ARGTRACE_LANES && !ret; kind++) {
		if (!additions[kind].count ||
		    !(argtrace_lane_diverts(kind) || kind == ARGTRACE_LANE_FALLBACK))
			continue;
		*any |= argtrace_lane_diverts(kind);
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

static void free_plans(struct argtrace_plan **plans, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		argtrace_plan_free(plans[i]);
}

/*
 * An addition of probes. Its parts are called in this order, under session->lock:
 *
 *   prepare  checks, divides the probes among the lanes, and takes the memory that begin and commit
 *            need. The session has not changed.
 *   begin    marks the session for modules, brings removed probes back to life, starts the plans,
 *            and attaches the lanes one after the other. Lanes that are armed call the new probes
 *            from then on.
 *   commit   cannot fail: frees the tables that callbacks used before, and puts the plans into the
 *            catalog.
 *   undo     in place of commit: first the revived probes are removed from the catalog again, as
 *            the lanes follow that; then the lanes that have begun get their old tables back, in
 *            the order of begin. free_plans() stops the new plans.
 *   end      frees what is left, with the new plans unless they are in the catalog.
 *
 * Locks that are taken below session->lock, and not held from one part to the next: that of
 * source/returns/life.c, and within the sources those of ftrace, of tracepoints, of kprobes and of
 * CPU hotplug. From prepare to end, argtrace_returns_get() keeps calls followed.
 */
struct addition {
	struct argtrace_session *session;
	struct argtrace_plan **plans;	/* after begin, those that are new first */
	u32 count;
	u32 nr_new;			/* plans that are neither revived nor in the catalog */
	u32 nr_revived;
	struct revival *revived;
	unsigned long *addrs;		/* of all lanes */
	struct argtrace_lane_addition lanes[ARGTRACE_LANES];
	enum argtrace_lane_kind begun;	/* the lanes before it have begun */
	struct argtrace_catalog_room room;
	bool has_returns;		/* argtrace_returns_get() */
	unsigned long *failed_addr;
};

static int addition_prepare(struct addition *addition)
{
	struct argtrace_session *session = addition->session;
	bool wants_returns;
	u32 i;
	int ret;

	if (session->removed)
		return -ENOENT;
	ret = check_new(session, addition->plans, addition->count, addition->failed_addr);
	if (ret)
		return ret;
	addition->addrs = argtrace_kvmalloc_array(addition->count, sizeof(*addition->addrs));
	addition->revived = argtrace_kvmalloc_array(addition->count, sizeof(*addition->revived));
	if (!addition->addrs || !addition->revived)
		return -ENOMEM;
	for (i = 0; i < addition->count; i++)
		addition->plans[i]->lane = argtrace_lane_of(addition->plans[i]);
	divide_among_lanes(session, addition->plans, addition->count, addition->addrs,
			   addition->lanes);
	ret = check_places(addition->lanes, addition->failed_addr);
	if (ret)
		return ret;
	ret = argtrace_catalog_reserve(&session->catalog, addition->count, &addition->room);
	if (ret)
		return ret;
	ret = check_returns(addition->lanes, &wants_returns, addition->failed_addr);
	if (!ret && wants_returns)
		ret = argtrace_returns_get();
	addition->has_returns = !ret && wants_returns;
	return ret;
}

/* On error, all that has begun remains to be undone. */
static int addition_begin(struct addition *addition)
{
	struct argtrace_session *session = addition->session;
	int ret;

	note_modules(session, addition->plans, addition->count);
	addition->nr_new = revive_removed(session, addition->plans, addition->count,
					  addition->revived);
	addition->nr_revived = addition->count - addition->nr_new;
	argtrace_catalog_number(&session->catalog, addition->plans, addition->nr_new);
	ret = argtrace_plans_alloc_counters(addition->plans, addition->nr_new);
	if (ret)
		return ret;
	start_plans(session, addition->plans, addition->nr_new);
	return lanes_begin(addition->lanes, addition->plans, addition->nr_new, &addition->begun,
			   addition->failed_addr);
}

static void addition_commit(struct addition *addition)
{
	struct argtrace_session *session = addition->session;
	enum argtrace_lane_kind kind;
	u32 i;

	/*
	 * The catalog last, as that cannot fail; whoever asks for the schema of a record waits for
	 * session->lock.
	 */
	for (kind = 0; kind < ARGTRACE_LANES; kind++) {
		if (addition->lanes[kind].count)
			argtrace_lane_commit(&addition->lanes[kind]);
	}
	for (i = 0; i < addition->nr_revived; i++) {
		const struct revival *revived = &addition->revived[i];

		if (!revived->plan->unloaded)
			argtrace_plan_count_from(revived->plan, &revived->counted);
		revived->plan->unloaded = false;
	}
	argtrace_catalog_add(&session->catalog, addition->plans, addition->nr_new, &addition->room);
	argtrace_catalog_changed(session);
	addition->nr_new = 0;
}

static void addition_undo(struct addition *addition)
{
	struct argtrace_session *session = addition->session;
	enum argtrace_lane_kind kind;
	u32 i;

	for (i = 0; i < addition->nr_revived; i++) {
		const struct revival *revived = &addition->revived[i];

		argtrace_catalog_set_removed(&session->catalog, revived->plan, true);
		revived->plan->schema->flags |= revived->gone;
	}
	for (kind = 0; kind < addition->begun; kind++) {
		if (addition->lanes[kind].count)
			argtrace_lane_undo(&addition->lanes[kind]);
	}
	/* In the others the revived probes have not come into the table, or have left it again. */
	for (; kind < ARGTRACE_LANES && addition->nr_revived; kind++)
		argtrace_lane_detached(&session->lanes[kind]);
}

static void addition_end(struct addition *addition)
{
	argtrace_catalog_room_free(&addition->room);
	free_plans(addition->plans, addition->nr_new);
	if (addition->has_returns)
		argtrace_returns_put();
	kvfree(addition->addrs);
	kvfree(addition->revived);
}

int argtrace_arm_add(struct argtrace_session *session, struct argtrace_plan **plans, u32 count,
		     unsigned long *failed_addr)
{
	struct addition addition = {
		.session = session,
		.plans = plans,
		.count = count,
		.nr_new = count,
		.failed_addr = failed_addr,
	};
	int ret;

	lockdep_assert_held(&session->lock);
	ret = addition_prepare(&addition);
	if (!ret) {
		ret = addition_begin(&addition);
		if (!ret)
			addition_commit(&addition);
		else
			addition_undo(&addition);
	}
	addition_end(&addition);
	return ret;
}
