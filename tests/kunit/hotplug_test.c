// SPDX-License-Identifier: GPL-2.0-only
/* CPUs that are not present when a session is made, and come later. */
#include <kunit/test.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "fixtures.h"
#include "base/memory.h"
#include "return_fixtures.h"
#include "ring_read.h"
#include "base/region.h"
#include "source/timer.h"
#include "targets.h"

/* The last CPU, taken away for the time of a test. */
static unsigned int absent_cpu;

static int take_cpu_away(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU))
		kunit_skip(test, "this kernel takes no CPU away");
	absent_cpu = num_online_cpus() - 1;
	if (!absent_cpu || remove_cpu(absent_cpu))
		return -ENODEV;
	set_cpu_present(absent_cpu, false);
	return 0;
}

static void cpu_comes_back(struct kunit *test)
{
	set_cpu_present(absent_cpu, true);
	KUNIT_ASSERT_EQ(test, add_cpu(absent_cpu), 0);
}

static void put_cpu_back(struct kunit *test)
{
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	if (!cpu_online(absent_cpu))
		cpu_comes_back(test);
}

/* Calls a traced function on that CPU. */
static void call_there(struct kunit *test, u32 count)
{
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(absent_cpu)), 0);
	while (count--)
		target_three(1, 2, 3);
}

static void a_cpu_that_comes_gets_a_ring(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);
	const u64 before = argtrace_memory_used();
	int changes;

	KUNIT_ASSERT_EQ(test, session_add(test, session, make_probe(test, (unsigned long)target_three, 3)), 0);
	KUNIT_EXPECT_FALSE(test, argtrace_ring_exists(per_cpu_ptr(session->rings, absent_cpu)));
	changes = atomic_read(&session->notice.changes);
	cpu_comes_back(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&session->notice.changes), changes + 1);
	KUNIT_ASSERT_TRUE(test, argtrace_ring_exists(per_cpu_ptr(session->rings, absent_cpu)));
	KUNIT_EXPECT_GE(test, argtrace_memory_used(), before + session->packet_size * session->nr_packets);
	call_there(test, 7);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, 7);
	KUNIT_EXPECT_EQ(test, read_records(test, session, NULL, 0), 7);
}

/* It comes all the same, and its calls are counted. */
static void a_cpu_that_comes_at_the_limit(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);
	u64 taken = 0, step;
	int changes;

	KUNIT_ASSERT_EQ(test, session_add(test, session, make_probe(test, (unsigned long)target_three, 3)), 0);
	for (step = 1ull << 40; step; step /= 2) {
		if (!argtrace_memory_charge(step))
			taken += step;
	}
	changes = atomic_read(&session->notice.changes);
	cpu_comes_back(test);
	argtrace_memory_uncharge(taken);
	KUNIT_EXPECT_EQ(test, atomic_read(&session->notice.changes), changes);
	KUNIT_EXPECT_FALSE(test, argtrace_ring_exists(per_cpu_ptr(session->rings, absent_cpu)));
	call_there(test, 5);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).lost[ARGTRACE_LOST_NO_BUFFER], 5);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, 0);
}

static void sleep_there(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(absent_cpu)), 0);
	KUNIT_EXPECT_EQ(test, target_calls(sleep_for, (void *)50ul), 42);
}

KUNIT_ARRAY_PARAM(clock, session_clocks, describe_clock);

/* How long a call has taken is known without a ring, where it decides whether the call is recorded ... */
static void a_cpu_without_a_ring_times_calls(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ .source = ARGTRACE_SOURCE_DURATION, .mask = ALL, ACCEPT_IF(20 * NSEC_PER_MSEC, 20 * NSEC_PER_SEC) },
	};
	struct made_probe *probe = sleeper_probe(test);
	struct argtrace_session *session;
	u64 taken = 0, step;

	set_filters(probe, insns, 1, 0, 1);
	session = follow_with(test, probe, attr_of_clock(test));
	for (step = 1ull << 40; step; step /= 2) {
		if (!argtrace_memory_charge(step))
			taken += step;
	}
	cpu_comes_back(test);
	argtrace_memory_uncharge(taken);
	KUNIT_ASSERT_FALSE(test, argtrace_ring_exists(per_cpu_ptr(session->rings, absent_cpu)));
	sleep_there(test);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).filtered, 0);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).lost[ARGTRACE_LOST_NO_BUFFER], 1);
}

/* ... and where it goes to a map. */
static void a_cpu_without_a_ring_adds_durations_up(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ .source = ARGTRACE_SOURCE_DURATION, .mask = ALL, OUT(8), AT_RETURN },
	};
	const struct argtrace_map description = { .slots = 64, .flags = ARGTRACE_MAP_VALUE };
	struct argtrace_session *session = make_session_like(test, attr_of_clock(test));
	struct made_probe *probe = make_return_probe(test, target_calls, 0, 0, 0, 0);
	const struct argtrace_map_slot *slot;
	struct argtrace_map_set *map;
	u64 taken = 0, step, room;
	u32 id;

	map = argtrace_session_make_map(session, &description, &id);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, map);
	argtrace_session_publish_map(session, id, map);
	set_filters(probe, insns, 1, 0, 0);
	add_output(probe, ARGTRACE_TYPE_U64, 8);
	program_of(probe)->sink = ARGTRACE_SINK_MAP;
	program_of(probe)->map = id;
	KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);

	/* Room for its slots, which come after the ring. */
	room = argtrace_region_charge(DIV_ROUND_UP(64 * (map->slot_size + sizeof(u64)), PAGE_SIZE));
	KUNIT_ASSERT_EQ(test, argtrace_memory_charge(room), 0);
	for (step = 1ull << 40; step; step /= 2) {
		if (!argtrace_memory_charge(step))
			taken += step;
	}
	argtrace_memory_uncharge(room);
	cpu_comes_back(test);
	argtrace_memory_uncharge(taken);
	KUNIT_ASSERT_FALSE(test, argtrace_ring_exists(per_cpu_ptr(session->rings, absent_cpu)));
	KUNIT_ASSERT_NOT_NULL(test, argtrace_map_memory(map, absent_cpu));
	sleep_there(test);
	slot = argtrace_map_memory(map, absent_cpu);
	while (!slot->count)
		slot = (void *)slot + map->slot_size;
	KUNIT_EXPECT_GE(test, slot->sum, 49 * NSEC_PER_MSEC);
	KUNIT_EXPECT_LE(test, slot->sum, 20 * NSEC_PER_SEC);
}

static struct argtrace_map_set *make_map(struct kunit *test, struct argtrace_session *session)
{
	const struct argtrace_map description = { .slots = 64 };
	struct argtrace_map_set *map;
	u32 id;

	map = argtrace_session_make_map(session, &description, &id);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, map);
	argtrace_session_publish_map(session, id, map);
	return map;
}

static enum argtrace_map_result add_there(struct kunit *test, const struct argtrace_map_set *map)
{
	enum argtrace_map_result result;
	u64 key[ARGTRACE_MAP_WORDS] = { };

	KUNIT_EXPECT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(absent_cpu)), 0);
	preempt_disable();
	result = argtrace_map_add(map, key, 0, false);
	preempt_enable();
	return result;
}

static void a_cpu_that_comes_gets_slots(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);
	struct argtrace_map_set *map = make_map(test, session);
	const u64 before = argtrace_memory_used();
	int changes = atomic_read(&session->notice.changes);

	KUNIT_EXPECT_NULL(test, argtrace_map_memory(map, absent_cpu));
	cpu_comes_back(test);
	/* Once for its ring, and once for these. */
	KUNIT_EXPECT_EQ(test, atomic_read(&session->notice.changes), changes + 2);
	KUNIT_ASSERT_NOT_NULL(test, argtrace_map_memory(map, absent_cpu));
	KUNIT_EXPECT_GE(test, argtrace_memory_used(), before + 64 * map->slot_size);
	KUNIT_EXPECT_EQ(test, add_there(test, map), ARGTRACE_MAP_ADDED);
	KUNIT_EXPECT_EQ(test, ((struct argtrace_map_slot *)argtrace_map_memory(map, absent_cpu))->count, 1);
}

static void a_cpu_that_comes_at_the_limit_has_no_slots(struct kunit *test)
{
	struct argtrace_map_set *map = make_map(test, make_session(test, "", 0));
	u64 taken = 0, step;

	for (step = 1ull << 40; step; step /= 2) {
		if (!argtrace_memory_charge(step))
			taken += step;
	}
	cpu_comes_back(test);
	argtrace_memory_uncharge(taken);
	KUNIT_EXPECT_NULL(test, argtrace_map_memory(map, absent_cpu));
	KUNIT_EXPECT_EQ(test, add_there(test, map), ARGTRACE_MAP_NO_SLOTS);
}

static struct argtrace_timer *make_timer(struct kunit *test, struct argtrace_session *session)
{
	struct made_probe *probe = make_probe(test, ARGTRACE_TIMER(ARGTRACE_TIMER_CPU_CLOCK, 100, 0), 0);

	probe->head.kind = ARGTRACE_KIND_TIMER;
	KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);
	KUNIT_ASSERT_NOT_NULL(test, session->lanes[ARGTRACE_LANE_TIMER].timer);
	return session->lanes[ARGTRACE_LANE_TIMER].timer;
}

static void a_cpu_that_comes_ticks(struct kunit *test)
{
	struct argtrace_timer *timer = make_timer(test, make_session(test, "", 0));

	KUNIT_EXPECT_NULL(test, *per_cpu_ptr(timer->events, absent_cpu));
	cpu_comes_back(test);
	KUNIT_EXPECT_NOT_NULL(test, *per_cpu_ptr(timer->events, absent_cpu));
	KUNIT_EXPECT_EQ(test, timer->nr_silent, 0);
}

/* The CPU comes online all the same, the others tick as before, and the log names it. */
static void a_cpu_that_comes_and_gets_no_event(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);
	struct argtrace_timer *timer = make_timer(test, session);
	const unsigned long addr = timer->addr;

	/* The processors that QEMU emulates count no cycles. */
	timer->addr = ARGTRACE_TIMER(ARGTRACE_TIMER_CYCLES, 100, 0);
	cpu_comes_back(test);
	timer->addr = addr;
	KUNIT_EXPECT_TRUE(test, cpu_online(absent_cpu));
	KUNIT_EXPECT_EQ(test, timer->nr_silent, 1);
	KUNIT_EXPECT_NULL(test, *per_cpu_ptr(timer->events, absent_cpu));
	KUNIT_EXPECT_NOT_NULL(test, *per_cpu_ptr(timer->events, 0));
	session_remove_all(session);
	KUNIT_EXPECT_NULL(test, session->lanes[ARGTRACE_LANE_TIMER].timer);
}

static struct kunit_case hotplug_cases[] = {
	KUNIT_CASE(a_cpu_that_comes_gets_a_ring),
	KUNIT_CASE(a_cpu_that_comes_at_the_limit),
	KUNIT_CASE_PARAM(a_cpu_without_a_ring_times_calls, clock_gen_params),
	KUNIT_CASE_PARAM(a_cpu_without_a_ring_adds_durations_up, clock_gen_params),
	KUNIT_CASE(a_cpu_that_comes_gets_slots),
	KUNIT_CASE(a_cpu_that_comes_at_the_limit_has_no_slots),
	KUNIT_CASE(a_cpu_that_comes_ticks),
	KUNIT_CASE(a_cpu_that_comes_and_gets_no_event),
	{ }
};

static struct kunit_suite hotplug_suite = {
	.name = "argtrace_hotplug",
	.init = take_cpu_away,
	.exit = put_cpu_back,
	.test_cases = hotplug_cases,
};
kunit_test_suite(hotplug_suite);
