// SPDX-License-Identifier: GPL-2.0-only
/* Probes for modules that are yet to be loaded: how many may wait, and what becomes of them when the module comes. */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "arm.h"
#include "fixtures.h"
#include "memory.h"
#include "probe/deferred.h"

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

static struct kunit_case deferred_cases[] = {
	KUNIT_CASE(probes_that_may_wait),
	KUNIT_CASE(modules_that_may_be_waited_for),
	KUNIT_CASE(a_function_of_two_names),
	KUNIT_CASE(what_could_not_be_armed),
	KUNIT_CASE(returns_that_cannot_be_followed),
	KUNIT_CASE(a_module_that_comes_and_goes),
	{ }
};

static struct kunit_suite deferred_suite = {
	.name = "argtrace_deferred",
	.test_cases = deferred_cases,
};
kunit_test_suite(deferred_suite);
