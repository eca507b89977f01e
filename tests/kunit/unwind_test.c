// SPDX-License-Identifier: GPL-2.0-only
/* Tables of unwinding: what is refused, and which rule an instruction has. */
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/limits.h>
#include <linux/mman.h>
#include <linux/uaccess.h>

#include "arch/user.h"
#include "base/memory.h"
#include "mapping/unwind.h"
#include "user_fixtures.h"

static const struct argtrace_unwind_rule good = {
	.cfa = ARGTRACE_CFA_REGISTER, .reg = 7, .ra = ARGTRACE_RA_MEMORY, .offset = 8, .ra_at = -1,
};

static struct argtrace_unwind_table *make(struct kunit *test, const struct argtrace_unwind_row *rows, u32 nr_rows,
					  const struct argtrace_unwind_rule *rules, u32 nr_rules)
{
	const struct argtrace_unwind from = {
		.nr_rows = nr_rows,
		.nr_rules = nr_rules,
		.rows = user_copy(test, rows, nr_rows * sizeof(*rows)),
		.rules = user_copy(test, rules, nr_rules * sizeof(*rules)),
	};

	return argtrace_unwind_create(&from);
}

static void rows_have_rules(struct kunit *test)
{
	static const struct argtrace_unwind_row rows[] = {
		{ 0x1003, 0 }, { 0x1004, 1 }, { 0x1080, 0 }, { 0x1081, ARGTRACE_UNWIND_NONE }, { 0x9000, 1 }, { 0x9100, ARGTRACE_UNWIND_NONE },
	};
	struct argtrace_unwind_rule rules[] = { good, good };
	const u64 before = argtrace_memory_used();
	struct argtrace_unwind_table *table;

	rules[1].offset = 16;
	table = make(test, rows, ARRAY_SIZE(rows), rules, ARRAY_SIZE(rules));
	KUNIT_ASSERT_FALSE(test, IS_ERR(table));
	KUNIT_EXPECT_NULL(test, argtrace_unwind_find(table, 0));
	KUNIT_EXPECT_NULL(test, argtrace_unwind_find(table, 0xfff));
	KUNIT_EXPECT_NULL(test, argtrace_unwind_find(table, 0x1002));
	KUNIT_EXPECT_PTR_EQ(test, argtrace_unwind_find(table, 0x1003), &table->rules[0]);
	KUNIT_EXPECT_PTR_EQ(test, argtrace_unwind_find(table, 0x1004), &table->rules[1]);
	KUNIT_EXPECT_PTR_EQ(test, argtrace_unwind_find(table, 0x107f), &table->rules[1]);
	KUNIT_EXPECT_PTR_EQ(test, argtrace_unwind_find(table, 0x1080), &table->rules[0]);
	KUNIT_EXPECT_NULL(test, argtrace_unwind_find(table, 0x1081));
	KUNIT_EXPECT_NULL(test, argtrace_unwind_find(table, 0x8fff));
	KUNIT_EXPECT_PTR_EQ(test, argtrace_unwind_find(table, 0x9000), &table->rules[1]);
	KUNIT_EXPECT_PTR_EQ(test, argtrace_unwind_find(table, 0x90ff), &table->rules[1]);
	KUNIT_EXPECT_NULL(test, argtrace_unwind_find(table, 0x9100));
	KUNIT_EXPECT_NULL(test, argtrace_unwind_find(table, 1ull << 40));
	KUNIT_EXPECT_NULL(test, argtrace_unwind_find(table, U64_MAX));
	argtrace_unwind_free(table);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);
}

/* Every offset of a table with many rows in a bucket, and with buckets without rows. */
static void every_offset_is_found(struct kunit *test)
{
	enum { ROWS = 700, END = 0x8000 };
	struct argtrace_unwind_row *rows = kunit_kcalloc(test, ROWS, sizeof(*rows), GFP_KERNEL);
	struct argtrace_unwind_rule rules[3] = { good, good, good };
	struct argtrace_unwind_table *table;
	u32 offset = 5, i, row = 0;

	KUNIT_ASSERT_NOT_NULL(test, rows);
	for (i = 0; i < ROWS; i++) {
		rows[i] = (struct argtrace_unwind_row){ offset, i % 4 == 3 ? ARGTRACE_UNWIND_NONE : i % 3 };
		offset += i % 50 ? 1 + i % 7 : 900;
	}
	table = make(test, rows, ROWS, rules, 3);
	KUNIT_ASSERT_FALSE(test, IS_ERR(table));
	for (offset = 0; offset < rows[ROWS - 1].offset + 1; offset++) {
		const struct argtrace_unwind_rule *expected = NULL;

		while (row + 1 < ROWS && rows[row + 1].offset <= offset)
			row++;
		if (offset >= rows[0].offset && rows[row].rule != ARGTRACE_UNWIND_NONE)
			expected = &table->rules[rows[row].rule];
		if (argtrace_unwind_find(table, offset) != expected)
			KUNIT_FAIL(test, "offset %x", offset);
	}
	argtrace_unwind_free(table);
}

static void odd_tables_are_refused(struct kunit *test)
{
	static const struct argtrace_unwind_row descending[] = { { 8, 0 }, { 7, 0 } };
	static const struct argtrace_unwind_row twice[] = { { 8, 0 }, { 8, 0 } };
	static const struct argtrace_unwind_row beyond[] = { { 8, 1 } };
	static const struct argtrace_unwind_row row[] = { { 8, 0 } };
	const u64 before = argtrace_memory_used();
	struct argtrace_unwind_rule rule;
	u32 i;

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(make(test, descending, 2, &good, 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(make(test, twice, 2, &good, 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(make(test, beyond, 1, &good, 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(make(test, row, 0, &good, 1)), -EINVAL);
	for (i = 0; i < 20; i++) {
		rule = good;
		switch (i) {
		case 0: rule.cfa = 0; break;
		case 1: rule.cfa = 8; break;
		case 2: rule.reg = ARGTRACE_USER_REGS; break;
		case 3: rule.ra = 0; break;
		case 4: rule.ra = 6; break;
		case 5: rule.reserved = 1; break;
		case 6: rule.saved = 1 << ARGTRACE_USER_SAVED; break;
		case 7: rule.by_frame = 1; break;
		case 8: rule.at[0] = 1; break;
		case 9: rule.saved = 1; rule.at[10] = 1; break;
		case 10: rule.add = 1; break;
		case 11: rule.ra = ARGTRACE_RA_REGISTER; rule.ra_at = ARGTRACE_USER_REGS; break;
		case 12: rule.cfa = ARGTRACE_CFA_PLT; rule.add = 16; break;
		case 13: rule.cfa = ARGTRACE_CFA_SIGNAL; break;
		case 14: rule.cfa = ARGTRACE_CFA_THREAD; rule.saved = 1; rule.at[0] = 1; break;
		case 15: rule.cfa = ARGTRACE_CFA_THREAD; rule.at[ARGTRACE_USER_THREAD_OFFSETS] = 1; break;
		case 16: rule.cfa = ARGTRACE_CFA_CALLBACK; rule.at[ARGTRACE_USER_THREAD_OFFSETS + 1] = 1; break;
		case 17: rule.cfa = ARGTRACE_CFA_DEPTH; rule.at[2] = 1; break;
		case 18: rule.cfa = ARGTRACE_CFA_CALLBACK; rule.ra = ARGTRACE_RA_BESIDE; rule.ra_at = 0; break;
		case 19: rule.cfa = ARGTRACE_CFA_THREAD; rule.ra = ARGTRACE_RA_BESIDE; break;
		}
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(make(test, row, 1, &rule, 1)), -EINVAL, "rule %u", i);
	}
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);
}

static void rules_for_other_stacks_have_offsets(struct kunit *test)
{
	static const struct argtrace_unwind_row row[] = { { 8, 3 } };
	struct argtrace_unwind_rule rules[] = { good, good, good, good };
	struct argtrace_unwind_table *table;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		rules[i].at[0] = S16_MIN;
		rules[i].at[1] = S16_MAX;
		rules[i].add = -1;
	}
	rules[0].cfa = ARGTRACE_CFA_DEPTH;
	rules[1].cfa = ARGTRACE_CFA_THREAD;
	rules[1].at[ARGTRACE_USER_THREAD_OFFSETS - 1] = 1;
	rules[2].cfa = ARGTRACE_CFA_CALLBACK;
	rules[2].at[ARGTRACE_USER_THREAD_OFFSETS] = 1;
	rules[3] = rules[1];
	rules[3].ra = ARGTRACE_RA_BESIDE;
	rules[3].ra_at = 0;
	rules[3].at[ARGTRACE_USER_THREAD_OFFSETS] = ARGTRACE_USER_HAS_LINK;
	table = make(test, row, 1, rules, ARRAY_SIZE(rules));
	KUNIT_ASSERT_FALSE(test, IS_ERR(table));
	KUNIT_EXPECT_PTR_EQ(test, argtrace_unwind_find(table, 8), &table->rules[3]);
	argtrace_unwind_free(table);
}

static void too_much_is_refused(struct kunit *test)
{
	const struct argtrace_unwind rows = { .nr_rows = ARGTRACE_UNWIND_ROWS_MAX + 1 };
	const struct argtrace_unwind rules = { .nr_rows = 1, .nr_rules = ARGTRACE_UNWIND_RULES_MAX + 1 };
	const struct argtrace_unwind nowhere = { .nr_rows = 1, .nr_rules = 1, .rows = 16, .rules = 16 };
	const u64 before = argtrace_memory_used();

	user_memory(test);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(argtrace_unwind_create(&rows)), -E2BIG);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(argtrace_unwind_create(&rules)), -E2BIG);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(argtrace_unwind_create(&nowhere)), -EFAULT);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);
}

static void no_table_is_a_table(struct kunit *test)
{
	const struct argtrace_unwind none = { };
	struct argtrace_unwind_table *table = argtrace_unwind_create(&none);

	KUNIT_ASSERT_FALSE(test, IS_ERR(table));
	KUNIT_EXPECT_EQ(test, table->nr_rows, 0);
	KUNIT_EXPECT_NULL(test, argtrace_unwind_find(table, 0));
	argtrace_unwind_free(table);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(rows_have_rules),
	KUNIT_CASE(every_offset_is_found),
	KUNIT_CASE(odd_tables_are_refused),
	KUNIT_CASE(rules_for_other_stacks_have_offsets),
	KUNIT_CASE(too_much_is_refused),
	KUNIT_CASE(no_table_is_a_table),
	{ }
};

static struct kunit_suite suite = { .name = "argtrace_unwind", .test_cases = cases };

kunit_test_suite(suite);
