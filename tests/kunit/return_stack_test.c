// SPDX-License-Identifier: GPL-2.0-only
/* The stack of calls whose return is followed: our frame, what is kept below it, and where there is no room for it. */
#include <kunit/test.h>
#include <linux/irq_work.h>
#include <linux/sched/task_stack.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "machine.h"
#include "return_fixtures.h"
#include "ring_read.h"
#include "source/returns/returns.h"
#include "targets.h"

static void nest_in_interrupt(struct irq_work *work)
{
	target_recursive(39);
}

/* Stacks of interrupts are smaller, and a call that is not followed returns all the same. */
static void deep_in_an_interrupt(struct kunit *test)
{
	struct argtrace_session *session = follow(test, make_return_probe(test, target_recursive, 1, ARGTRACE_TYPE_U64, 8, 0), 0);
	struct irq_work work = IRQ_WORK_INIT_HARD(nest_in_interrupt);
	struct argtrace_return_counts counts;

	irq_work_queue(&work);
	irq_work_sync(&work);
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, hits(&counts), 40);
	KUNIT_EXPECT_EQ(test, counts.counts.records + counts.unfollowed[ARGTRACE_UNFOLLOWED_STACK], 40);
	KUNIT_EXPECT_GE(test, counts.counts.records, 6);
	KUNIT_EXPECT_EQ(test, this_cpu_read(argtrace_return_depth), 0);
}

/* Leaves no more than this of the stack before it calls. */
static noinline u64 call_with_stack_left_for(unsigned long left, u64 a)
{
	volatile u8 used[256];

	used[0] = 0;
	if ((unsigned long)used - (unsigned long)task_stack_page(current) > left)
		return call_with_stack_left_for(left, a) + used[0];
	return call_value(a, 2, 3) + used[0];
}

static u64 call_with_stack_left(unsigned long left)
{
	return call_with_stack_left_for(left, 1);
}

static void low_stack(struct kunit *test)
{
	struct argtrace_session *session = follow(test, make_return_probe(test, target_value, 3, ARGTRACE_TYPE_U64, 8, 0), 0);
	struct argtrace_return_counts counts;

	KUNIT_EXPECT_EQ(test, call_with_stack_left(THREAD_SIZE / 2 - 512), value_of(1, 2, 3));
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, counts.unfollowed[ARGTRACE_UNFOLLOWED_STACK], 1);
	KUNIT_EXPECT_EQ(test, hits(&counts), 1);
	KUNIT_EXPECT_EQ(test, call_with_stack_left(THREAD_SIZE / 2 + 1024), value_of(1, 2, 3));
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, counts.counts.records, 1);
	KUNIT_EXPECT_EQ(test, hits(&counts), 2);
}

static u64 save_stack(void *entries)
{
	return stack_trace_save(entries, 32, 0);
}

static noinline u64 call_save_stack(unsigned long *entries)
{
	const u64 count = target_calls(save_stack, entries);

	barrier();
	return count;
}

/* The place of the function among those that have called; -1: it is not there. */
static int place_on_stack(const unsigned long *entries, u64 count, const void *function)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (is_in_function(entries[i], function))
			return i;
	}
	return -1;
}

/* Whoever looks at the stack of the task sees the function, its caller, and all above. */
static void the_stack_is_whole(struct kunit *test)
{
	unsigned long plain[32], followed[32];
	const u64 nr_plain = call_save_stack(plain) - 1;
	struct argtrace_session *session = follow(test, make_return_probe(test, target_calls, 2, ARGTRACE_TYPE_U64, 8, 0), 0);
	const u64 nr_followed = call_save_stack(followed) - 1;
	const int at_plain = place_on_stack(plain, nr_plain, call_save_stack);
	const int at_followed = place_on_stack(followed, nr_followed, call_save_stack);

	KUNIT_ASSERT_EQ(test, read_records(test, session, NULL, 0), 1);
	KUNIT_ASSERT_GE(test, at_plain, 0);
	/* On x86 the trampoline has a frame of its own. */
	KUNIT_ASSERT_GE(test, at_followed, at_plain);
	KUNIT_EXPECT_LT(test, place_on_stack(followed, nr_followed, target_calls), at_followed);
	/* Above the caller both are the same; the caller of that is this function, at two places. */
	KUNIT_EXPECT_EQ(test, nr_followed - at_followed, nr_plain - at_plain);
	KUNIT_EXPECT_MEMEQ(test, (const u8 *)&followed[at_followed + 2], (const u8 *)&plain[at_plain + 2],
			   (nr_plain - at_plain - 2) * sizeof(*plain));
}

/* Below the frame are what is kept and then the stack arguments; ftrace has called us in each of its ways. */
static void values_kept_beside_stack_arguments(struct kunit *test)
{
	static const char text[] = "some text that is kept";
	struct ftrace_ops ops = { .func = do_nothing, .flags = FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED };
	struct made_probe *probe = make_text_probe(test, target_many, 0, 0, 4, 1);
	struct argtrace_session *session = follow(test, probe, ARGTRACE_FORMAT_NO_CALLER);
	struct seen seen;
	u32 i;

	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&ops, (unsigned long)target_many, 0, 1), 0);
	for (i = 0; i < 2; i++) {
		const u64 value = MANY + ((u64)text - 1) * MANY_STEP;

		if (i)
			KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
		KUNIT_EXPECT_EQ(test, target_many((u64)text, 2, 3, 4, 5, 6, 7, 8, 9, 10), value);
		if (i && !MACHINE_FOLLOWS_BESIDE_OTHERS) {
			KUNIT_EXPECT_EQ(test, return_counts(session, 1).unfollowed[ARGTRACE_UNFOLLOWED_TAKEN], 1);
			continue;
		}
		KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
		KUNIT_EXPECT_EQ(test, *(u64 *)(seen.data + 8), value);
		KUNIT_EXPECT_EQ(test, *(u64 *)(seen.data + 16), 0);
		KUNIT_EXPECT_EQ(test, *(u16 *)(seen.data + 24), sizeof(text) - 1);
		KUNIT_EXPECT_MEMEQ(test, seen.data + 26, text, sizeof(text) - 1);
	}
	unregister_ftrace_function(&ops);
	ftrace_free_filter(&ops);
}

static char long_text[501];

/* A call whose values do not fit the upper half of the stack is not followed; one without values would be. */
static void values_on_a_low_stack(struct kunit *test)
{
	struct argtrace_session *session;
	struct argtrace_return_counts counts;
	u32 i;

	memset(long_text, 'x', sizeof(long_text));
	for (i = 0; i < 2; i++) {
		session = follow(test, make_text_probe(test, target_value, 0, 3, 0, i ? 7 : 1), 0);
		KUNIT_EXPECT_EQ(test, call_with_stack_left_for(THREAD_SIZE / 2 + 3072, (u64)long_text),
				value_of((u64)long_text, 2, 3));
		counts = return_counts(session, 1);
		KUNIT_EXPECT_EQ_MSG(test, counts.counts.records, !i, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, counts.unfollowed[ARGTRACE_UNFOLLOWED_STACK], i, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, hits(&counts), 1, "%u", i);
		session_remove_all(session);
	}
}

static void nest_with_text(struct irq_work *work)
{
	target_value((u64)long_text, 2, 3);
}

/* There they count for as much of the depth as they take of the stack. */
static void values_in_an_interrupt(struct kunit *test)
{
	struct irq_work work = IRQ_WORK_INIT_HARD(nest_with_text);
	struct argtrace_session *session;
	struct argtrace_return_counts counts;
	u32 i;

	memset(long_text, 'x', sizeof(long_text));
	for (i = 0; i < 2; i++) {
		session = follow(test, make_text_probe(test, target_value, 0, 3, 0, i ? 7 : 2), 0);
		irq_work_queue(&work);
		irq_work_sync(&work);
		counts = return_counts(session, 1);
		KUNIT_EXPECT_EQ_MSG(test, counts.counts.records, !i, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, counts.unfollowed[ARGTRACE_UNFOLLOWED_STACK], i, "%u", i);
		KUNIT_EXPECT_EQ(test, this_cpu_read(argtrace_return_depth), 0);
		session_remove_all(session);
	}
}

static struct kunit_case return_stack_cases[] = {
	KUNIT_CASE(values_kept_beside_stack_arguments),
	KUNIT_CASE(values_in_an_interrupt),
	KUNIT_CASE(deep_in_an_interrupt),
	KUNIT_CASE(low_stack),
	KUNIT_CASE(the_stack_is_whole),
	KUNIT_CASE(values_on_a_low_stack),
	{ }
};

static struct kunit_suite return_stack_suite = {
	.name = "argtrace_return_stack",
	.init = stay_on_this_cpu,
	.test_cases = return_stack_cases,
};
kunit_test_suite(return_stack_suite);
