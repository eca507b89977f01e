// SPDX-License-Identifier: GPL-2.0-only
/* Address -> probe, as callbacks look it up. */
#include <kunit/test.h>
#include <linux/log2.h>
#include <linux/mm.h>

#include "base/memory.h"
#include "probe/table.h"

#define BASE	0xffffffff81000000ul

KUNIT_DEFINE_ACTION_WRAPPER(free_plans_action, kvfree, const void *);

/* Plans with nothing but an address, which is all that the table needs. */
static struct argtrace_plan **make_plans(struct kunit *test, u32 count)
{
	struct argtrace_plan **by_id = kunit_kcalloc(test, count, sizeof(*by_id), GFP_KERNEL);
	struct argtrace_plan *plans = kvcalloc(count, sizeof(*plans), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, by_id);
	KUNIT_ASSERT_NOT_NULL(test, plans);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_plans_action, plans), 0);
	for (i = 0; i < count; i++)
		by_id[i] = &plans[i];
	return by_id;
}

KUNIT_DEFINE_ACTION_WRAPPER(free_table_action, argtrace_table_free, struct argtrace_table *);

static struct argtrace_table *make_table(struct kunit *test, struct argtrace_plan **plans,
					 u32 count)
{
	struct argtrace_table *table = argtrace_table_create(ARGTRACE_LANE_PLAIN, plans, count, NULL, 0);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, table);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_table_action, table), 0);
	return table;
}

/* Each function takes one for every address that ftrace may report for it. */
#define KEYS	(ARGTRACE_FENTRY_SKEW ? 2 : 1)

static unsigned long slots_of(const struct argtrace_table *table)
{
	return table->mask / sizeof(struct argtrace_slot) + 1;
}

static unsigned long slots_taken(const struct argtrace_table *table)
{
	unsigned long i, taken = 0;

	for (i = 0; i < slots_of(table); i++)
		taken += !!table->slots[i].ip;
	return taken;
}

static void empty_table(struct kunit *test)
{
	struct argtrace_table *table = make_table(test, NULL, 0);

	KUNIT_EXPECT_EQ(test, slots_taken(table), 0);
	KUNIT_EXPECT_NULL(test, argtrace_table_lookup(table, BASE));
	KUNIT_EXPECT_NULL(test, argtrace_table_lookup(table, BASE + ARGTRACE_FENTRY_SKEW));
	KUNIT_EXPECT_NULL(test, argtrace_table_lookup(table, ~0ul));
}

/* A function is found at its symbol and where ftrace says it begins behind an ENDBR, nowhere else. */
static void found_at_symbol_and_behind_endbr(struct kunit *test)
{
	struct argtrace_plan **plans = make_plans(test, 1);
	unsigned long low;
	long off;

	/* Whatever its alignment. */
	for (low = 0; low < 16; low++) {
		struct argtrace_table *table;

		plans[0]->addr = BASE + 0x1230 + low;
		table = make_table(test, plans, 1);
		for (off = -16; off <= 16; off++) {
			struct argtrace_plan *found =
				argtrace_table_lookup(table, plans[0]->addr + off);

			if (off == 0 || off == ARGTRACE_FENTRY_SKEW)
				KUNIT_EXPECT_PTR_EQ_MSG(test, found, plans[0], "%lx%+ld",
							plans[0]->addr, off);
			else
				KUNIT_EXPECT_NULL_MSG(test, found, "%lx%+ld", plans[0]->addr, off);
		}
	}
}

static void many_functions(struct kunit *test)
{
	const u32 count = 5000;
	struct argtrace_plan **plans = make_plans(test, count);
	struct argtrace_table *table;
	unsigned long addr;
	u32 i;

	/* Spaced like functions: 16 bytes apart or more, some of them not aligned. */
	for (i = 0, addr = BASE; i < count; i++, addr += 16 + 16 * (i % 7) + (i % 5 == 0 ? 14 : 2))
		plans[i]->addr = addr;
	table = make_table(test, plans, count);
	for (i = 0; i < count; i++) {
		KUNIT_EXPECT_PTR_EQ(test, argtrace_table_lookup(table, plans[i]->addr), plans[i]);
		KUNIT_EXPECT_PTR_EQ(test, plans[i],
				    argtrace_table_lookup(table, plans[i]->addr +
								 ARGTRACE_FENTRY_SKEW));
		KUNIT_EXPECT_NULL(test, argtrace_table_lookup(table, plans[i]->addr + 1));
	}
	for (i = 0; i < 100000; i++)
		KUNIT_EXPECT_NULL(test, argtrace_table_lookup(table, 0xffffffffc0000000ul + i * 16));
}

static void at_most_half_full(struct kunit *test)
{
	struct argtrace_plan **plans = make_plans(test, 300);
	u32 count, i;

	for (i = 0; i < 300; i++)
		plans[i]->addr = BASE + i * 32 + (i % 3 == 0 ? 12 : 0);
	for (count = 0; count < 300; count++) {
		struct argtrace_table *table = argtrace_table_create(ARGTRACE_LANE_PLAIN, plans, count, NULL, 0);

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, table);
		KUNIT_EXPECT_TRUE(test, is_power_of_2(slots_of(table)));
		KUNIT_EXPECT_EQ(test, slots_taken(table), KEYS * count);
		KUNIT_EXPECT_LE_MSG(test, 2 * slots_taken(table), slots_of(table), "%u functions",
				    count);
		argtrace_table_free(table);
	}
}

/* Fills `plans` with addresses that all belong into the slot `slot` of a table for so many. */
static void choose_colliding(struct argtrace_plan **plans, u32 count,
			     const struct argtrace_table *like, unsigned long slot)
{
	unsigned long addr = BASE;
	u32 i;

	for (i = 0; i < count; addr += 16) {
		if (argtrace_table_hash(like, addr) == slot)
			plans[i++]->addr = addr;
	}
}

static void all_in_one_bucket(struct kunit *test)
{
	const u32 count = 64;
	struct argtrace_plan **plans = make_plans(test, count);
	struct argtrace_table *table;
	u32 i;

	for (i = 0; i < count; i++)
		plans[i]->addr = BASE + 16 * i;
	table = make_table(test, plans, count);

	/* The search begins in the last slot, so that all but the first wrap around to the beginning. */
	choose_colliding(plans, count, table, table->mask);
	table = make_table(test, plans, count);
	for (i = 0; i < count; i++) {
		KUNIT_EXPECT_EQ(test, argtrace_table_hash(table, plans[i]->addr), table->mask);
		KUNIT_EXPECT_PTR_EQ(test, argtrace_table_lookup(table, plans[i]->addr), plans[i]);
		KUNIT_EXPECT_PTR_EQ(test, plans[i],
				    argtrace_table_lookup(table, plans[i]->addr +
								 ARGTRACE_FENTRY_SKEW));
	}

	/* An address that hashes there but is absent: the search ends at the first empty slot. */
	i = count - 1;
	do
		plans[i]->addr += 16;
	while (argtrace_table_hash(table, plans[i]->addr) != table->mask);
	KUNIT_EXPECT_NULL(test, argtrace_table_lookup(table, plans[i]->addr));
}

/* Addresses that only a wild descriptor has. */
static void addresses_of_no_function(struct kunit *test)
{
	const unsigned long addrs[] = {
		0, 0x1000, TASK_SIZE_MAX - 4, 1ul << 62, 1ul << 63, PAGE_OFFSET,
		0xffffffffff600000ul, MODULES_END - 2, MODULES_END, ~0ul, ~0ul - 3,
	};
	struct argtrace_plan **plans = make_plans(test, ARRAY_SIZE(addrs));
	struct argtrace_table *table;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(addrs); i++) {
		KUNIT_EXPECT_FALSE_MSG(test, argtrace_calls_at_symbol(addrs[i]), "%lx", addrs[i]);
		plans[i]->addr = addrs[i] ?: 1;
	}
	table = make_table(test, plans, ARRAY_SIZE(addrs));
	for (i = 0; i < ARRAY_SIZE(addrs); i++)
		KUNIT_EXPECT_PTR_EQ(test, argtrace_table_lookup(table, plans[i]->addr), plans[i]);
}

/* The distance of a key from the slot where its search begins. */
static unsigned long steps_to(const struct argtrace_table *table, unsigned long ip)
{
	unsigned long at = argtrace_table_hash(table, ip), steps = 0;

	for (; argtrace_table_slot(table, at)->ip != ip; at = argtrace_table_next(table, at))
		steps++;
	return steps;
}

/* With thousands of functions, the address that ftrace reports is rarely more than one step away and never far. */
static void what_is_looked_for_lies_near(struct kunit *test)
{
	const u32 count = 15000;
	struct argtrace_plan **plans = make_plans(test, count);
	const struct argtrace_table *table;
	unsigned long addr;
	u32 i, far = 0;

	/* There is no CALL at the symbol, so ftrace is expected to report the address after an ENDBR64. */
	for (i = 0, addr = 0xffffffffe0000000ul; i < count; i++, addr += 16 * (1 + i * 7 % 23))
		plans[i]->addr = addr;
	KUNIT_ASSERT_FALSE(test, argtrace_calls_at_symbol(plans[0]->addr));
	table = make_table(test, plans, count);
	for (i = 0; i < count; i++) {
		unsigned long steps = steps_to(table, plans[i]->addr + ARGTRACE_FENTRY_SKEW);

		far += steps > 1;
		KUNIT_EXPECT_LE(test, steps, 5);
	}
	KUNIT_EXPECT_LT(test, far, count / 100);
}

static void removed_ones_are_left_out(struct kunit *test)
{
	struct argtrace_plan **plans = make_plans(test, 8), *more;
	struct argtrace_table *table;
	u32 i;

	for (i = 0; i < 8; i++) {
		plans[i]->addr = BASE + 64 * i;
		plans[i]->removed = i % 2;
	}
	/* As in a catalog, no probe has the id 0. */
	more = plans[0];
	plans[0] = NULL;
	table = argtrace_table_create(ARGTRACE_LANE_PLAIN, plans, 8, &more, 1);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, table);
	KUNIT_EXPECT_EQ(test, slots_taken(table), 4 * KEYS);
	KUNIT_EXPECT_PTR_EQ(test, argtrace_table_lookup(table, BASE), more);
	for (i = 1; i < 8; i++)
		KUNIT_EXPECT_PTR_EQ(test, argtrace_table_lookup(table, BASE + 64 * i),
				    i % 2 ? NULL : plans[i]);
	argtrace_table_free(table);
}

static void memory_is_charged_and_given_back(struct kunit *test)
{
	struct argtrace_plan **plans = make_plans(test, 100);
	const u64 before = argtrace_memory_used();
	struct argtrace_table *table;
	u64 left;
	u32 i;

	for (i = 0; i < 100; i++)
		plans[i]->addr = BASE + 16 * i;
	table = argtrace_table_create(ARGTRACE_LANE_PLAIN, plans, 100, NULL, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, table);
	KUNIT_EXPECT_GE(test, argtrace_memory_used() - before,
			slots_of(table) * sizeof(table->slots[0]));
	argtrace_table_free(table);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);

	left = argtrace_memory_limit() - argtrace_memory_used();
	KUNIT_ASSERT_EQ(test, argtrace_memory_charge(left - 100), 0);
	table = argtrace_table_create(ARGTRACE_LANE_PLAIN, plans, 100, NULL, 0);
	argtrace_memory_uncharge(left - 100);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(table), -ENOSPC);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);
	argtrace_table_free(IS_ERR(table) ? NULL : table);
}

/* Instructions of user code are where they are, and the next may be as near as an ENDBR is long. */
static void user_places_are_found_where_they_are(struct kunit *test)
{
	struct argtrace_plan **plans = make_plans(test, 4);
	struct argtrace_table *table;
	unsigned long off;
	u32 i;

	for (i = 0; i < 4; i++) {
		plans[i]->addr = ARGTRACE_USER_PLACE(1, 0x1563 + 4 * i);
		plans[i]->lane = ARGTRACE_LANE_USER;
	}
	table = argtrace_table_create(ARGTRACE_LANE_USER, plans, 4, NULL, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, table);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_table_action, table), 0);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_PTR_EQ(test, argtrace_table_lookup(table, plans[i]->addr), plans[i]);
		for (off = 1; off < 4; off++)
			KUNIT_EXPECT_NULL(test, argtrace_table_lookup(table, plans[i]->addr + off));
	}
	KUNIT_EXPECT_NULL(test, argtrace_table_lookup(table, plans[3]->addr + 4));
	KUNIT_EXPECT_EQ(test, slots_taken(table), 4);
}

static struct kunit_case table_cases[] = {
	KUNIT_CASE(empty_table),
	KUNIT_CASE(found_at_symbol_and_behind_endbr),
	KUNIT_CASE(user_places_are_found_where_they_are),
	KUNIT_CASE(many_functions),
	KUNIT_CASE(at_most_half_full),
	KUNIT_CASE(all_in_one_bucket),
	KUNIT_CASE(addresses_of_no_function),
	KUNIT_CASE(what_is_looked_for_lies_near),
	KUNIT_CASE(removed_ones_are_left_out),
	KUNIT_CASE(memory_is_charged_and_given_back),
	{ }
};

static struct kunit_suite table_suite = {
	.name = "argtrace_table",
	.test_cases = table_cases,
};
kunit_test_suite(table_suite);
