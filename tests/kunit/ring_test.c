// SPDX-License-Identifier: GPL-2.0-only
/* The ring of one CPU, written to as callbacks do, without tracing a call. */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/sched.h>

#include "fixtures.h"
#include "base/recursion.h"
#include "ring_read.h"
#include "sink/ring.h"

#define PACKET		4096
#define PACKETS		4
#define BYTES		(PACKET * PACKETS)

/* What a packet has room for after its header and the record that names the task. */
#define ROOM		(PACKET - sizeof(struct argtrace_packet) - ARGTRACE_TASK_RECORD)

/* A record and the number it carries, without anything else. */
#define SMALL		(sizeof(struct argtrace_record) + sizeof(u64))

/* Reserves a record, between argtrace_ring_begin() and argtrace_ring_end(); NULL if it is lost. */
static u8 *reserve(struct argtrace_ring *ring, u32 size)
{
	u64 clock = 0;
	u32 low;
	u8 *to;

	if (argtrace_ring_reserve(ring, ring->control, size, current->pid, ring->clock, ring->flight,
				  &low, &to))
		return to;
	if (!argtrace_recursion_enter())
		return NULL;
	to = argtrace_ring_reserve_slow(ring, size, &clock);
	argtrace_recursion_leave();
	return to;
}

static void fill(u8 *to, u32 size, u64 number)
{
	struct argtrace_record *record = (void *)to;

	*record = (struct argtrace_record){ .id = 1, .tid = current->pid, .size = size };
	memset(record + 1, 0xee, size - sizeof(*record));
	memcpy(record + 1, &number, sizeof(number));
}

/* Writes one record without being interrupted; false if it is lost. */
static bool write_one(struct argtrace_ring *ring, u32 size, u64 number)
{
	u8 *to;

	preempt_disable();
	argtrace_ring_begin(ring->control);
	to = reserve(ring, size);
	if (to)
		fill(to, size, number);
	argtrace_ring_end(ring->control);
	preempt_enable();
	return to;
}

static u64 number_of(const struct seen *seen)
{
	u64 number;

	memcpy(&number, seen->data, sizeof(number));
	return number;
}

static struct seen *room_for(struct kunit *test, u32 count)
{
	struct seen *seen = kunit_kcalloc(test, count, sizeof(*seen), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, seen);
	return seen;
}

/* Reads all there is: exactly `count` records, whose numbers begin at `first`. */
static void expect_numbers(struct kunit *test, struct argtrace_session *session, u64 first, u32 count)
{
	struct seen *seen = room_for(test, count + 1);
	u32 i;

	KUNIT_ASSERT_EQ(test, read_records(test, session, seen, count + 1), count);
	for (i = 0; i < count; i++)
		KUNIT_EXPECT_EQ(test, number_of(&seen[i]), first + i);
}

static struct argtrace_ring *make_ring(struct kunit *test, struct argtrace_session **session,
				       u32 flags)
{
	*session = make_session_like(test, &(struct argtrace_session_attr){ .flags = flags });
	KUNIT_ASSERT_EQ(test, ring_of(*session)->ring_mask, BYTES - 1);
	return ring_of(*session);
}

/* Sets the ring up as if everything up to `position` had been written and read. */
static void begin_at(struct argtrace_ring *ring, u64 position)
{
	ring->control->reserve = position;
	ring->control->head = position;
	ring->packet_end = position;
	if (ring->reader)
		ring->reader->tail = position;
}

static const struct argtrace_packet *packet_of(const struct argtrace_ring *ring, u64 seq)
{
	return (const void *)(ring->packets + (seq * PACKET & ring->ring_mask));
}

static void round_and_round(struct kunit *test)
{
	struct argtrace_session *session;
	struct argtrace_ring *ring = make_ring(test, &session, 0);
	u64 number = 0;
	u32 i;

	for (i = 0; i < 200; i++) {
		const u32 count = 1 + i % 90;
		u32 n;

		for (n = 0; n < count; n++)
			KUNIT_ASSERT_TRUE(test, write_one(ring, SMALL + 8 * (n % 9), number + n));
		expect_numbers(test, session, number, count);
		number += count;
	}
	KUNIT_EXPECT_GT(test, ring->control->head, 10ull * BYTES);
	KUNIT_EXPECT_EQ(test, ring->control->lost, 0);
}

/* Fills a packet to its last byte and writes one record more; then the same with some bytes left over. */
static void from_packet_to_packet(struct kunit *test)
{
	static const u32 left[] = { 0, 8, SMALL - 8 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(left); i++) {
		struct argtrace_session *session;
		struct argtrace_ring *ring = make_ring(test, &session, 0);

		KUNIT_ASSERT_TRUE(test, write_one(ring, SMALL, 0));
		KUNIT_ASSERT_TRUE(test, write_one(ring, ROOM - SMALL - left[i], 1));
		KUNIT_EXPECT_EQ(test, ring->control->head, PACKET - left[i]);
		KUNIT_ASSERT_TRUE(test, write_one(ring, SMALL, 2));
		KUNIT_EXPECT_EQ(test, ring->control->head,
				PACKET + sizeof(struct argtrace_packet) + ARGTRACE_TASK_RECORD + SMALL);
		KUNIT_EXPECT_EQ(test, packet_of(ring, 0)->used, PACKET - left[i]);
		KUNIT_EXPECT_EQ(test, packet_of(ring, 1)->seq, 1);
		expect_numbers(test, session, 0, 3);
	}
}

static void the_largest_record(struct kunit *test)
{
	struct argtrace_session *session;
	struct argtrace_ring *ring = make_ring(test, &session, 0);
	u32 i;

	for (i = 0; i < 3 * PACKETS; i++) {
		KUNIT_ASSERT_TRUE(test, write_one(ring, PACKET - ARGTRACE_PACKET_OVERHEAD, i));
		expect_numbers(test, session, i, 1);
	}
}

static void full_and_read_again(struct kunit *test)
{
	struct argtrace_session *session;
	struct argtrace_ring *ring = make_ring(test, &session, 0);
	u64 lost = 0;
	u32 round, i;

	for (round = 0; round < 5; round++) {
		/* The packet that contains the tail is not free. */
		const u32 fits = (round ? PACKETS - 1 : PACKETS) * (ROOM / SMALL);

		for (i = 0; i < fits; i++)
			KUNIT_ASSERT_TRUE(test, write_one(ring, SMALL, i));
		for (i = 0; i < 7; i++, lost++)
			KUNIT_EXPECT_FALSE(test, write_one(ring, SMALL, 1000 + i));
		KUNIT_EXPECT_EQ(test, ring->control->lost, lost);
		expect_numbers(test, session, 0, fits);
		KUNIT_ASSERT_TRUE(test, write_one(ring, SMALL, 5));
		/* The packet that follows says how many are missing before it. */
		KUNIT_EXPECT_EQ(test, lost,
				packet_of(ring, (ring->control->head - 1) / PACKET)->lost);
		/* Fill the packet up for the next round. */
		while (ring->control->head % PACKET + SMALL <= PACKET)
			KUNIT_ASSERT_TRUE(test, write_one(ring, SMALL, 6));
		read_records(test, session, NULL, 0);
	}
}

/* When a ring has been read in part, only whole packets become free. */
static void room_comes_by_packets(struct kunit *test)
{
	struct argtrace_session *session;
	struct argtrace_ring *ring = make_ring(test, &session, 0);

	while (write_one(ring, SMALL, 0))
		;
	WRITE_ONCE(ring->reader->tail, PACKET - 8);
	KUNIT_EXPECT_FALSE(test, write_one(ring, SMALL, 1));
	WRITE_ONCE(ring->reader->tail, PACKET);
	KUNIT_EXPECT_TRUE(test, write_one(ring, SMALL, 1));
	KUNIT_EXPECT_EQ(test, packet_of(ring, PACKETS)->seq, PACKETS);
}

/* Interrupts come between a reservation and the end of it: only the outermost publishes. */
static void writers_in_writers(struct kunit *test)
{
	struct argtrace_session *session;
	struct argtrace_ring *ring = make_ring(test, &session, 0);
	struct argtrace_ring_control *control = ring->control;
	u8 *outer, *middle;
	u64 head;
	u32 i;

	KUNIT_ASSERT_TRUE(test, write_one(ring, SMALL, 0));
	head = control->head;
	preempt_disable();
	argtrace_ring_begin(control);
	outer = reserve(ring, SMALL);
	argtrace_ring_begin(control);
	middle = reserve(ring, SMALL);
	/* Enough of them to reach the next packet. */
	for (i = 0; i < ROOM / SMALL; i++) {
		argtrace_ring_begin(control);
		fill(reserve(ring, SMALL), SMALL, 3 + i);
		KUNIT_EXPECT_EQ(test, control->active, 3);
		argtrace_ring_end(control);
	}
	KUNIT_EXPECT_EQ(test, control->head, head);
	fill(middle, SMALL, 2);
	argtrace_ring_end(control);
	KUNIT_EXPECT_EQ(test, control->head, head);
	KUNIT_EXPECT_GT(test, control->reserve, (u64)PACKET);
	fill(outer, SMALL, 1);
	argtrace_ring_end(control);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, control->head, control->reserve);
	KUNIT_EXPECT_EQ(test, control->active, 0);
	expect_numbers(test, session, 0, 3 + ROOM / SMALL);
}

/* Records of an interrupt may be lost while that of the interrupted call is not. */
static void full_within_a_writer(struct kunit *test)
{
	struct argtrace_session *session;
	struct argtrace_ring *ring = make_ring(test, &session, 0);
	u32 i, written = 0;
	u8 *outer;

	preempt_disable();
	argtrace_ring_begin(ring->control);
	outer = reserve(ring, SMALL);
	for (i = 0; i < 2 * BYTES / SMALL; i++)
		written += write_one(ring, SMALL, 1 + i);
	fill(outer, SMALL, 0);
	argtrace_ring_end(ring->control);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, written + ring->control->lost, i);
	KUNIT_EXPECT_GT(test, ring->control->lost, 0);
	expect_numbers(test, session, 0, 1 + written);
}

static void flight_keeps_the_newest(struct kunit *test)
{
	struct argtrace_session *session;
	struct argtrace_ring *ring = make_ring(test, &session, ARGTRACE_SESSION_FLIGHT);
	const u32 count = 10 * BYTES / SMALL;
	struct seen *seen = room_for(test, BYTES / SMALL);
	u32 i, there;

	for (i = 0; i < count; i++)
		KUNIT_ASSERT_TRUE(test, write_one(ring, SMALL, i));
	there = read_records(test, session, seen, BYTES / SMALL);
	KUNIT_EXPECT_EQ(test, there + ring->control->overwritten, count);
	KUNIT_EXPECT_GT(test, there, (PACKETS - 1) * (ROOM / SMALL));
	KUNIT_EXPECT_EQ(test, ring->control->lost, 0);
	for (i = 0; i < there; i++)
		KUNIT_EXPECT_EQ(test, number_of(&seen[i]), count - there + i);
}

/* What is overwritten is counted without being read: a switch costs the same whatever the packet held. */
static void flight_overwrites_unread(struct kunit *test)
{
	struct argtrace_session *session;
	struct argtrace_ring *ring = make_ring(test, &session, ARGTRACE_SESSION_FLIGHT);
	const u32 in_packet = ROOM / SMALL;
	u32 round, i;

	for (i = 0; i < PACKETS * in_packet; i++)
		KUNIT_ASSERT_TRUE(test, write_one(ring, SMALL, i));
	KUNIT_EXPECT_EQ(test, ring->control->overwritten, 0);
	for (round = 1; round <= 2 * PACKETS; round++) {
		struct argtrace_packet *oldest = (void *)packet_of(ring, round - 1);

		memset(oldest + 1, 0, PACKET - sizeof(*oldest));
		oldest->used = round % 2 ? 0 : PACKET;
		for (i = 0; i < in_packet; i++)
			KUNIT_ASSERT_TRUE(test, write_one(ring, SMALL, i));
		KUNIT_EXPECT_EQ(test, ring->control->overwritten, round * in_packet);
	}
}

/* The packet that an interrupted writer still writes to is never overwritten: records of the interrupt are lost instead. */
static void flight_lapped_within_a_writer(struct kunit *test)
{
	struct argtrace_session *session;
	struct argtrace_ring *ring = make_ring(test, &session, ARGTRACE_SESSION_FLIGHT);
	const u32 calls = 3 * BYTES / SMALL;
	struct seen *seen = room_for(test, BYTES / SMALL);
	u32 i, written = 0, there, outers = 0;
	u8 *outer;

	for (i = 0; i < 50; i++)
		write_one(ring, SMALL, i);
	preempt_disable();
	argtrace_ring_begin(ring->control);
	outer = reserve(ring, SMALL);
	for (i = 0; i < calls; i++)
		written += write_one(ring, SMALL, 1000 + i);
	fill(outer, SMALL, 77);
	argtrace_ring_end(ring->control);
	preempt_enable();
	KUNIT_EXPECT_LT(test, written, calls);
	KUNIT_EXPECT_EQ(test, written + ring->control->lost, calls);
	there = read_records(test, session, seen, BYTES / SMALL);
	KUNIT_EXPECT_EQ(test, there + ring->control->overwritten, 51 + written);
	for (i = 0; i + 1 < there; i++) {
		if (number_of(&seen[i]) != 77)
			continue;
		outers++;
		/* It is where it was reserved, not in the place of a later one. */
		KUNIT_EXPECT_EQ(test, number_of(&seen[i + 1]), 1000);
	}
	KUNIT_EXPECT_EQ(test, outers, 1);
}

/* Whatever the reader has written to its tail, the ring writes only to its own memory, and the next reader can read. */
static void a_tail_of_any_value(struct kunit *test)
{
	static const s64 near[] = { -BYTES - 8, -BYTES, -PACKET, -1, 0, 1, 8, PACKET, BYTES, 2 * BYTES };
	struct argtrace_session *session;
	struct argtrace_ring *ring = make_ring(test, &session, 0);
	u64 granted = 0, refused = 0;
	u32 i, n;

	for (i = 0; i < 3000; i++) {
		u64 tail = get_random_u64();

		if (i % 2)
			tail = ring->control->head + near[tail % ARRAY_SIZE(near)];
		WRITE_ONCE(ring->reader->tail, tail);
		for (n = 0; n < 5; n++) {
			if (write_one(ring, SMALL + 8 * (i % 100), i))
				granted++;
			else
				refused++;
		}
	}
	KUNIT_EXPECT_GT(test, granted, 0);
	KUNIT_EXPECT_GT(test, refused, 0);
	KUNIT_EXPECT_EQ(test, ring->control->lost, refused);

	WRITE_ONCE(ring->reader->tail, ring->control->head + 1);
	KUNIT_EXPECT_TRUE(test, argtrace_ring_repair_tail(ring));
	KUNIT_EXPECT_FALSE(test, argtrace_ring_repair_tail(ring));
	KUNIT_EXPECT_LE(test, ring->reader->tail, ring->control->reserve);
	KUNIT_EXPECT_LE(test, ring->control->reserve - ring->reader->tail, (u64)BYTES);
	KUNIT_EXPECT_GT(test, read_records(test, session, NULL, 0), 0);
	KUNIT_ASSERT_TRUE(test, write_one(ring, SMALL, 9));
	expect_numbers(test, session, 9, 1);
}

/* A plausible tail is left alone. */
static void a_good_tail_needs_no_repair(struct kunit *test)
{
	struct argtrace_session *session;
	struct argtrace_ring *ring = make_ring(test, &session, 0);
	u64 tail;

	while (write_one(ring, SMALL, 0))
		;
	for (tail = 0; tail <= ring->control->head; tail += 8) {
		WRITE_ONCE(ring->reader->tail, tail);
		KUNIT_EXPECT_FALSE(test, argtrace_ring_repair_tail(ring));
		KUNIT_EXPECT_EQ(test, ring->reader->tail, tail);
	}
}

/* Positions beyond 32 bits, and beyond the largest signed number. */
static void positions_of_any_size(struct kunit *test)
{
	static const u64 ends[] = { 1ull << 32, 1ull << 44, 1ull << 63 };
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		u32 flight;

		for (flight = 0; flight < 2; flight++) {
			struct argtrace_session *session;
			struct argtrace_ring *ring =
				make_ring(test, &session, flight ? ARGTRACE_SESSION_FLIGHT : 0);
			const u32 fits = PACKETS * (ROOM / SMALL);

			begin_at(ring, ends[i] - 2 * PACKET);
			for (n = 0; n < fits; n++)
				KUNIT_ASSERT_TRUE(test, write_one(ring, SMALL, n));
			KUNIT_EXPECT_GT(test, ring->control->head, ends[i]);
			KUNIT_EXPECT_EQ(test, write_one(ring, SMALL, n), flight);
			if (!flight)
				expect_numbers(test, session, 0, fits);
		}
	}
}

/* The task is recorded once, and again when it changes. */
static void who_runs_is_said(struct kunit *test)
{
	struct argtrace_session *session;
	struct argtrace_ring *ring = make_ring(test, &session, 0);
	u64 before;

	KUNIT_ASSERT_TRUE(test, write_one(ring, SMALL, 0));
	before = ring->control->head;
	KUNIT_ASSERT_TRUE(test, write_one(ring, SMALL, 1));
	KUNIT_EXPECT_EQ(test, ring->control->head - before, SMALL);
	before = ring->control->head;
	ring->comm_said[0]++;
	KUNIT_ASSERT_TRUE(test, write_one(ring, SMALL, 2));
	KUNIT_EXPECT_EQ(test, ring->control->head - before, SMALL + ARGTRACE_TASK_RECORD);
	expect_numbers(test, session, 0, 3);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(round_and_round),
	KUNIT_CASE(from_packet_to_packet),
	KUNIT_CASE(the_largest_record),
	KUNIT_CASE(full_and_read_again),
	KUNIT_CASE(room_comes_by_packets),
	KUNIT_CASE(writers_in_writers),
	KUNIT_CASE(full_within_a_writer),
	KUNIT_CASE(flight_keeps_the_newest),
	KUNIT_CASE(flight_overwrites_unread),
	KUNIT_CASE(flight_lapped_within_a_writer),
	KUNIT_CASE(a_tail_of_any_value),
	KUNIT_CASE(a_good_tail_needs_no_repair),
	KUNIT_CASE(positions_of_any_size),
	KUNIT_CASE(who_runs_is_said),
	{ }
};

/* A case is long over before the upper half of the clock changes, which would be said in a record of its own. */
static int begin_quietly(struct kunit *test)
{
	while ((u32)argtrace_clock_read(ARGTRACE_CLOCK_MONOTONIC) > U32_MAX / 2)
		msleep(20);
	return stay_on_this_cpu(test);
}

static struct kunit_suite ring_suite = {
	.name = "argtrace_ring",
	.init = begin_quietly,
	.test_cases = ring_cases,
};
kunit_test_suite(ring_suite);
