// SPDX-License-Identifier: GPL-2.0-only
/* Fetching arguments from registers and from the stack. */
#include <kunit/test.h>
#include <linux/ftrace.h>
#include <linux/vmalloc.h>

#include "machine.h"
#include "read/operands.h"
#include "sink/layout.h"

/* Registers as a trampoline of ftrace has saved them. */
static struct argtrace_regs *make_regs(struct kunit *test, unsigned long stack)
{
	struct argtrace_regs *regs = kunit_kzalloc(test, sizeof(*regs), GFP_KERNEL);
	u64 i;

	KUNIT_ASSERT_NOT_NULL(test, regs);
	for (i = 0; i < ARGTRACE_REG_COUNT; i++)
		machine_set_argument(regs, i, (i + 1) * 0x1111111111111111);
	/* Registers that hold no argument must not be taken for one. */
	machine_set_others(regs, 0xeeeeeeeeeeeeeeee);
	machine_set_stack(regs, (const void *)stack);
	return regs;
}

static void registers_in_the_order_of_the_abi(struct kunit *test)
{
	struct argtrace_regs *regs = make_regs(test, 0);
	u64 i;

	for (i = 0; i < ARGTRACE_REG_COUNT; i++)
		KUNIT_EXPECT_EQ(test, argtrace_regs_argument(regs, i), (i + 1) * 0x1111111111111111);
}

/* As a callback does it, on one CPU: the guard is that CPU's. */
static unsigned int fetch_stack(const struct argtrace_regs *regs, unsigned int offset, u8 *to, unsigned int size)
{
	unsigned int got;

	preempt_disable();
	got = argtrace_fetch_stack(regs, offset, to, size);
	preempt_enable();
	return got;
}

static void every_size_off_the_stack(struct kunit *test)
{
	u8 stack[64], to[72];
	struct argtrace_regs *regs = make_regs(test, (unsigned long)stack);
	u32 i, size, offset;

	for (i = 0; i < sizeof(stack); i++)
		stack[i] = 0x80 + i;
	for (offset = 8; offset < sizeof(stack); offset += 8) {
		for (size = 1; size <= sizeof(stack) - offset; size++) {
			memset(to, 0x55, sizeof(to));
			fetch_stack(regs, offset, to, size);
			KUNIT_EXPECT_MEMEQ(test, to, stack + offset, size);
			KUNIT_EXPECT_EQ_MSG(test, to[size], 0x55, "%u bytes at %u: one more written",
					    size, offset);
		}
	}
}

/* The return address is the last word of a page, and no page comes after it. */
static void nothing_there(struct kunit *test)
{
	u8 *page = vmalloc(PAGE_SIZE), to[40];

	KUNIT_ASSERT_NOT_NULL(test, page);
	memset(page, 0xaa, PAGE_SIZE);
	memset(to, 0x55, sizeof(to));
	KUNIT_EXPECT_EQ(test, fetch_stack(make_regs(test, (unsigned long)page + PAGE_SIZE - 8), 8, to, 32), 0);
	KUNIT_EXPECT_NULL(test, memchr_inv(to, 0, 32));
	KUNIT_EXPECT_EQ(test, to[32], 0x55);
	vfree(page);
}

static void ends_in_the_middle(struct kunit *test)
{
	u8 *page = vmalloc(PAGE_SIZE), to[72], *start = page + PAGE_SIZE - 24;

	KUNIT_ASSERT_NOT_NULL(test, page);
	memset(page, 0xaa, PAGE_SIZE);
	memset(to, 0x55, sizeof(to));
	/* 16 bytes are there, then vmalloc's guard page. */
	KUNIT_EXPECT_EQ(test, fetch_stack(make_regs(test, (unsigned long)start), 8, to, 64), 16);
	KUNIT_EXPECT_MEMEQ(test, to, start + 8, 16);
	KUNIT_EXPECT_NULL(test, memchr_inv(to + 16, 0, 48));
	KUNIT_EXPECT_EQ(test, to[64], 0x55);
	vfree(page);
}

/* The fault handler can be traced and would call us again, so only the page of the stack pointer is read, which cannot fault. */
static void nothing_that_may_fault_is_read_inside_the_guard(struct kunit *test)
{
	u8 *pages = vmalloc(2 * PAGE_SIZE), *stack = pages + PAGE_SIZE - 24, to[40];
	struct argtrace_regs *regs = make_regs(test, (unsigned long)stack);
	unsigned int got;
	bool entered, again;

	KUNIT_ASSERT_NOT_NULL(test, pages);
	memset(pages, 0xaa, 2 * PAGE_SIZE);
	memset(to, 0x55, sizeof(to));
	preempt_disable();
	entered = argtrace_recursion_enter();
	got = argtrace_fetch_stack(regs, 8, to, 32);
	again = argtrace_recursion_enter();
	if (entered)
		argtrace_recursion_leave();
	preempt_enable();
	KUNIT_EXPECT_TRUE(test, entered);
	KUNIT_EXPECT_FALSE(test, again);
	KUNIT_EXPECT_EQ(test, got, 16);
	KUNIT_EXPECT_MEMEQ(test, to, stack + 8, 16);
	KUNIT_EXPECT_NULL(test, memchr_inv(to + 16, 0, 16));
	KUNIT_EXPECT_EQ(test, to[32], 0x55);

	KUNIT_EXPECT_EQ(test, fetch_stack(regs, 8, to, 32), 32);
	KUNIT_EXPECT_MEMEQ(test, to, stack + 8, 32);
	vfree(pages);
}

static void straight_only_in_the_page_of_the_stack_pointer(struct kunit *test)
{
	const unsigned long page = 0xffffc90000010000;
	unsigned long left;
	u16 end;

	/* The first word is read whether or not an argument needs it. */
	for (left = 8; left <= 64; left += 8) {
		struct argtrace_regs *regs = make_regs(test, page + PAGE_SIZE - left);

		for (end = 16; end <= 64; end += 8) {
			struct argtrace_step step = { .loc = ARGTRACE_LOC_STACK, .offset = end - 8, .size = 8, .at = 24 };
			struct argtrace_stack_word word;
			struct argtrace_layout layout = { };

			argtrace_plan_layout(&layout, &step, 1, &word, 32, 32);
			KUNIT_EXPECT_EQ(test, argtrace_stack_place(regs) <= layout.stack_limit, end <= left);
		}
	}
}

static struct kunit_case fetch_cases[] = {
	KUNIT_CASE(registers_in_the_order_of_the_abi),
	KUNIT_CASE(every_size_off_the_stack),
	KUNIT_CASE(nothing_there),
	KUNIT_CASE(ends_in_the_middle),
	KUNIT_CASE(nothing_that_may_fault_is_read_inside_the_guard),
	KUNIT_CASE(straight_only_in_the_page_of_the_stack_pointer),
	{ }
};

static struct kunit_suite fetch_suite = {
	.name = "argtrace_fetch",
	.test_cases = fetch_cases,
};
kunit_test_suite(fetch_suite);
