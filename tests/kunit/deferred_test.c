// SPDX-License-Identifier: GPL-2.0-only
/* Probes for modules that are yet to be loaded: how many may wait, and what becomes of them when the module comes. */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "arm/arm.h"
#include "fixtures.h"
#include "base/memory.h"
#include "arm/deferred.h"
#include "targets.h"

/* Defers probes of the functions in that module; returns what the module says. */
static int defer_with(struct kunit *test, struct argtrace_session *session, const char *module,
		      const char *const *functions, u32 count, u32 flags, u32 *failed)
{
	struct argtrace_plan **templates = kvcalloc(count, sizeof(*templates), GFP_KERNEL);
	u32 i;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, templates);
	for (i = 0; i < count; i++)
		templates[i] = make_template(test, functions[i], flags);
	mutex_lock(&session->lock);
	ret = argtrace_deferred_add(session, module, "", templates, count, failed);
	mutex_unlock(&session->lock);
	if (!ret)
		return 0;
	for (i = 0; i < count; i++)
		argtrace_plan_free(templates[i]);
	kvfree(templates);
	return ret;
}

static int defer(struct kunit *test, struct argtrace_session *session, const char *module,
		 const char *const *functions, u32 count)
{
	u32 failed;

	return defer_with(test, session, module, functions, count, 0, &failed);
}

static bool undefer(struct argtrace_session *session, const char *module)
{
	bool any;

	mutex_lock(&session->lock);
	any = argtrace_deferred_remove(session, module);
	mutex_unlock(&session->lock);
	return any;
}

/* As if this module had just been loaded. */
static void this_module_comes(struct argtrace_session *session)
{
	mutex_lock(&session->lock);
	argtrace_deferred_arm(session, THIS_MODULE);
	mutex_unlock(&session->lock);
}

/* Fills in the first `count` entries of the list. */
static void list(struct kunit *test, struct argtrace_session *session,
		 struct argtrace_on_load_order *to, u32 count)
{
	u32 next;

	mutex_lock(&session->lock);
	KUNIT_EXPECT_EQ(test, argtrace_deferred_list(session, 0, to, count, &next), count);
	mutex_unlock(&session->lock);
}

static void probes_that_may_wait(struct kunit *test)
{
	static const char *const functions[] = { "one", "two", "three" };
	struct argtrace_session *session = make_session(test, "", 0);
	u32 round;

	/* Deferred probes that are removed make room for others. */
	for (round = 0; round < 3; round++) {
		KUNIT_EXPECT_EQ(test, defer(test, session, "absent", functions, 3), 0);
		KUNIT_EXPECT_EQ(test, session->deferred.nr_probes, 3);
		KUNIT_EXPECT_TRUE(test, undefer(session, "absent"));
		KUNIT_EXPECT_FALSE(test, undefer(session, "absent"));
		KUNIT_EXPECT_EQ(test, session->deferred.nr_probes, 0);
	}
	session->deferred.nr_probes = ARGTRACE_MAX_PROBES - 2;
	KUNIT_EXPECT_EQ(test, defer(test, session, "absent", functions, 3), -E2BIG);
	KUNIT_EXPECT_EQ(test, defer(test, session, "absent", functions, 2), 0);
	KUNIT_EXPECT_EQ(test, defer(test, session, "other", functions, 1), -E2BIG);
	KUNIT_EXPECT_TRUE(test, undefer(session, NULL));
	KUNIT_EXPECT_EQ(test, session->deferred.nr_probes, ARGTRACE_MAX_PROBES - 2);
	session->deferred.nr_probes = 0;
}

static void modules_that_may_be_waited_for(struct kunit *test)
{
	static const char *const function = "one";
	struct argtrace_session *session = make_session(test, "", 0);
	char name[ARGTRACE_MODULE_LEN];
	u32 i;

	for (i = 0; i < ARGTRACE_MAX_DEFERRED; i++) {
		snprintf(name, sizeof(name), "module%u", i);
		KUNIT_ASSERT_EQ(test, defer(test, session, name, &function, 1), 0);
	}
	KUNIT_EXPECT_EQ(test, defer(test, session, "another", &function, 1), -E2BIG);
	KUNIT_EXPECT_TRUE(test, undefer(session, "module0"));
	KUNIT_EXPECT_EQ(test, defer(test, session, "another", &function, 1), 0);
}

static void a_function_of_two_names(struct kunit *test)
{
	static const char *const functions[] = { "target_three", "target_alias" };
	struct argtrace_session *session = make_session(test, "", 0);
	struct argtrace_on_load_order listed[2];
	u32 i;

	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, defer(test, session, KBUILD_MODNAME, &functions[i], 1), 0);
	this_module_comes(session);
	list(test, session, listed, 2);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ_MSG(test, listed[i].error, 0, "%s", functions[i]);
		KUNIT_EXPECT_EQ_MSG(test, listed[i].armed, 1, "%s", functions[i]);
	}
	KUNIT_EXPECT_EQ(test, session->catalog.nr_live[ARGTRACE_LANE_PLAIN], 1);
}

/* The counts are those of the last load, not of all loads together. */
static void what_could_not_be_armed(struct kunit *test)
{
	static const char *const functions[] = { "no_such_function", "target_untraceable", "target_six" };
	struct argtrace_session *session = make_session(test, "", 0);
	struct argtrace_on_load_order listed;
	u32 loads;

	KUNIT_ASSERT_EQ(test, defer(test, session, KBUILD_MODNAME, functions, 3), 0);
	for (loads = 1; loads <= 3; loads++) {
		this_module_comes(session);
		list(test, session, &listed, 1);
		KUNIT_EXPECT_EQ(test, listed.error, 0);
		KUNIT_EXPECT_EQ(test, listed.loads, loads);
		KUNIT_EXPECT_EQ(test, listed.absent, 1);
		KUNIT_EXPECT_EQ(test, listed.refused, 1);
		KUNIT_EXPECT_EQ(test, listed.armed, 1);
		KUNIT_EXPECT_EQ(test, session->catalog.nr_live[ARGTRACE_LANE_PLAIN], 1);
	}
}

static void returns_that_cannot_be_followed(struct kunit *test)
{
	static const char *const functions[] = { "target_none", "lbug_with_loc", "target_three" };
	const u32 flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0);
	struct argtrace_session *session = make_session(test, "", 0);
	struct argtrace_on_load_order listed;
	u32 failed;

	KUNIT_EXPECT_EQ(test, defer_with(test, session, KBUILD_MODNAME, functions, 3, flags, &failed), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, failed, 1);
	KUNIT_EXPECT_EQ(test, session->deferred.nr_probes, 0);
	KUNIT_EXPECT_EQ(test, defer_with(test, session, "absent", functions, 3, 0, &failed), 0);
	KUNIT_EXPECT_TRUE(test, undefer(session, NULL));
	KUNIT_ASSERT_EQ(test, defer_with(test, session, KBUILD_MODNAME, functions, 1, flags, &failed), 0);
	this_module_comes(session);
	list(test, session, &listed, 1);
	KUNIT_EXPECT_EQ(test, listed.error, 0);
	KUNIT_EXPECT_EQ(test, listed.armed, 1);
	KUNIT_EXPECT_EQ(test, session->catalog.nr_live[ARGTRACE_LANE_RETURN], 1);
}

/* It is somewhere else each time: its functions keep their ids, and take no more memory. */
static void a_module_that_comes_and_goes(struct kunit *test)
{
	static const char *const functions[] = { "target_three", "target_six" };
	struct argtrace_session *session = make_session(test, "", 0);
	struct argtrace_catalog *catalog = &session->catalog;
	u64 used = 0;
	u32 loads, id;

	KUNIT_ASSERT_EQ(test, defer(test, session, KBUILD_MODNAME, functions, 2), 0);
	for (loads = 0; loads < 5; loads++) {
		this_module_comes(session);
		KUNIT_ASSERT_EQ(test, catalog->nr_ids, 3);
		KUNIT_EXPECT_EQ(test, catalog->nr_addrs, 2);
		KUNIT_EXPECT_EQ(test, catalog->nr_live[ARGTRACE_LANE_PLAIN], 2);
		/* The arrays of the catalog grow once more. */
		if (loads == 1)
			used = argtrace_memory_used();
		else if (loads)
			KUNIT_EXPECT_EQ(test, used, argtrace_memory_used());
		mutex_lock(&session->lock);
		argtrace_arm_module_going(session, THIS_MODULE, false);
		mutex_unlock(&session->lock);
		KUNIT_EXPECT_EQ(test, catalog->nr_live[ARGTRACE_LANE_PLAIN], 0);
		/* As if it had been a page lower. */
		for (id = 1; id < catalog->nr_ids; id++) {
			catalog->by_id[id]->addr -= PAGE_SIZE;
			catalog->by_id[id]->schema->addr -= PAGE_SIZE;
		}
	}
}

/* As if the module had been unloaded; next time it is loaded a page lower, or where it was. */
static void this_module_goes(struct argtrace_session *session, bool moves)
{
	struct argtrace_catalog *catalog = &session->catalog;
	u32 id;

	mutex_lock(&session->lock);
	argtrace_arm_module_going(session, THIS_MODULE, false);
	for (id = 1; id < catalog->nr_ids && moves; id++) {
		catalog->by_id[id]->addr -= PAGE_SIZE;
		catalog->by_id[id]->schema->addr -= PAGE_SIZE;
	}
	mutex_unlock(&session->lock);
	argtrace_returns_flush();
}

/* What the session has counted for the only function; all of its calls have ended. */
static struct argtrace_counts counts_of(struct kunit *test, struct argtrace_session *session)
{
	struct argtrace_return_counts counts = { };
	const struct argtrace_plan *plan;

	mutex_lock(&session->lock);
	KUNIT_EXPECT_EQ(test, session->catalog.nr_ids, 2);
	plan = session->catalog.by_id[1];
	if (plan->returns)
		argtrace_plan_return_counts(plan, &counts);
	else
		argtrace_plan_counts(plan, &counts.counts);
	mutex_unlock(&session->lock);
	KUNIT_EXPECT_EQ(test, counts.in_flight, 0);
	return counts.counts;
}

/* Calls that were lost among them, until the user removes the function. */
static void calls_of_all_loads_are_counted(struct kunit *test, u32 flags, bool moves)
{
	static const char *const function = "target_three";
	struct argtrace_session *session = make_session(test, "", 0);
	struct argtrace_counts counts;
	u32 loads, call, calls = 0, failed;

	KUNIT_ASSERT_EQ(test, defer_with(test, session, KBUILD_MODNAME, &function, 1, flags, &failed), 0);
	for (loads = 1; loads <= 3; loads++) {
		this_module_comes(session);
		for (call = 0; call < 1000 * loads; call++, calls++)
			target_three(1, 2, 3);
		counts = counts_of(test, session);
		KUNIT_EXPECT_EQ(test, counts.records + counts.lost[ARGTRACE_LOST_FULL], calls);
		/* Nobody reads, so that the ring fills. */
		KUNIT_EXPECT_GT(test, counts.records, 0);
		KUNIT_EXPECT_GT(test, counts.lost[ARGTRACE_LOST_FULL], 0);
		this_module_goes(session, moves);
		counts = counts_of(test, session);
		KUNIT_EXPECT_EQ(test, counts.records + counts.lost[ARGTRACE_LOST_FULL], calls);
	}
	this_module_comes(session);
	session_remove_all(session);
	this_module_goes(session, moves);
	this_module_comes(session);
	target_three(1, 2, 3);
	counts = counts_of(test, session);
	KUNIT_EXPECT_EQ(test, counts.records + counts.lost[ARGTRACE_LOST_FULL], 1);
	session_remove_all(session);
}

static void all_loads_are_counted(struct kunit *test)
{
	calls_of_all_loads_are_counted(test, 0, false);
	calls_of_all_loads_are_counted(test, 0, true);
}

static void returns_in_all_loads_are_counted(struct kunit *test)
{
	calls_of_all_loads_are_counted(test, ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0), false);
	calls_of_all_loads_are_counted(test, ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0), true);
}

/* The plan of a new function at that address. */
static struct argtrace_plan *plan_at(struct kunit *test, void *function)
{
	return make_plan(test, make_probe(test, (unsigned long)function, 3));
}

static int add_two(struct argtrace_session *session, struct argtrace_plan *one, struct argtrace_plan *other)
{
	struct argtrace_plan *plans[] = { one, other };
	unsigned long failed_addr;
	int ret;

	mutex_lock(&session->lock);
	ret = argtrace_arm_add(session, plans, 2, &failed_addr);
	mutex_unlock(&session->lock);
	return ret;
}

/*
 * A module with several functions of one name is loaded again, so that one of them is where another was: that one's plan is
 * taken over by the function's own successor, or comes back to life, but not both.
 */
static void a_place_where_a_namesake_was(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);
	struct argtrace_catalog *catalog = &session->catalog;
	struct argtrace_plan *moved, *namesake, *second;
	u32 id;

	KUNIT_ASSERT_EQ(test, add_two(session, plan_at(test, target_three), plan_at(test, target_six)), 0);
	id = argtrace_catalog_find(catalog, ARGTRACE_KIND_ENTRY, (unsigned long)target_three)->id;
	session_remove_all(session);

	moved = plan_at(test, target_none);
	namesake = plan_at(test, target_three);
	argtrace_plan_succeed(moved, catalog->by_id[id]);
	/* A removed probe has one successor. */
	argtrace_plan_succeed(namesake, catalog->by_id[id]);
	KUNIT_ASSERT_EQ(test, add_two(session, moved, namesake), 0);

	moved = argtrace_catalog_find(catalog, ARGTRACE_KIND_ENTRY, (unsigned long)target_none);
	namesake = argtrace_catalog_find(catalog, ARGTRACE_KIND_ENTRY, (unsigned long)target_three);
	KUNIT_ASSERT_NOT_NULL(test, moved);
	KUNIT_ASSERT_NOT_NULL(test, namesake);
	KUNIT_EXPECT_EQ(test, moved->id, id);
	KUNIT_EXPECT_NE(test, namesake->id, id);
	KUNIT_EXPECT_EQ(test, catalog->nr_live[ARGTRACE_LANE_PLAIN], 2);
	target_none();
	target_three(1, 2, 3);
	target_three(1, 2, 3);
	KUNIT_EXPECT_EQ(test, argtrace_counters_sum(&moved->counters).records, 1);
	KUNIT_EXPECT_EQ(test, argtrace_counters_sum(&namesake->counters).records, 2);

	/* A successor that is not added leaves it to the next. */
	session_remove_all(session);
	second = plan_at(test, target_six);
	argtrace_plan_succeed(second, catalog->by_id[id]);
	argtrace_plan_free(second);
	KUNIT_EXPECT_NULL(test, catalog->by_id[id]->successor);
}

/* Nothing is armed in a module that is loaded while ours is being unloaded. */
static void none_while_we_are_unloaded(struct kunit *test)
{
	static const char *const function = "target_three";
	struct argtrace_session *session = make_session(test, "", 0);

	KUNIT_ASSERT_EQ(test, defer(test, session, KBUILD_MODNAME, &function, 1), 0);
	argtrace_sessions_close(true);
	argtrace_sessions_module_coming(THIS_MODULE);
	argtrace_sessions_tracepoints_coming(THIS_MODULE);
	argtrace_sessions_close(false);
	KUNIT_EXPECT_EQ(test, session->catalog.nr_live[ARGTRACE_LANE_PLAIN], 0);
	argtrace_sessions_module_coming(THIS_MODULE);
	KUNIT_EXPECT_EQ(test, session->catalog.nr_live[ARGTRACE_LANE_PLAIN], 1);
}

static struct kunit_case deferred_cases[] = {
	KUNIT_CASE(probes_that_may_wait),
	KUNIT_CASE(modules_that_may_be_waited_for),
	KUNIT_CASE(a_function_of_two_names),
	KUNIT_CASE(what_could_not_be_armed),
	KUNIT_CASE(returns_that_cannot_be_followed),
	KUNIT_CASE(a_module_that_comes_and_goes),
	KUNIT_CASE(all_loads_are_counted),
	KUNIT_CASE(returns_in_all_loads_are_counted),
	KUNIT_CASE(a_place_where_a_namesake_was),
	KUNIT_CASE(none_while_we_are_unloaded),
	{ }
};

static struct kunit_suite deferred_suite = {
	.name = "argtrace_deferred",
	.test_cases = deferred_cases,
};
kunit_test_suite(deferred_suite);
