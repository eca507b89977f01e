// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps: slots that are claimed while an interrupt claims the same, buckets at every edge, maps that are full, and random keys
 * beside a model. An interrupt is a hook between two steps (hook.h).
 */
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/preempt.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "program/program.h"
#include "fixtures.h"
#include "base/hook.h"
#include "base/memory.h"
#include "ring_read.h"
#include "sink/map.h"

static struct argtrace_map counts_by(u16 key_words, u32 slots)
{
	return (struct argtrace_map){ .slots = slots, .key_words = key_words };
}

static struct argtrace_map values_by(u16 key_words, u32 slots, u16 buckets, bool is_signed)
{
	return (struct argtrace_map){
		.slots = slots, .key_words = key_words, .buckets = buckets,
		.flags = ARGTRACE_MAP_VALUE | (is_signed ? ARGTRACE_MAP_SIGNED : 0),
	};
}

static void free_map(void *map)
{
	argtrace_map_free(map);
}

static struct argtrace_map_set *make_map(struct kunit *test, struct argtrace_map description)
{
	struct argtrace_session *session = make_session(test, "", 0);
	struct argtrace_map_set *map = argtrace_map_create(&session->notice, &description);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, map);
	/* Before the session goes. */
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_map, map), 0);
	return map;
}

static enum argtrace_map_result add(const struct argtrace_map_set *map, const u64 *key, u64 value, bool unreadable)
{
	u64 words[ARGTRACE_MAP_WORDS] = { };
	enum argtrace_map_result result;

	memcpy(words, key, map->key_words * sizeof(*key));
	preempt_disable();
	result = argtrace_map_add(map, words, value, unreadable);
	preempt_enable();
	return result;
}

/* What the slots of this CPU have for a key, with its bucket if there are any. */
static struct argtrace_map_slot sum_of(const struct argtrace_map_set *map, const u64 *key, u32 *slots)
{
	const u32 words = map->key_words + !!map->buckets.kind;
	const u8 *memory = argtrace_map_memory(map, raw_smp_processor_id());
	struct argtrace_map_slot sum = { };
	u32 i;

	*slots = 0;
	for (i = 0; i < map->slots; i++) {
		struct argtrace_map_slot *slot = (void *)(memory + i * map->slot_size);

		if (!(slot->tag & ARGTRACE_MAP_FINISHED) ||
		    memcmp(argtrace_map_key(slot, map->has_value), key, words * sizeof(*key)))
			continue;
		++*slots;
		sum.count += slot->count;
		if (!map->has_value)
			continue;
		sum.faults += slot->faults;
		sum.sum += slot->sum;
		if (*slots == 1 || argtrace_map_is_lower(slot->min, sum.min, map->buckets.is_signed))
			sum.min = slot->min;
		if (*slots == 1 || argtrace_map_is_lower(sum.max, slot->max, map->buckets.is_signed))
			sum.max = slot->max;
	}
	return sum;
}

/* An interrupt at one of the moments: adds calls, once. */
static struct {
	struct task_struct *task;
	const struct argtrace_map_set *map;
	enum argtrace_hook at;
	u64 key, value;
	u32 calls, came;
	enum argtrace_map_result result;
} nested;

static void on_hook(enum argtrace_hook at)
{
	u32 i;

	if (at != nested.at || current != nested.task || !in_task() || nested.came++)
		return;
	for (i = 0; i < nested.calls; i++)
		nested.result = add(nested.map, &nested.key, nested.value, false);
}

static void add_interrupted(struct kunit *test, const struct argtrace_map_set *map, u64 key, u64 value)
{
	nested.task = current;
	nested.map = map;
	nested.came = 0;
	WRITE_ONCE(argtrace_kunit_hook, on_hook);
	KUNIT_EXPECT_EQ(test, add(map, &key, value, false), ARGTRACE_MAP_ADDED);
	WRITE_ONCE(argtrace_kunit_hook, NULL);
	KUNIT_EXPECT_GT(test, nested.came, 0);
}

struct nesting {
	enum argtrace_hook at;
	const char *name;
	bool same_key;
	u32 slots;			/* that the interrupted key has then */
};

static const struct nesting nestings[] = {
	{ ARGTRACE_HOOK_MAP_AB, "A B, the same key", true, 1 },
	{ ARGTRACE_HOOK_MAP_AB, "A B, another key", false, 1 },
	{ ARGTRACE_HOOK_MAP_BC, "B C, the same key", true, 2 },
	{ ARGTRACE_HOOK_MAP_BC, "B C, another key", false, 1 },
	{ ARGTRACE_HOOK_MAP_CD, "C D, the same key", true, 2 },
	{ ARGTRACE_HOOK_MAP_CD, "C D, another key", false, 1 },
};

static void nesting_name(const struct nesting *nesting, char *to)
{
	strscpy(to, nesting->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(nesting, nestings, nesting_name);

/* Another key with the same home, which an interrupt finds taken or free. */
static u64 neighbour_of(const struct argtrace_map_set *map, u64 key)
{
	const struct argtrace_map_cpu *cpu = raw_cpu_ptr(map->cpus);
	const u64 home = argtrace_map_home_number(cpu, argtrace_map_hash(0, key));
	u64 other = key + 1;

	while (argtrace_map_home_number(cpu, argtrace_map_hash(0, other)) != home)
		other++;
	return other;
}

static void an_interrupt_claims_as_well(struct kunit *test)
{
	const struct nesting *nesting = test->param_value;
	const struct argtrace_map_set *map = make_map(test, values_by(1, 64, ARGTRACE_BUCKETS_NONE, false));
	const u64 key = 5, other = neighbour_of(map, key);
	struct argtrace_map_slot sum;
	u32 slots;

	nested.at = nesting->at;
	nested.key = nesting->same_key ? key : other;
	nested.value = 100;
	nested.calls = 3;
	add_interrupted(test, map, key, 7);
	KUNIT_EXPECT_EQ(test, nested.result, ARGTRACE_MAP_ADDED);
	/* From now on there is one slot that is found. */
	KUNIT_EXPECT_EQ(test, add(map, &key, 9, false), ARGTRACE_MAP_ADDED);

	sum = sum_of(map, &key, &slots);
	KUNIT_EXPECT_EQ(test, slots, nesting->slots);
	KUNIT_EXPECT_EQ(test, sum.count, nesting->same_key ? 5 : 2);
	KUNIT_EXPECT_EQ(test, sum.sum, nesting->same_key ? 316 : 16);
	KUNIT_EXPECT_EQ(test, sum.min, 7);
	KUNIT_EXPECT_EQ(test, sum.max, nesting->same_key ? 100 : 9);
	if (nesting->same_key)
		return;
	sum = sum_of(map, &other, &slots);
	KUNIT_EXPECT_EQ(test, slots, 1);
	KUNIT_EXPECT_EQ(test, sum.count, 3);
	KUNIT_EXPECT_EQ(test, sum.sum, 300);
}

/* One that begins between the comparison and the exchange is neither overwritten nor overwrites. */
static void an_interrupt_has_a_lower_value(struct kunit *test)
{
	const struct argtrace_map_set *map = make_map(test, values_by(1, 64, ARGTRACE_BUCKETS_NONE, false));
	static const u64 values[][3] = { { 50, 40, 40 }, { 50, 60, 50 }, { 50, 0, 0 } };
	struct argtrace_map_slot sum;
	u32 i, slots;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		const u64 key = i;

		nested.at = ARGTRACE_HOOK_MAP_EXTEND;
		nested.key = key;
		nested.value = values[i][1];
		nested.calls = 1;
		add_interrupted(test, map, key, values[i][0]);
		sum = sum_of(map, &key, &slots);
		KUNIT_EXPECT_EQ(test, sum.min, values[i][2]);
		KUNIT_EXPECT_EQ(test, sum.max, max(values[i][0], values[i][1]));
		KUNIT_EXPECT_EQ(test, sum.count, 2);
	}
}

/* No reader sees a key that is not complete, nor a value of a call that the slot has not. */
static struct {
	const struct argtrace_map_set *map;
	u32 looks, finished, free;
} onlooker;

static void look_on(enum argtrace_hook at)
{
	const u8 *memory = argtrace_map_memory(onlooker.map, raw_smp_processor_id());
	u32 i;

	if (current != nested.task || !in_task())
		return;
	if (at != ARGTRACE_HOOK_MAP_AB && at != ARGTRACE_HOOK_MAP_BC && at != ARGTRACE_HOOK_MAP_CD)
		return;
	onlooker.looks++;
	for (i = 0; i < onlooker.map->slots; i++) {
		const struct argtrace_map_slot *slot = (const void *)(memory + i * onlooker.map->slot_size);

		onlooker.finished += slot->tag & ARGTRACE_MAP_FINISHED;
		onlooker.free += at != ARGTRACE_HOOK_MAP_AB && slot->tag;
	}
}

static void a_slot_is_finished_last(struct kunit *test)
{
	const struct argtrace_map_set *map = make_map(test, counts_by(2, 64));
	const u64 key[] = { 1, 2 };

	onlooker.map = map;
	onlooker.looks = onlooker.finished = onlooker.free = 0;
	nested.task = current;
	WRITE_ONCE(argtrace_kunit_hook, look_on);
	KUNIT_EXPECT_EQ(test, add(map, key, 0, false), ARGTRACE_MAP_ADDED);
	WRITE_ONCE(argtrace_kunit_hook, NULL);
	KUNIT_EXPECT_EQ(test, onlooker.looks, 3);
	KUNIT_EXPECT_EQ(test, onlooker.finished, 0);
	/* After B and after C it is claimed. */
	KUNIT_EXPECT_EQ(test, onlooker.free, 2);
}


static void log2_at_every_edge(struct kunit *test)
{
	u32 bit;

	KUNIT_EXPECT_EQ(test, argtrace_bucket_log2(0, false), 0);
	KUNIT_EXPECT_EQ(test, argtrace_bucket_log2(0, true), 0);
	for (bit = 0; bit < 64; bit++) {
		const u64 first = 1ull << bit, last = first + (first - 1);

		KUNIT_EXPECT_EQ(test, argtrace_bucket_log2(first, false), bit + 1);
		KUNIT_EXPECT_EQ(test, argtrace_bucket_log2(last, false), bit + 1);
		if (bit == 63)
			break;
		KUNIT_EXPECT_EQ(test, argtrace_bucket_log2(first, true), bit + 1);
		KUNIT_EXPECT_EQ(test, argtrace_bucket_log2(last, true), bit + 1);
		KUNIT_EXPECT_EQ(test, (s64)argtrace_bucket_log2(-first, true), -(s64)(bit + 1));
		KUNIT_EXPECT_EQ(test, (s64)argtrace_bucket_log2(-last, true), -(s64)(bit + 1));
	}
	KUNIT_EXPECT_EQ(test, (s64)argtrace_bucket_log2(S64_MIN, true), -64);
	KUNIT_EXPECT_EQ(test, (s64)argtrace_bucket_log2(S64_MAX, true), 63);
}

static const struct argtrace_map linear_maps[] = {
	{ .low = 0, .step = 1, .nr_buckets = 1 },
	{ .low = 0, .step = 1, .nr_buckets = ARGTRACE_MAP_BUCKETS_MAX },
	{ .low = 100, .step = 37, .nr_buckets = 40 },
	{ .low = 0, .step = U64_MAX / 3, .nr_buckets = 3 },
	{ .low = 0, .step = U64_MAX / ARGTRACE_MAP_BUCKETS_MAX, .nr_buckets = ARGTRACE_MAP_BUCKETS_MAX },
	{ .low = 5, .step = (1ull << 63) + 12345, .nr_buckets = 1 },
	{ .low = U64_MAX - 29, .step = 10, .nr_buckets = 3 },
	{ .low = 1, .step = (1ull << 52) - 1, .nr_buckets = ARGTRACE_MAP_BUCKETS_MAX },
	{ .low = -1000, .step = 100, .nr_buckets = 20, .flags = ARGTRACE_MAP_SIGNED },
	{ .low = S64_MIN, .step = 1ull << 52, .nr_buckets = ARGTRACE_MAP_BUCKETS_MAX, .flags = ARGTRACE_MAP_SIGNED },
	{ .low = S64_MIN, .step = U64_MAX / 5, .nr_buckets = 5, .flags = ARGTRACE_MAP_SIGNED },
	{ .low = S64_MAX - 9, .step = 1, .nr_buckets = 10, .flags = ARGTRACE_MAP_SIGNED },
};

static void linear_at_every_edge(struct kunit *test)
{
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(linear_maps); i++) {
		struct argtrace_map map = linear_maps[i];
		const bool is_signed = map.flags & ARGTRACE_MAP_SIGNED;
		const u64 lowest = is_signed ? S64_MIN : 0, highest = is_signed ? S64_MAX : U64_MAX;
		struct argtrace_buckets buckets;
		u64 end;

		map.buckets = ARGTRACE_BUCKETS_LINEAR;
		map.flags |= ARGTRACE_MAP_VALUE;
		KUNIT_ASSERT_TRUE(test, argtrace_buckets_init(&buckets, &map));
		for (n = 0; n < map.nr_buckets; n++) {
			const u64 first = map.low + n * map.step, last = first + (map.step - 1);

			KUNIT_ASSERT_EQ_MSG(test, argtrace_bucket(&buckets, first), n, "map %u", i);
			KUNIT_ASSERT_EQ_MSG(test, argtrace_bucket(&buckets, last), n, "map %u", i);
			KUNIT_ASSERT_EQ_MSG(test, argtrace_bucket(&buckets, first + map.step / 2), n, "map %u", i);
		}
		end = map.low + map.nr_buckets * map.step;
		if (map.low != lowest) {
			KUNIT_EXPECT_EQ(test, argtrace_bucket(&buckets, map.low - 1), -1ull);
			KUNIT_EXPECT_EQ(test, argtrace_bucket(&buckets, lowest), -1ull);
		}
		if (end - 1 != highest) {
			KUNIT_EXPECT_EQ(test, argtrace_bucket(&buckets, end), map.nr_buckets);
			KUNIT_EXPECT_EQ(test, argtrace_bucket(&buckets, highest), map.nr_buckets);
		}
	}
}

/* Values that are neither at an edge nor round, beside a division. */
static void linear_beside_a_division(struct kunit *test)
{
	struct rnd_state random;
	u32 i;

	prandom_seed_state(&random, 4711);
	for (i = 0; i < 20000; i++) {
		const u32 nr = 1 + prandom_u32_state(&random) % ARGTRACE_MAP_BUCKETS_MAX;
		const u64 bits = (u64)prandom_u32_state(&random) << 32 | prandom_u32_state(&random);
		const u64 step = max_t(u64, (bits >> (prandom_u32_state(&random) % 64)) / nr, 1);
		const struct argtrace_map map = {
			.buckets = ARGTRACE_BUCKETS_LINEAR, .step = step, .nr_buckets = nr, .flags = ARGTRACE_MAP_VALUE,
		};
		const u64 value = ((u64)prandom_u32_state(&random) << 32 | prandom_u32_state(&random)) >>
				  (prandom_u32_state(&random) % 64);
		struct argtrace_buckets buckets;

		if (!argtrace_buckets_init(&buckets, &map))
			continue;
		KUNIT_ASSERT_EQ_MSG(test, argtrace_bucket(&buckets, value), min_t(u64, value / step, nr),
				    "%llu in steps of %llu", value, step);
	}
}

static void values_of_64_bits(struct kunit *test)
{
	static const u64 values[] = { 0, 1, S64_MAX, 1ull << 63, U64_MAX, 42 };
	const struct argtrace_map_set *plain = make_map(test, values_by(1, 64, ARGTRACE_BUCKETS_NONE, false));
	const struct argtrace_map_set *has_sign = make_map(test, values_by(1, 64, ARGTRACE_BUCKETS_NONE, true));
	const u64 key = U64_MAX;
	struct argtrace_map_slot slot;
	u64 sum = 0;
	u32 i, slots;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		KUNIT_EXPECT_EQ(test, add(plain, &key, values[i], false), ARGTRACE_MAP_ADDED);
		KUNIT_EXPECT_EQ(test, add(has_sign, &key, values[i], false), ARGTRACE_MAP_ADDED);
		sum += values[i];
	}
	KUNIT_EXPECT_EQ(test, add(plain, &key, 0, true), ARGTRACE_MAP_ADDED);
	slot = sum_of(plain, &key, &slots);
	KUNIT_EXPECT_EQ(test, slots, 1);
	KUNIT_EXPECT_EQ(test, slot.min, 0);
	KUNIT_EXPECT_EQ(test, slot.max, U64_MAX);
	KUNIT_EXPECT_EQ(test, slot.sum, sum);
	KUNIT_EXPECT_EQ(test, slot.faults, 1);
	KUNIT_EXPECT_EQ(test, slot.count, ARRAY_SIZE(values) + 1);
	slot = sum_of(has_sign, &key, &slots);
	KUNIT_EXPECT_EQ(test, slot.min, (u64)S64_MIN);
	KUNIT_EXPECT_EQ(test, slot.max, (u64)S64_MAX);
	KUNIT_EXPECT_EQ(test, slot.sum, sum);
}

static s64 carry_of(const struct argtrace_map_set *map, const u64 *key)
{
	const u8 *memory = argtrace_map_memory(map, raw_smp_processor_id());
	s64 carry = 0;
	u32 i;

	for (i = 0; i < map->slots; i++) {
		struct argtrace_map_slot *slot = (void *)(memory + i * map->slot_size);

		if (slot->tag & ARGTRACE_MAP_FINISHED && argtrace_map_key(slot, map->has_value)[0] == *key)
			carry += ((const s64 *)(memory + map->carries))[i];
	}
	return carry;
}

/* The sum and its carry beside 128 bits, after each value. */
static void sums_carry(struct kunit *test)
{
	static const u64 values[] = { S64_MAX, S64_MAX, 1, U64_MAX, 1ull << 63, 1ull << 63, 1ull << 63, 0, U64_MAX, U64_MAX, S64_MAX };
	bool is_signed = false;
	u32 i, slots;

	do {
		const struct argtrace_map_set *map = make_map(test, values_by(1, 64, ARGTRACE_BUCKETS_NONE, is_signed));
		const u64 key = 7;
		__int128 model = 0;

		for (i = 0; i < 4 * ARRAY_SIZE(values); i++) {
			const u64 value = values[i % ARRAY_SIZE(values)];
			u64 sum;

			model += is_signed ? (__int128)(s64)value : (__int128)value;
			KUNIT_EXPECT_EQ(test, add(map, &key, value, false), ARGTRACE_MAP_ADDED);
			sum = sum_of(map, &key, &slots).sum;
			KUNIT_EXPECT_EQ(test, sum, (u64)model);
			KUNIT_EXPECT_EQ(test, carry_of(map, &key),
					(s64)((model - (is_signed ? (__int128)(s64)sum : (__int128)sum)) >> 64));
		}
		is_signed = !is_signed;
	} while (is_signed);
}

/* An interrupt whose values make the sum wrap as well comes between the sum and its carry. */
static void an_interrupt_carries_as_well(struct kunit *test)
{
	const struct argtrace_map_set *map = make_map(test, values_by(1, 64, ARGTRACE_BUCKETS_NONE, false));
	const u64 key = 7;
	u32 slots;

	KUNIT_EXPECT_EQ(test, add(map, &key, U64_MAX, false), ARGTRACE_MAP_ADDED);
	nested.at = ARGTRACE_HOOK_MAP_CARRY;
	nested.key = key;
	nested.value = U64_MAX;
	nested.calls = 5;
	add_interrupted(test, map, key, U64_MAX);
	/* 7 times 2^64 - 1 */
	KUNIT_EXPECT_EQ(test, sum_of(map, &key, &slots).sum, (u64)-7);
	KUNIT_EXPECT_EQ(test, carry_of(map, &key), 6);
	KUNIT_EXPECT_EQ(test, sum_of(map, &key, &slots).count, 7);
}

/* The last slot has the last carry, and no other. */
static void each_slot_has_its_carry(struct kunit *test)
{
	const struct argtrace_map_set *map = make_map(test, values_by(3, 64, ARGTRACE_BUCKETS_NONE, false));
	const s64 *carries = (const s64 *)((const u8 *)argtrace_map_memory(map, raw_smp_processor_id()) + map->carries);
	const u8 *memory = argtrace_map_memory(map, raw_smp_processor_id());
	u64 key[3] = { };
	u32 i, j;

	for (key[0] = 0; key[0] < 40; key[0]++) {
		for (j = 0; j <= key[0]; j++)
			add(map, key, U64_MAX, false);
	}
	for (i = 0; i < map->slots; i++) {
		struct argtrace_map_slot *slot = (void *)(memory + i * map->slot_size);

		KUNIT_EXPECT_EQ(test, carries[i], slot->tag ? argtrace_map_key(slot, true)[0] : 0);
	}
}

/* Where no value is on the other side of 0, or none is what a slot begins with. */
static void the_least_and_the_greatest_of_few(struct kunit *test)
{
	const struct argtrace_map_set *plain = make_map(test, values_by(1, 64, ARGTRACE_BUCKETS_NONE, false));
	const struct argtrace_map_set *has_sign = make_map(test, values_by(1, 64, ARGTRACE_BUCKETS_NONE, true));
	const u64 below = 1, above = 2;
	struct argtrace_map_slot slot;
	u32 slots;

	KUNIT_EXPECT_EQ(test, add(has_sign, &below, (u64)-7, false), ARGTRACE_MAP_ADDED);
	KUNIT_EXPECT_EQ(test, add(has_sign, &below, (u64)-3, false), ARGTRACE_MAP_ADDED);
	KUNIT_EXPECT_EQ(test, add(has_sign, &above, 9, false), ARGTRACE_MAP_ADDED);
	KUNIT_EXPECT_EQ(test, add(plain, &above, 9, false), ARGTRACE_MAP_ADDED);
	slot = sum_of(has_sign, &below, &slots);
	KUNIT_EXPECT_EQ(test, slot.min, (u64)-7);
	KUNIT_EXPECT_EQ(test, slot.max, (u64)-3);
	slot = sum_of(has_sign, &above, &slots);
	KUNIT_EXPECT_EQ(test, slot.min, 9);
	KUNIT_EXPECT_EQ(test, slot.max, 9);
	slot = sum_of(plain, &above, &slots);
	KUNIT_EXPECT_EQ(test, slot.min, 9);
	KUNIT_EXPECT_EQ(test, slot.max, 9);
}

/* The hash of a key is no secret, and who can choose keys can find two that share it. */
static void keys_of_one_hash_are_two(struct kunit *test)
{
	const struct argtrace_map_set *map = make_map(test, counts_by(2, 64));
	const u64 key[2] = { 1, 2 };
	u64 other[2] = { 3 };
	u32 slots;

	other[1] = argtrace_map_hash(0, key[0]) ^ key[1] ^ argtrace_map_hash(0, other[0]);
	KUNIT_ASSERT_EQ(test, argtrace_map_hash(argtrace_map_hash(0, key[0]), key[1]),
			argtrace_map_hash(argtrace_map_hash(0, other[0]), other[1]));
	KUNIT_EXPECT_EQ(test, add(map, key, 0, false), ARGTRACE_MAP_ADDED);
	KUNIT_EXPECT_EQ(test, add(map, key, 0, false), ARGTRACE_MAP_ADDED);
	KUNIT_EXPECT_EQ(test, add(map, other, 0, false), ARGTRACE_MAP_ADDED);
	KUNIT_EXPECT_EQ(test, sum_of(map, key, &slots).count, 2);
	KUNIT_EXPECT_EQ(test, slots, 1);
	KUNIT_EXPECT_EQ(test, sum_of(map, other, &slots).count, 1);
	KUNIT_EXPECT_EQ(test, slots, 1);
}

/* The last slot before the end of the memory too, and after it those at its beginning. */
static void a_full_map_keeps_what_it_has(struct kunit *test)
{
	const struct argtrace_map_set *map = make_map(test, counts_by(ARGTRACE_MAP_KEY_WORDS_MAX, 64));
	u64 key[ARGTRACE_MAP_KEY_WORDS_MAX] = { };
	u32 added = 0, round, slots;
	bool *there = kunit_kzalloc(test, 4096 * sizeof(*there), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, there);
	for (round = 0; round < 3; round++) {
		for (key[7] = 0; key[7] < 4096; key[7]++) {
			const bool is_added = add(map, key, 0, false) == ARGTRACE_MAP_ADDED;

			if (!round)
				there[key[7]] = is_added;
			added += !round && is_added;
			KUNIT_ASSERT_EQ(test, is_added, there[key[7]]);
		}
	}
	KUNIT_EXPECT_EQ(test, added, 64);
	for (key[7] = 0; key[7] < 4096; key[7]++)
		KUNIT_ASSERT_EQ(test, sum_of(map, key, &slots).count, there[key[7]] ? 3 : 0);
}

/* Keys that differ in any bit of any word are different keys, and all that fits half full a map fits. */
static void random_keys_beside_a_model(struct kunit *test)
{
	const u32 nr_keys = 512, slots = 1024;
	struct rnd_state random;
	u32 words, i, j, found;

	prandom_seed_state(&random, 815);
	for (words = 1; words <= ARGTRACE_MAP_KEY_WORDS_MAX; words++) {
		const struct argtrace_map_set *map = make_map(test, values_by(words, slots, ARGTRACE_BUCKETS_NONE, true));
		u64 (*keys)[ARGTRACE_MAP_KEY_WORDS_MAX] = kunit_kzalloc(test, nr_keys * sizeof(*keys), GFP_KERNEL);
		struct argtrace_map_slot *model = kunit_kzalloc(test, nr_keys * sizeof(*model), GFP_KERNEL);

		KUNIT_ASSERT_TRUE(test, keys && model);
		for (i = 0; i < nr_keys; i++) {
			/* Neighbours, pointers, and text: one word counts on, another has its low bits only, or its high ones. */
			keys[i][i % words] = (u64)i << (8 * (i / 8 % 8)) | (u64)i << 48;
			for (j = 0; j < words && i % 3; j++)
				keys[i][j] += (u64)prandom_u32_state(&random) << (i % 33);
		}
		for (i = 0; i < 20 * nr_keys; i++) {
			const u32 which = prandom_u32_state(&random) % nr_keys;
			const s64 value = (s64)((u64)prandom_u32_state(&random) << 32) >> (prandom_u32_state(&random) % 60);
			struct argtrace_map_slot *one = &model[which];

			/* The same key may be there twice. */
			for (j = 0; j < which; j++) {
				if (!memcmp(keys[j], keys[which], sizeof(keys[j]))) {
					one = &model[j];
					break;
				}
			}
			KUNIT_ASSERT_EQ(test, add(map, keys[which], value, false), ARGTRACE_MAP_ADDED);
			if (!one->count || value < (s64)one->min)
				one->min = value;
			if (!one->count || value > (s64)one->max)
				one->max = value;
			one->count++;
			one->sum += value;
		}
		for (i = 0; i < nr_keys; i++) {
			const struct argtrace_map_slot sum = sum_of(map, keys[i], &found);

			if (!model[i].count)
				continue;
			KUNIT_ASSERT_EQ(test, found, 1);
			KUNIT_ASSERT_EQ(test, sum.count, model[i].count);
			KUNIT_ASSERT_EQ(test, sum.sum, model[i].sum);
			KUNIT_ASSERT_EQ(test, sum.min, model[i].min);
			KUNIT_ASSERT_EQ(test, sum.max, model[i].max);
		}
	}
}

/* There are no operations for them; the prepared program is as long as it says, which KASAN watches. */
static void a_map_without_key_and_value(struct kunit *test)
{
	struct argtrace_map_set *map = make_map(test, counts_by(0, 64)), *maps[ARGTRACE_MAPS_MAX] = { };
	struct {
		struct argtrace_probe head;
		struct argtrace_program program;
	} schema = {
		.head = { .size = sizeof(schema), .program = sizeof(schema.program) },
		.program = { .sink = ARGTRACE_SINK_MAP, .map = 1 },
	};
	struct argtrace_code *code = kunit_kzalloc(test, argtrace_code_size(sizeof(schema.program)), GFP_KERNEL);
	const u64 no_key = 0;
	u32 slots;

	KUNIT_ASSERT_NOT_NULL(test, code);
	maps[schema.program.map] = map;
	KUNIT_ASSERT_EQ(test, argtrace_code_prepare(code, &schema.head, maps, NULL, NULL), 0);
	KUNIT_EXPECT_PTR_EQ(test, code->map, map);
	KUNIT_EXPECT_EQ(test, add(map, &no_key, 0, false), ARGTRACE_MAP_ADDED);
	KUNIT_EXPECT_EQ(test, sum_of(map, &no_key, &slots).count, 1);
}

static void maps_take_what_they_are_charged(struct kunit *test)
{
	const u64 before = argtrace_memory_used();
	struct argtrace_session *session = make_session(test, "", 0);
	const u64 with_session = argtrace_memory_used();
	const struct argtrace_map description = counts_by(1, 4096);
	struct argtrace_map_set *map = argtrace_map_create(&session->notice, &description);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, map);
	KUNIT_EXPECT_GT(test, with_session, before);
	KUNIT_EXPECT_GE(test, argtrace_memory_used(), with_session + num_present_cpus() * 4096ull * map->slot_size);
	argtrace_map_free(map);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), with_session);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(an_interrupt_claims_as_well, nesting_gen_params),
	KUNIT_CASE(an_interrupt_has_a_lower_value),
	KUNIT_CASE(a_slot_is_finished_last),
	KUNIT_CASE(log2_at_every_edge),
	KUNIT_CASE(linear_at_every_edge),
	KUNIT_CASE(linear_beside_a_division),
	KUNIT_CASE(values_of_64_bits),
	KUNIT_CASE(sums_carry),
	KUNIT_CASE(an_interrupt_carries_as_well),
	KUNIT_CASE(each_slot_has_its_carry),
	KUNIT_CASE(the_least_and_the_greatest_of_few),
	KUNIT_CASE(keys_of_one_hash_are_two),
	KUNIT_CASE(a_full_map_keeps_what_it_has),
	KUNIT_CASE(random_keys_beside_a_model),
	KUNIT_CASE(a_map_without_key_and_value),
	KUNIT_CASE(maps_take_what_they_are_charged),
	{ }
};

static struct kunit_suite map_suite = {
	.name = "argtrace_map",
	.init = stay_on_this_cpu,
	.test_cases = cases,
};
kunit_test_suite(map_suite);
