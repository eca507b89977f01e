// SPDX-License-Identifier: GPL-2.0-only
/* Memory that is brought in, and memory that is not. */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/uaccess.h>

#include "read/bring_in.h"
#include "user_fixtures.h"

static bool is_present(u64 addr)
{
	u64 word;

	return !copy_from_user_nofault(&word, (const void __user *)addr, sizeof(word));
}

static void anonymous_memory_is(struct kunit *test)
{
	const u64 memory = user_memory(test);

	KUNIT_EXPECT_FALSE(test, is_present(memory + PAGE_SIZE));
	KUNIT_EXPECT_TRUE(test, argtrace_bring_in(memory + PAGE_SIZE, 8));
	KUNIT_EXPECT_TRUE(test, is_present(memory + PAGE_SIZE));
	KUNIT_EXPECT_TRUE(test, argtrace_bring_in(memory + PAGE_SIZE, 8));
	/* A word that lies in two pages. */
	KUNIT_EXPECT_TRUE(test, argtrace_bring_in(memory + 4 * PAGE_SIZE - 4, 8));
	KUNIT_EXPECT_TRUE(test, is_present(memory + 3 * PAGE_SIZE));
	KUNIT_EXPECT_TRUE(test, is_present(memory + 4 * PAGE_SIZE));
}

static void what_is_not_mapped_is_not(struct kunit *test)
{
	const u64 end = user_memory(test) + USER_MEMORY;

	KUNIT_EXPECT_FALSE(test, argtrace_bring_in(end, 8));
	KUNIT_EXPECT_FALSE(test, argtrace_bring_in(end - 4, 8));
	KUNIT_EXPECT_FALSE(test, argtrace_bring_in(0, 8));
	KUNIT_EXPECT_FALSE(test, argtrace_bring_in(0xffff888000000000ull, 8));
	KUNIT_EXPECT_FALSE(test, argtrace_bring_in(~0ull, 8));
}

static void what_may_not_be_read_is_not(struct kunit *test)
{
	const unsigned long hidden = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_NONE, MAP_ANONYMOUS | MAP_PRIVATE, 0);

	KUNIT_ASSERT_NE(test, hidden, 0);
	KUNIT_EXPECT_FALSE(test, argtrace_bring_in(hidden, 8));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(anonymous_memory_is),
	KUNIT_CASE(what_is_not_mapped_is_not),
	KUNIT_CASE(what_may_not_be_read_is_not),
	{ }
};

static struct kunit_suite suite = {
	.name = "argtrace_bring_in",
	.test_cases = cases,
};

kunit_test_suite(suite);
