// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writers that come exactly between two steps of another one on the same CPU, as an interrupt or NMI may: at every step,
 * with every kind of record that the interrupted one may be at, in a stream and in a flight recorder.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "base/hook.h"
#include "fixtures.h"
#include "ring_read.h"
#include "sink/ring.h"

#define PACKET		4096
#define PACKETS		4
#define BYTES		(PACKET * PACKETS)

/* What a packet has room for after its header and the record that names the task. */
#define ROOM		(PACKET - sizeof(struct argtrace_packet) - ARGTRACE_TASK_RECORD)

/* A record that carries the number of its write. */
#define SMALL		(sizeof(struct argtrace_record) + sizeof(u64))

/* More records than a test writes one after the other. */
#define ALL		(4 * BYTES / SMALL)

/* Nested writers number their records from here on, the interrupted one below. */
#define NESTED		100000

struct nest {
	struct task_struct *task;
	struct argtrace_ring *ring;
	enum argtrace_hook at;
	u32 records;			/* so many are written there */
	u32 written;			/* so many of them were not lost */
	u32 came;			/* how often the moment has come */
	void (*look)(struct nest *nest);	/* or NULL; before they are written */
	bool invalidated;		/* what look() has found */
	u64 start;			/* what look() looks for */
};

static struct nest *nest;

/* Does not ask the recursion guard: it is per context, and an interrupt would have a bit of its own. */
static bool write_one(struct argtrace_ring *ring, u32 size, u64 number)
{
	struct argtrace_record *record;
	u64 clock = 0;
	u32 low;
	u8 *to;

	preempt_disable();
	argtrace_ring_begin(ring->control);
	if (argtrace_ring_reserve(ring, ring->control, size, current->pid, ring->clock, ring->flight,
				  &low, &to)) {
		clock = low;
	} else {
		to = argtrace_ring_reserve_slow(ring, size, &clock);
	}
	if (to) {
		record = (void *)to;
		*record = (struct argtrace_record){
			.id = 1, .tid = current->pid, .size = size, .clock = clock,
		};
		memset(record + 1, 0xee, size - sizeof(*record));
		memcpy(record + 1, &number, sizeof(number));
	}
	argtrace_ring_end(ring->control);
	preempt_enable();
	return to;
}

static void on_hook(enum argtrace_hook at)
{
	struct nest *now = nest;
	u32 i;

	if (!now || at != now->at || current != now->task || !in_task() || now->came++)
		return;
	/* The clock must have advanced, whatever its resolution. */
	udelay(5);
	if (now->look)
		now->look(now);
	for (i = 0; i < now->records; i++)
		now->written += write_one(now->ring, SMALL, NESTED + i);
	udelay(5);
}

/* Writes one record, which `with` interrupts. */
static bool write_interrupted(struct argtrace_ring *ring, u32 size, u64 number, struct nest *with)
{
	bool written;

	with->task = current;
	with->ring = ring;
	nest = with;
	WRITE_ONCE(argtrace_kunit_hook, on_hook);
	written = write_one(ring, size, number);
	WRITE_ONCE(argtrace_kunit_hook, NULL);
	nest = NULL;
	return written;
}

static struct argtrace_ring *make_ring(struct kunit *test, struct argtrace_session **session, u32 flags)
{
	*session = make_session_like(test, &(struct argtrace_session_attr){ .flags = flags });
	return ring_of(*session);
}

static u64 number_of(const struct seen *seen)
{
	u64 number;

	memcpy(&number, seen->data, sizeof(number));
	return number;
}

/* Where in the ring the interrupted writer is. */
enum place {
	FRESH,			/* nothing has been written yet: it opens the first packet */
	WITHIN,			/* its record fits the open packet */
	AT_END,			/* the open packet is full to the last byte: it opens the next one */
	LAST,			/* all packets have been opened: a stream is full, a flight recorder overwrites the oldest */
	NR_PLACES,
};

struct nested_case {
	enum argtrace_hook at;
	const char *name;
	bool fast;		/* a step of the fast path: only where no packet is opened */
	bool slow;		/* a step of the slow path: only where one is */
};

static const struct nested_case nested_cases[] = {
	{ ARGTRACE_HOOK_RESERVE_AB, "reserve A B", .fast = true },
	{ ARGTRACE_HOOK_RESERVE_BC, "reserve B C", .fast = true },
	{ ARGTRACE_HOOK_SLOW_AB, "reserve_slow A B", .slow = true },
	{ ARGTRACE_HOOK_SLOW_BC, "reserve_slow B C", .slow = true },
	{ ARGTRACE_HOOK_SLOW_AFTER_C, "reserve_slow C", .slow = true },
	{ ARGTRACE_HOOK_END_DE, "end D E" },
	{ ARGTRACE_HOOK_END_EF, "end E F" },
	{ ARGTRACE_HOOK_END_FG, "end F G" },
};

static void describe_nested(const struct nested_case *nested, char *text)
{
	strscpy(text, nested->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(nested, nested_cases, describe_nested);

/* Brings the ring to that place; returns the number of records written for it. */
static u32 bring_to(struct kunit *test, struct argtrace_ring *ring, enum place place)
{
	const u32 packets = place == LAST ? PACKETS : place == AT_END ? 1 : 0;
	u32 written = 0, packet;

	if (place == WITHIN)
		return write_one(ring, SMALL, written);
	for (packet = 0; packet < packets; packet++) {
		KUNIT_ASSERT_TRUE(test, write_one(ring, SMALL, written++));
		/* Fill the packet to its last byte. */
		KUNIT_ASSERT_TRUE(test, write_one(ring, ROOM - SMALL, written++));
		KUNIT_ASSERT_EQ(test, ring->control->head % PACKET, 0);
	}
	return written;
}

/* Reads everything: records must be whole, their times must not decrease, nested numbers must increase. */
static u32 read_all(struct kunit *test, struct argtrace_session *session, u64 wanted, u32 *found)
{
	struct seen *seen = kunit_kcalloc(test, ALL, sizeof(*seen), GFP_KERNEL);
	u64 last_nested = 0;
	u32 count, i;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	count = read_records(test, session, seen, ALL);
	KUNIT_ASSERT_LE(test, count, ALL);
	*found = 0;
	for (i = 0; i < count; i++) {
		const u64 number = number_of(&seen[i]);

		*found += number == wanted;
		if (number >= NESTED) {
			KUNIT_EXPECT_GT(test, number, last_nested);
			last_nested = number;
		}
		if (i)
			KUNIT_EXPECT_LE_MSG(test, seen[i - 1].head.clock, seen[i].head.clock,
					    "record %u of %u", i, count);
	}
	kunit_kfree(test, seen);
	return count;
}

static void interrupt_at(struct kunit *test, const struct nested_case *nested, enum place place,
			 u32 records, bool flight)
{
	struct argtrace_session *session;
	struct argtrace_ring *ring = make_ring(test, &session, flight ? ARGTRACE_SESSION_FLIGHT : 0);
	struct nest with = { .at = nested->at, .records = records };
	const u32 before = bring_to(test, ring, place);
	const bool written = write_interrupted(ring, SMALL, before, &with);
	const u64 recorded = before + written + with.written;
	u32 there, found;

	/* A stream that is full loses the record before step B. */
	if (place == LAST && !flight && nested->at != ARGTRACE_HOOK_SLOW_AB && nested->slow) {
		KUNIT_EXPECT_EQ(test, with.came, 0);
		return;
	}
	KUNIT_EXPECT_GE_MSG(test, with.came, 1, "place %u, %u records, flight %u", place, records, flight);
	KUNIT_EXPECT_EQ(test, ring->control->active, 0);
	KUNIT_EXPECT_EQ_MSG(test, ring->control->head, ring->control->reserve,
			    "place %u, %u records, flight %u", place, records, flight);
	KUNIT_EXPECT_EQ(test, recorded + ring->control->lost, (u64)before + 1 + records);
	there = read_all(test, session, before, &found);
	KUNIT_EXPECT_EQ_MSG(test, there + ring->control->overwritten, recorded,
			    "place %u, %u records, flight %u", place, records, flight);
	/* A flight recorder may have overwritten it since. */
	if (!flight)
		KUNIT_EXPECT_EQ(test, found, written);
	else
		KUNIT_EXPECT_LE(test, found, written);
}

static void between_two_steps(struct kunit *test)
{
	/* One; as many as take it into the next packet; more than the ring holds. */
	static const u32 records[] = { 1, ROOM / SMALL + 1, 2 * BYTES / SMALL };
	const struct nested_case *nested = test->param_value;
	enum place place;
	u32 i, flight;

	for (place = 0; place < NR_PLACES; place++) {
		if ((nested->fast && place != WITHIN) || (nested->slow && place == WITHIN))
			continue;
		for (i = 0; i < ARRAY_SIZE(records); i++) {
			for (flight = 0; flight < 2; flight++)
				interrupt_at(test, nested, place, records[i], flight);
		}
	}
}

static void look_whether_invalidated(struct nest *with)
{
	const struct argtrace_packet *packet =
		(const void *)(with->ring->packets + (with->start & with->ring->ring_mask));

	with->invalidated = packet->seq == with->start / PACKET;
}

/* A reader that copies the oldest packet must see that it is invalid before its first byte is overwritten. */
static void invalidated_before_it_is_overwritten(struct kunit *test)
{
	struct argtrace_session *session;
	struct argtrace_ring *ring = make_ring(test, &session, ARGTRACE_SESSION_FLIGHT);
	const u32 before = bring_to(test, ring, LAST);
	struct nest with = {
		.at = ARGTRACE_HOOK_SLOW_BC,
		.look = look_whether_invalidated,
		.start = ring->control->head,
	};

	KUNIT_ASSERT_EQ(test, with.start, (u64)BYTES);
	KUNIT_EXPECT_TRUE(test, write_interrupted(ring, SMALL, before, &with));
	KUNIT_EXPECT_EQ(test, with.came, 1);
	KUNIT_EXPECT_TRUE(test, with.invalidated);
}

static void task_is_as_it_was(struct nest *with)
{
	with->ring->comm_said[0]--;
}

/*
 * A writer that has invalidated a packet must open it, even if it no longer needs it: here the task's name had changed and
 * needed a record of its own, and has changed back when step C fails and the writer starts again.
 */
static void what_was_invalidated_is_opened(struct kunit *test)
{
	struct argtrace_session *session;
	struct argtrace_ring *ring = make_ring(test, &session, ARGTRACE_SESSION_FLIGHT);
	const u32 left = SMALL + ARGTRACE_TASK_RECORD;
	struct nest with = { .at = ARGTRACE_HOOK_SLOW_BC, .records = 1, .look = task_is_as_it_was };
	u32 before = bring_to(test, ring, LAST), found;

	KUNIT_ASSERT_TRUE(test, write_one(ring, SMALL, before++));
	KUNIT_ASSERT_TRUE(test, write_one(ring, ROOM - SMALL - left, before++));
	ring->comm_said[0]++;
	/* With the task record it does not fit into the rest of the packet; without it it does, even after the nested one. */
	KUNIT_EXPECT_TRUE(test, write_interrupted(ring, SMALL + 8, before, &with));
	KUNIT_EXPECT_EQ(test, with.written, 1);
	KUNIT_EXPECT_EQ(test, read_all(test, session, before, &found) + ring->control->overwritten,
			(u64)before + 2);
	KUNIT_EXPECT_EQ(test, found, 1);
}

/* Writes a record for which more is reserved than it takes, which nested writers interrupt. Returns whether that was given back. */
static bool write_shortened(struct argtrace_ring *ring, u32 reserved, u64 number, struct nest *with)
{
	struct argtrace_record *record;
	bool given_back;
	u32 clock;
	u64 end;
	u8 *to;

	with->task = current;
	with->ring = ring;
	nest = with;
	preempt_disable();
	argtrace_ring_begin(ring->control);
	if (!argtrace_ring_reserve_up_to(ring, ring->control, reserved, current->pid, ring->clock, ring->flight, &clock, &to, &end))
		to = NULL;
	if (to) {
		record = (void *)to;
		*record = (struct argtrace_record){ .id = 1, .tid = current->pid, .size = reserved, .clock = clock };
		memset(record + 1, 0xee, reserved - sizeof(*record));
		memcpy(record + 1, &number, sizeof(number));
		WRITE_ONCE(argtrace_kunit_hook, on_hook);
		given_back = argtrace_ring_give_back(ring->control, end, reserved - SMALL);
		WRITE_ONCE(argtrace_kunit_hook, NULL);
		if (given_back)
			record->size = SMALL;
	}
	argtrace_ring_end(ring->control);
	preempt_enable();
	nest = NULL;
	return to && given_back;
}

/*
 * What has been reserved for a record, and is not needed, is given back, unless somebody has reserved what follows. Either way all
 * records are whole, and what follows the record is the next one.
 */
static void the_rest_is_given_back(struct kunit *test)
{
	static const u32 records[] = { 0, 1, 3, ROOM / SMALL + 1, 2 * BYTES / SMALL };
	/* With 8 bytes too much, with many, and up to the last byte of the packet. */
	static const u32 sizes[] = { SMALL + 8, 10 * SMALL, ROOM - SMALL };
	u32 i, j, flight;

	for (i = 0; i < ARRAY_SIZE(records) * ARRAY_SIZE(sizes); i++) {
		for (flight = 0; flight < 2; flight++) {
			const u32 size = sizes[i / ARRAY_SIZE(records)];
			struct nest with = { .at = ARGTRACE_HOOK_GIVE_BACK, .records = records[i % ARRAY_SIZE(records)] };
			struct argtrace_session *session;
			struct argtrace_ring *ring = make_ring(test, &session, flight ? ARGTRACE_SESSION_FLIGHT : 0);
			const u32 before = bring_to(test, ring, WITHIN);
			const u64 at = ring->control->reserve;
			u64 written;
			u32 found;

			KUNIT_EXPECT_EQ_MSG(test, write_shortened(ring, size, before, &with), !with.written, "%u of %u", with.records,
					    size);
			KUNIT_ASSERT_EQ(test, with.came, 1);
			if (!with.records)
				KUNIT_EXPECT_EQ(test, ring->control->reserve, at + SMALL);
			written = before + 1 + with.written;
			for (j = 1; j <= 3; j++)
				written += write_one(ring, SMALL, before + j);
			KUNIT_EXPECT_EQ(test, ring->control->head, ring->control->reserve);
			KUNIT_EXPECT_EQ(test, written + ring->control->lost, (u64)before + 4 + with.records);
			KUNIT_EXPECT_EQ_MSG(test, read_all(test, session, before, &found) + ring->control->overwritten, written,
					    "%u of %u, flight %u", with.records, size, flight);
			if (!ring->control->overwritten)
				KUNIT_EXPECT_EQ(test, found, 1);
		}
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(between_two_steps, nested_gen_params),
	KUNIT_CASE(invalidated_before_it_is_overwritten),
	KUNIT_CASE(what_was_invalidated_is_opened),
	KUNIT_CASE(the_rest_is_given_back),
	{ }
};

/* A case ends long before the upper half of the clock changes, which would add a record. */
static int begin_quietly(struct kunit *test)
{
	while ((u32)argtrace_clock_read(ARGTRACE_CLOCK_MONOTONIC) > U32_MAX / 2)
		msleep(20);
	return stay_on_this_cpu(test);
}

static struct kunit_suite nested_suite = {
	.name = "argtrace_nested",
	.init = begin_quietly,
	.test_cases = cases,
};
kunit_test_suite(nested_suite);
