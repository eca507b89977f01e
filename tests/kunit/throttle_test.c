// SPDX-License-Identifier: GPL-2.0-only
/* One call in so many, and no more than so many in a second. */
#include <kunit/test.h>
#include <linux/jiffies.h>

#include "call/throttle.h"
#include "program_fixtures.h"
#include "ring_read.h"
#include "targets.h"

static void one_in_three(struct kunit *test)
{
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 3);
	struct argtrace_session *session;
	u32 i;

	set_program(probe, NULL, 0, 0, NULL);
	program_of(probe)->sample = 3;
	session = trace_with(test, probe);
	for (i = 0; i < 30; i++)
		target_three(i, 0, 0);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, 10);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).sampled, 20);
	KUNIT_EXPECT_EQ(test, read_records(test, session, NULL, 0), 10);
}

/* Calls at the beginning of a second, in its middle, and in the next one; false where the machine has stood still for too long. */
static bool call_in_two_seconds(struct argtrace_session *session, struct argtrace_counts counts[3])
{
	unsigned long begin = jiffies, first;
	bool in_time;
	u32 i;

	target_three(0, 0, 0);
	first = jiffies;
	for (i = 1; i < 20; i++)
		target_three(i, 0, 0);
	counts[0] = counts_of(session, 1);
	while (time_before(jiffies, begin + HZ / 2))
		cond_resched();
	target_three(i, 0, 0);
	in_time = time_before(jiffies, begin + HZ);
	counts[1] = counts_of(session, 1);
	/* The second began with the first record. */
	while (time_before_eq(jiffies, first + HZ + 1))
		cond_resched();
	begin = jiffies;
	for (i = 0; i < 20; i++)
		target_three(i, 0, 0);
	counts[2] = counts_of(session, 1);
	return in_time && time_before(jiffies, begin + HZ);
}

static void no_more_than_five_in_a_second(struct kunit *test)
{
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 3);
	struct argtrace_counts counts[3];
	bool in_time = false;
	u32 tries;

	set_program(probe, NULL, 0, 0, NULL);
	program_of(probe)->max_rate = 5;
	for (tries = 0; tries < 10 && !in_time; tries++) {
		struct argtrace_session *session = trace_with(test, probe);

		in_time = call_in_two_seconds(session, counts);
		session_remove_all(session);
	}
	KUNIT_ASSERT_TRUE(test, in_time);
	KUNIT_EXPECT_EQ(test, counts[0].records, 5);
	KUNIT_EXPECT_EQ(test, counts[0].capped, 15);
	KUNIT_EXPECT_EQ(test, counts[1].records, 5);
	KUNIT_EXPECT_EQ(test, counts[1].capped, 16);
	KUNIT_EXPECT_EQ(test, counts[2].records, 10);
	KUNIT_EXPECT_EQ(test, counts[2].capped, 31);
}

static u64 rate_since(u32 begin, u32 records)
{
	return (u64)begin << 32 | records;
}

/* Another CPU may have begun the second a jiffy later than this one looked at the clock. */
static void a_second_that_has_just_begun_is_not_over(struct kunit *test)
{
	static const u32 begins[] = { 0, 1, 1000, S32_MAX, U32_MAX };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(begins); i++) {
		const u64 rate = rate_since(begins[i], 5);

		KUNIT_EXPECT_FALSE(test, argtrace_is_over(rate, begins[i] - 1));
		KUNIT_EXPECT_FALSE(test, argtrace_is_over(rate, begins[i]));
		KUNIT_EXPECT_FALSE(test, argtrace_is_over(rate, begins[i] + HZ - 1));
		KUNIT_EXPECT_TRUE(test, argtrace_is_over(rate, begins[i] + HZ));
		KUNIT_EXPECT_TRUE(test, argtrace_is_over(rate, begins[i] + (1u << 31)));
		KUNIT_EXPECT_TRUE(test, argtrace_is_over(rate, begins[i] - 2 * HZ));
	}
	/* None has begun. */
	KUNIT_EXPECT_TRUE(test, argtrace_is_over(0, 0));
}

static struct kunit_case throttle_cases[] = {
	KUNIT_CASE(one_in_three),
	KUNIT_CASE(no_more_than_five_in_a_second),
	KUNIT_CASE(a_second_that_has_just_begun_is_not_over),
	{ }
};

static struct kunit_suite throttle_suite = {
	.name = "argtrace_throttle",
	.init = stay_on_this_cpu,
	.test_cases = throttle_cases,
};
kunit_test_suite(throttle_suite);
