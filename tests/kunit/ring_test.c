// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring, written through the callback as ftrace would call it, with registers made up here.
 * Each call carries a number, so that what is read can be told to be all there, once, in order.
 */
#include <kunit/test.h>
#include <linux/ftrace_regs.h>

#include "make.h"
#include "read.h"
#include "targets.h"

#define RING_BYTES	(4 * 4096u)

static void call(struct argtrace_session *session, u64 number)
{
	struct __arch_ftrace_regs regs = { .regs.di = number };

	regs.regs.sp = (unsigned long)&regs;
	session->ops.func((unsigned long)target_three, 0, &session->ops, (struct ftrace_regs *)&regs);
}

static u64 number_of(const struct seen *seen)
{
	u64 number;

	memcpy(&number, seen->data, sizeof(number));
	return number;
}

/* One probe with one word, without the caller: a record of 24 bytes. */
static struct argtrace_session *make_ring(struct kunit *test, u32 flags)
{
	struct argtrace_session *session = make_session_of(test, "", ARGTRACE_FORMAT_NO_CALLER, flags);

	KUNIT_ASSERT_EQ(test, 0, session_add(test, session,
					     make_probe(test, (unsigned long)target_three, 1)));
	return session;
}

static struct seen *make_seen(struct kunit *test)
{
	struct seen *seen = kunit_kcalloc(test, RING_BYTES / 24, sizeof(*seen), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, seen);
	return seen;
}

/* What is in the ring are `count` calls, numbered from `first` on. */
static void expect_numbers(struct kunit *test, struct argtrace_session *session, struct seen *seen,
			   u64 first, u32 count)
{
	u32 i, read = read_records(test, session, seen, RING_BYTES / 24);

	KUNIT_ASSERT_EQ(test, read, count);
	for (i = 0; i < count; i++)
		KUNIT_EXPECT_EQ(test, number_of(&seen[i]), first + i);
}

static void around_and_around(struct kunit *test)
{
	struct argtrace_session *session = make_ring(test, 0);
	struct seen *seen = make_seen(test);
	u64 number = 0;
	u32 round, i;

	/* 100 calls are more than half a packet: packets are left in all kinds of places. */
	for (round = 0; round < 100; round++) {
		for (i = 0; i < 100; i++)
			call(session, number + i);
		expect_numbers(test, session, seen, number, 100);
		number += 100;
	}
	KUNIT_EXPECT_GT(test, ring_of(session)->control->head, 10ull * RING_BYTES);
	KUNIT_EXPECT_EQ(test, ring_of(session)->control->lost, 0);
}

/* Every packet but the newest says how far it is used; no record goes beyond. */
static void from_packet_to_packet(struct kunit *test)
{
	struct argtrace_session *session = make_ring(test, 0);
	struct argtrace_ring *ring = ring_of(session);
	struct seen *seen = make_seen(test);
	u32 calls = 0, i;

	while (ring->control->head <= 3 * 4096)
		call(session, calls++);
	for (i = 0; i < 3; i++) {
		const struct argtrace_packet *packet = (void *)(ring->packets + i * 4096);

		KUNIT_EXPECT_EQ(test, packet->seq, i);
		KUNIT_EXPECT_LE(test, packet->used, 4096);
		/* A record more would not have gone in. */
		KUNIT_EXPECT_GT(test, packet->used + 24, 4096);
		KUNIT_EXPECT_EQ(test, packet->version, ARGTRACE_RECORD_VERSION);
	}
	expect_numbers(test, session, seen, 0, calls);
}

static void full(struct kunit *test)
{
	struct argtrace_session *session = make_ring(test, 0);
	struct argtrace_ring *ring = ring_of(session);
	struct seen *seen = make_seen(test);
	struct argtrace_counts counts;
	u32 i;

	for (i = 0; i < 1000; i++)
		call(session, i);
	counts = counts_of(session, 1);
	KUNIT_EXPECT_GT(test, counts.lost[ARGTRACE_LOST_FULL], 0);
	KUNIT_EXPECT_EQ(test, counts.records + counts.lost[ARGTRACE_LOST_FULL], 1000);
	KUNIT_EXPECT_EQ(test, ring->control->lost, counts.lost[ARGTRACE_LOST_FULL]);
	KUNIT_EXPECT_LE(test, ring->control->head, RING_BYTES);
	expect_numbers(test, session, seen, 0, counts.records);

	/* There is room again, and the packet that follows says what is missing before it. */
	call(session, 5000);
	expect_numbers(test, session, seen, 5000, 1);
	KUNIT_EXPECT_EQ(test, ((struct argtrace_packet *)ring->packets)->seq, 4);
	KUNIT_EXPECT_EQ(test, ((struct argtrace_packet *)ring->packets)->lost, ring->control->lost);
}

static void overwriting(struct kunit *test)
{
	struct argtrace_session *session = make_ring(test, ARGTRACE_SESSION_FLIGHT);
	struct argtrace_ring *ring = ring_of(session);
	struct seen *seen = make_seen(test);
	u32 round, i, there;
	u64 number = 0;

	for (round = 0; round < 20; round++) {
		for (i = 0; i < 77; i++)
			call(session, number++);
		there = read_records(test, session, seen, RING_BYTES / 24);
		KUNIT_ASSERT_LE(test, there, number);
		/* The newest ones, without a gap; the others are counted. */
		for (i = 0; i < there; i++)
			KUNIT_EXPECT_EQ(test, number_of(&seen[i]), number - there + i);
		KUNIT_EXPECT_EQ(test, ring->control->overwritten, number - there);
		KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, number);
	}
	KUNIT_EXPECT_GT(test, ring->control->overwritten, 500);
	KUNIT_EXPECT_EQ(test, ring->control->lost, 0);
}

/*
 * Whatever the reader writes: no store of ours outside the ring (the kernel kasan would tell), each
 * call is recorded or lost, and after a repair all is well.
 */
static void hostile_tails(struct kunit *test)
{
	struct argtrace_session *session = make_ring(test, 0);
	struct argtrace_ring *ring = ring_of(session);
	struct seen *seen = make_seen(test);
	u64 calls = 0, sum;
	u32 kind, i;

	for (kind = 0; kind < 64 * 4; kind++) {
		const u64 head = ring->control->head;
		const u64 tails[] = { head + (1ull << (kind / 4)), head - (1ull << (kind / 4)),
				      1ull << (kind / 4), -(1ull << (kind / 4)) };

		WRITE_ONCE(ring->reader->tail, tails[kind % 4]);
		for (i = 0; i < 50; i++)
			call(session, calls++);
		KUNIT_EXPECT_EQ(test, ring->control->active, 0);
		KUNIT_EXPECT_EQ(test, ring->control->head, ring->control->reserve);
	}
	sum = counts_of(session, 1).records + counts_of(session, 1).lost[ARGTRACE_LOST_FULL];
	KUNIT_EXPECT_EQ(test, sum, calls);

	WRITE_ONCE(ring->reader->tail, 0x123456789abcdef);
	KUNIT_EXPECT_TRUE(test, argtrace_ring_repair_tail(ring));
	KUNIT_EXPECT_FALSE(test, argtrace_ring_repair_tail(ring));
	read_records(test, session, seen, 0);
	for (i = 0; i < 30; i++)
		call(session, i);
	expect_numbers(test, session, seen, 0, 30);
}

/* 2^64 bytes are never written; but should they be, the end of the numbers is none of the ring. */
static void positions_near_their_end(struct kunit *test)
{
	struct argtrace_session *session = make_ring(test, 0);
	struct argtrace_ring *ring = ring_of(session);
	struct seen *seen = make_seen(test);
	const u64 start = -2ull * RING_BYTES;
	u64 number = 0;
	u32 round, i;

	ring->control->head = ring->control->reserve = ring->reader->tail = start;
	for (round = 0; round < 30; round++) {
		for (i = 0; i < 100; i++)
			call(session, number + i);
		expect_numbers(test, session, seen, number, 100);
		number += 100;
	}
	KUNIT_EXPECT_LT_MSG(test, ring->control->head, start, "it has not come around");
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, number);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(around_and_around),
	KUNIT_CASE(from_packet_to_packet),
	KUNIT_CASE(full),
	KUNIT_CASE(overwriting),
	KUNIT_CASE(hostile_tails),
	KUNIT_CASE(positions_near_their_end),
	{ }
};

static struct kunit_suite ring_suite = {
	.name = "argtrace_ring",
	.init = stay_on_this_cpu,
	.test_cases = ring_cases,
};
kunit_test_suite(ring_suite);
