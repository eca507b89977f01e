// SPDX-License-Identifier: GPL-2.0-only
/* Two sessions that follow the same function: one of them has a call, where calls are followed beside others, and the other says so. */
#include <kunit/test.h>

#include "machine.h"
#include "return_fixtures.h"
#include "ring_read.h"
#include "source/returns/returns.h"
#include "targets.h"

static void two_sessions(struct kunit *test)
{
	struct made_probe *probe = make_return_probe(test, target_value, 3, ARGTRACE_TYPE_U64, 8, 0);
	struct argtrace_session *sessions[] = { follow(test, probe, 0), follow(test, probe, 0) };
	struct argtrace_return_counts counts[2];
	u32 i;

	KUNIT_EXPECT_EQ(test, call_value(1, 2, 3), value_of(1, 2, 3));
	for (i = 0; i < 2; i++) {
		counts[i] = return_counts(sessions[i], 1);
		KUNIT_EXPECT_EQ(test, hits(&counts[i]), 1);
	}
	KUNIT_EXPECT_EQ(test, counts[0].counts.records + counts[1].counts.records, MACHINE_FOLLOWS_BESIDE_OTHERS);
	KUNIT_EXPECT_EQ(test, counts[0].unfollowed[ARGTRACE_UNFOLLOWED_TAKEN] +
			      counts[1].unfollowed[ARGTRACE_UNFOLLOWED_TAKEN], 2 - MACHINE_FOLLOWS_BESIDE_OTHERS);
	session_remove_all(sessions[counts[0].counts.records ? 0 : 1]);
	call_value(1, 2, 3);
	i = counts[0].counts.records ? 1 : 0;
	counts[i] = return_counts(sessions[i], 1);
	KUNIT_EXPECT_EQ(test, counts[i].counts.records, 1);
}

/* With and without another tracer, which comes first, second or last, and has all registers or not. */
static void two_sessions_beside_another_tracer(struct kunit *test)
{
	static const unsigned long flags[] = { 0, FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED };
	struct argtrace_session *sessions[2];
	struct argtrace_return_counts counts[2];
	struct ftrace_ops ops;
	u32 i, j, place;

	for (i = 0; i < 6; i++) {
		place = i % 3;
		ops = (struct ftrace_ops){ .func = do_nothing, .flags = flags[i / 3] };
		KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&ops, (unsigned long)target_many, 0, 1), 0);
		for (j = 0; j < 2; j++) {
			if (place == j)
				KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
			sessions[j] = make_session(test, "", 0);
			KUNIT_ASSERT_EQ(test, session_add(test, sessions[j],
							  make_return_probe(test, target_many, 1, ARGTRACE_TYPE_U64, 8, 4)), 0);
		}
		if (place == 2)
			KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
		KUNIT_EXPECT_EQ(test, target_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), MANY);
		for (j = 0; j < 2; j++) {
			counts[j] = return_counts(sessions[j], 1);
			KUNIT_EXPECT_EQ_MSG(test, hits(&counts[j]), 1, "%u", i);
		}
		KUNIT_EXPECT_EQ_MSG(test, counts[0].counts.records + counts[1].counts.records, MACHINE_FOLLOWS_BESIDE_OTHERS,
				    "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, counts[0].unfollowed[ARGTRACE_UNFOLLOWED_TAKEN] +
					  counts[1].unfollowed[ARGTRACE_UNFOLLOWED_TAKEN], 2 - MACHINE_FOLLOWS_BESIDE_OTHERS,
				    "%u", i);
		unregister_ftrace_function(&ops);
		ftrace_free_filter(&ops);
		for (j = 0; j < 2; j++)
			session_remove_all(sessions[j]);
	}
}

static struct kunit_case return_sessions_cases[] = {
	KUNIT_CASE(two_sessions),
	KUNIT_CASE(two_sessions_beside_another_tracer),
	{ }
};

static struct kunit_suite return_sessions_suite = {
	.name = "argtrace_return_sessions",
	.init = stay_on_this_cpu,
	.test_cases = return_sessions_cases,
};
kunit_test_suite(return_sessions_suite);
