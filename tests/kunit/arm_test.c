// SPDX-License-Identifier: GPL-2.0-only
/* Removals and additions for which there is no memory. A lane whose source says so stands in for ftrace. */
#include <kunit/test.h>

#include "arm/arm.h"
#include "base/authority.h"
#include "return_fixtures.h"
#include "ring_read.h"
#include "source/source.h"
#include "targets.h"

/* The session's probes: of the lane PLAIN, and of the lane RETURN, which comes later. */
#define RECORDED	((unsigned long)target_three)
#define FOLLOWED	((unsigned long)target_value)

static struct argtrace_session *make_both(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);

	KUNIT_ASSERT_EQ(test, session_add(test, session, make_probe(test, RECORDED, 3)), 0);
	KUNIT_ASSERT_EQ(test, session_add(test, session, make_return_probe(test, target_value, 3, ARGTRACE_TYPE_U64, 8, 0)), 0);
	return session;
}

static int remove_both(struct argtrace_session *session)
{
	unsigned long addrs[] = { RECORDED, FOLLOWED }, failed;
	int ret;

	mutex_lock(&session->lock);
	ret = argtrace_arm_remove(session, ARGTRACE_KIND_ENTRY, addrs, ARRAY_SIZE(addrs), &failed);
	mutex_unlock(&session->lock);
	return ret;
}

static int has_no_memory(struct argtrace_lane *lane)
{
	return -ENOMEM;
}

static struct argtrace_source without_memory;

/* From now on the lane cannot follow a removal. Returns what it could. */
static const struct argtrace_source *take_memory(struct argtrace_lane *lane)
{
	const struct argtrace_source *source = lane->source;

	without_memory = *source;
	without_memory.follow = has_no_memory;
	lane->source = &without_memory;
	return source;
}

static bool is_live(struct argtrace_session *session, unsigned long addr)
{
	return !argtrace_catalog_find(&session->catalog, ARGTRACE_KIND_ENTRY, addr)->removed;
}

static u32 records_of_a_call_each(struct kunit *test, struct argtrace_session *session)
{
	target_three(1, 2, 3);
	call_value(1, 2, 3);
	return read_records(test, session, NULL, 0);
}

struct removal_case {
	const char *name;
	enum argtrace_lane_kind lane;
	bool first_goes;		/* the probe of the lane PLAIN is removed all the same */
};

static const struct removal_case removal_cases[] = {
	{ "in the first lane", ARGTRACE_LANE_PLAIN, false },
	{ "in a later one", ARGTRACE_LANE_RETURN, true },
};

static void describe_removal(const struct removal_case *removal, char *text)
{
	strcpy(text, removal->name);
}
KUNIT_ARRAY_PARAM(removal, removal_cases, describe_removal);

/* What is said to be live is called, and what is not is not. */
static void removal_without_memory(struct kunit *test)
{
	const struct removal_case *removal = test->param_value;
	struct argtrace_session *session = make_both(test);
	struct argtrace_lane *lane = &session->lanes[removal->lane];
	const u64 generation = session->catalog.generation;
	const struct argtrace_source *source;

	KUNIT_EXPECT_EQ(test, records_of_a_call_each(test, session), 2);
	source = take_memory(lane);
	KUNIT_EXPECT_EQ(test, remove_both(session), -ENOMEM);
	lane->source = source;
	KUNIT_EXPECT_EQ(test, is_live(session, RECORDED), !removal->first_goes);
	KUNIT_EXPECT_TRUE(test, is_live(session, FOLLOWED));
	KUNIT_EXPECT_NE(test, session->catalog.generation, generation);
	KUNIT_EXPECT_EQ(test, records_of_a_call_each(test, session), removal->first_goes ? 1 : 2);

	/* They can be removed one by one, and come back. */
	KUNIT_EXPECT_EQ(test, session_remove(session, RECORDED), removal->first_goes ? -ENOENT : 0);
	KUNIT_EXPECT_EQ(test, session_remove(session, FOLLOWED), 0);
	KUNIT_EXPECT_EQ(test, records_of_a_call_each(test, session), 0);
	argtrace_returns_flush();
	KUNIT_EXPECT_EQ(test, session_add(test, session, make_probe(test, RECORDED, 3)), 0);
	KUNIT_EXPECT_EQ(test, session_add(test, session, make_return_probe(test, target_value, 3, ARGTRACE_TYPE_U64, 8, 0)), 0);
	KUNIT_EXPECT_EQ(test, records_of_a_call_each(test, session), 2);
}

static int cannot_attach(struct argtrace_lane *lane, const struct argtrace_table *table, unsigned long *addrs, u32 count)
{
	return -ENOMEM;
}

static int add_both(struct kunit *test, struct argtrace_session *session)
{
	const struct argtrace_plan_format format = {
		.max_record = session->packet_size - ARGTRACE_PACKET_OVERHEAD,
		.rules_of = argtrace_plan_rules_of, .may_follow = argtrace_may_follow,
	};
	const struct made_probe *followed = make_return_probe(test, target_value, 3, ARGTRACE_TYPE_U64, 8, 0);
	u64 length = followed->head.size;
	struct argtrace_plan *plans[] = {
		make_plan(test, make_probe(test, RECORDED, 3)),
		make_plan_from(test, followed, &length, &format),
	};
	unsigned long failed;
	int ret;

	mutex_lock(&session->lock);
	ret = argtrace_arm_add(session, plans, ARRAY_SIZE(plans), &failed);
	mutex_unlock(&session->lock);
	return ret;
}

/* Removed probes that were to come back with a failed addition are still removed, in the lanes that had attached them, too. */
static void revival_without_memory(struct kunit *test)
{
	const struct removal_case *removal = test->param_value;
	struct argtrace_session *session = make_both(test);
	struct argtrace_lane *lane = &session->lanes[removal->lane];
	struct argtrace_source unable = *lane->source;
	const struct argtrace_source *source = lane->source;

	KUNIT_EXPECT_EQ(test, remove_both(session), 0);
	argtrace_returns_flush();
	unable.attach = cannot_attach;
	lane->source = &unable;
	KUNIT_EXPECT_EQ(test, add_both(test, session), -ENOMEM);
	lane->source = source;
	KUNIT_EXPECT_FALSE(test, is_live(session, RECORDED));
	KUNIT_EXPECT_FALSE(test, is_live(session, FOLLOWED));
	KUNIT_EXPECT_FALSE(test, argtrace_lanes_armed(session));
	KUNIT_EXPECT_EQ(test, records_of_a_call_each(test, session), 0);

	argtrace_returns_flush();
	KUNIT_EXPECT_EQ(test, add_both(test, session), 0);
	KUNIT_EXPECT_EQ(test, records_of_a_call_each(test, session), 2);
}

static struct kunit_case arm_cases[] = {
	KUNIT_CASE_PARAM(removal_without_memory, removal_gen_params),
	KUNIT_CASE_PARAM(revival_without_memory, removal_gen_params),
	{ }
};

static struct kunit_suite arm_suite = {
	.name = "argtrace_arm",
	.test_cases = arm_cases,
};
kunit_test_suite(arm_suite);
