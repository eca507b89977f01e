// SPDX-License-Identifier: GPL-2.0-only
/* Programs of calls whose return is followed: what decides and what is fetched at entry, and at return. */
#include <kunit/test.h>
#include <linux/mman.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "return_fixtures.h"
#include "ring_read.h"
#include "source/returns/returns.h"
#include "targets.h"

/* fprobe_program_test.c and kretprobe_program_test.c have the kernel follow the calls, in suites of their own. */
#ifndef SUITE
#define SUITE	"argtrace_return_program"
#endif

KUNIT_ARRAY_PARAM(clock, session_clocks, describe_clock);

static void filters(struct kunit *test)
{
	/* 10 <= a <= 20 && ret < -12 */
	static const struct argtrace_insn insns[] = {
		{ .source = ARGTRACE_SOURCE_REG, .mask = 0xffffffff, ACCEPT_IF(10, 20) },
		{ RETURN_S32, ACCEPT_IF((u64)S32_MIN, (u64)-13) },
	};
	struct made_probe *probe = make_return_probe(test, target_narrow, 1, ARGTRACE_TYPE_S32, 4, 0);
	const struct argtrace_session_attr *attr = attr_of_clock(test);
	struct argtrace_session *session;
	struct argtrace_return_counts counts;
	struct seen seen;
	u64 words[3];
	s32 a;

	set_filters(probe, insns, 2, 1, 1);
	session = follow_with(test, probe, attr);
	for (a = -5; a < 30; a++)
		KUNIT_ASSERT_EQ(test, target_narrow(a), -a);
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, counts.counts.records, 8);
	KUNIT_EXPECT_EQ(test, counts.counts.filtered, 27);
	KUNIT_EXPECT_EQ(test, counts.counts.faults, 0);
	KUNIT_EXPECT_EQ(test, hits(&counts), 35);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 8);
	memcpy(words, seen.data, sizeof(words));
	KUNIT_EXPECT_EQ(test, (u32)words[2], 13);
	KUNIT_EXPECT_EQ(test, context_of(&seen), 0);
}

static void filter_on_the_duration(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ .source = ARGTRACE_SOURCE_DURATION, .mask = ALL, ACCEPT_IF(20 * NSEC_PER_MSEC, 20 * NSEC_PER_SEC) },
		{ .source = ARGTRACE_SOURCE_DURATION, .mask = ALL, OUT(8), AT_RETURN },
	};
	struct made_probe *probe = make_return_probe(test, target_calls, 2, ARGTRACE_TYPE_U64, 8, 0);
	const struct argtrace_session_attr *attr = attr_of_clock(test);
	struct argtrace_return_counts counts;
	struct argtrace_session *session;
	u64 before, after, long_ones, words[7];
	struct seen seen;
	u32 calls = 0;

	set_filters(probe, insns, 2, 0, 1);
	add_output(probe, ARGTRACE_TYPE_U64, 8);
	session = follow_with(test, probe, attr);
	/* Where the machine stands still meanwhile, any call is a long one: the last of these is none. */
	do {
		before = ktime_get_mono_fast_ns();
		KUNIT_EXPECT_EQ(test, target_calls(sleep_for, NULL), 42);
		after = ktime_get_mono_fast_ns();
	} while (++calls < 10 && after - before >= 20 * NSEC_PER_MSEC);
	counts = return_counts(session, 1);
	long_ones = counts.counts.records;
	KUNIT_EXPECT_LT(test, long_ones, calls);
	KUNIT_EXPECT_EQ(test, counts.counts.filtered, calls - long_ones);
	KUNIT_EXPECT_EQ(test, read_records(test, session, NULL, 0), long_ones);
	before = ktime_get_mono_fast_ns();
	KUNIT_EXPECT_EQ(test, target_calls(sleep_for, (void *)50ul), 42);
	after = ktime_get_mono_fast_ns();
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, counts.counts.records, long_ones + 1);
	KUNIT_EXPECT_EQ(test, counts.counts.filtered, calls - long_ones);
	KUNIT_EXPECT_EQ(test, hits(&counts), calls + 1);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	memcpy(words, seen.data, sizeof(words));
	KUNIT_EXPECT_EQ(test, words[3], 50);
	KUNIT_EXPECT_EQ(test, words[4], 42);
	KUNIT_EXPECT_EQ(test, words[5], 0);
	KUNIT_EXPECT_GE(test, words[6], 49 * NSEC_PER_MSEC);
	/* To a few parts per million, where the clock is not the same. */
	KUNIT_EXPECT_LE(test, words[6], (after - before) + (after - before) / 1000);
}

static u64 write_seven(void *to)
{
	*(u64 *)to = 7;
	strcpy((char *)to + 8, "after");
	return 1;
}

/* Each value is what it was when it was wanted, in the order of the outputs. */
static void values_at_entry_and_return(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .loads = 1, .width = 8, .mask = ALL, OUT(8), AT_RETURN },
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .loads = 1, .width = 8, .mask = ALL, OUT(4) },
		{ .source = ARGTRACE_SOURCE_RETURN, .mask = ALL, OUT(2), AT_RETURN },
		{ .source = ARGTRACE_SOURCE_CONST, .span = 0x10, .loads = 1, .width = 8, .mask = ALL, OUT(4) },
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .offset = { 8 }, .mask = ALL, .action = ARGTRACE_DO_STR, .arg = 16 },
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .offset = { 8 }, .mask = ALL, .action = ARGTRACE_DO_STR, .arg = 16,
		  AT_RETURN },
		{ .source = ARGTRACE_SOURCE_CONST, .span = 0x10, .loads = 1, .width = 8, .mask = ALL, OUT(1), AT_RETURN },
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .mask = ALL, .action = ARGTRACE_DO_MEM, .arg = 3 },
	};
	struct made_probe *probe = make_return_probe(test, target_calls, 0, ARGTRACE_TYPE_U16, 2, 0);
	struct { u64 number; char text[8]; } memory = { 1, "before" };
	static const u8 expected[] = {
		2, 0,				/* what it returns */
		0x48, 0, 0, 0, 0, 0, 0, 0,	/* which outputs could not be read */
		7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0,
		6, 0, 'b', 'e', 'f', 'o', 'r', 'e', 5, 0, 'a', 'f', 't', 'e', 'r', 0, 3, 0, 1, 0, 0,
	};
	struct argtrace_session *session;
	struct argtrace_return_counts counts;
	struct seen seen;

	set_filters(probe, insns, ARRAY_SIZE(insns), 0, 0);
	add_output(probe, ARGTRACE_TYPE_U64, 8);
	add_output(probe, ARGTRACE_TYPE_U32, 4);
	add_output(probe, ARGTRACE_TYPE_U16, 2);
	add_output(probe, ARGTRACE_TYPE_U32, 4);
	add_output(probe, ARGTRACE_TYPE_STR, 16);
	add_output(probe, ARGTRACE_TYPE_STR, 16);
	add_output(probe, ARGTRACE_TYPE_U8, 1);
	add_output(probe, ARGTRACE_TYPE_BYTES, 3);
	session = follow(test, probe, ARGTRACE_FORMAT_NO_CALLER);
	KUNIT_EXPECT_EQ(test, target_calls(write_seven, &memory), 2);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	KUNIT_EXPECT_EQ(test, seen.head.size, ALIGN(16 + 8 + sizeof(expected), 8));
	KUNIT_EXPECT_MEMEQ(test, seen.data + 8, expected, sizeof(expected));
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, counts.counts.faults, 1);
	KUNIT_EXPECT_EQ(test, hits(&counts), 1);
}

static u64 word_at(const u8 *at)
{
	u64 word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* Has memory of the caller's that it has not touched. */
static u64 write_user(void *to)
{
	static const char *const text = "now";

	return copy_to_user((void __user *)to, text, 4);
}

static u64 leave_user(void *to)
{
	return 0;
}

/* Behind a result of so many bytes: where the outputs begin at a word, they may be recorded as they are kept. */
static void expect_what_comes_later(struct kunit *test, u8 type, u32 size)
{
	static const struct argtrace_insn insns[] = {
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .mask = ALL, .action = ARGTRACE_DO_STR, .arg = 8,
		  .flags = ARGTRACE_INSN_USER_DATA, .then = ARGTRACE_OUT_AGAIN },
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .mask = ALL, .action = ARGTRACE_DO_STR, .arg = 8,
		  .flags = ARGTRACE_INSN_USER_DATA },
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .mask = ALL, .action = ARGTRACE_DO_MEM, .arg = 2,
		  .flags = ARGTRACE_INSN_USER_DATA, .then = ARGTRACE_OUT_AGAIN | ARGTRACE_OUT_NULL },
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .mask = ALL, OUT(8) },
	};
	struct made_probe *probe = make_return_probe(test, target_calls, 0, type, size, 0);
	const unsigned long user = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, 0);
	struct argtrace_return_counts counts;
	struct argtrace_session *session;
	struct seen seen;
	const u8 *at;

	KUNIT_ASSERT_NE(test, user, 0);
	set_filters(probe, insns, ARRAY_SIZE(insns), 0, 0);
	add_output(probe, ARGTRACE_TYPE_STR, 8);
	add_output(probe, ARGTRACE_TYPE_STR, 8);
	add_output(probe, ARGTRACE_TYPE_BYTES, 2);
	add_output(probe, ARGTRACE_TYPE_U64, 8);
	session = follow(test, probe, ARGTRACE_FORMAT_NO_CALLER);

	/* It is not there at return either. */
	target_calls(leave_user, (void *)user);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	at = seen.data + 8 + size;
	KUNIT_EXPECT_EQ(test, word_at(at), 7);
	KUNIT_EXPECT_EQ(test, word_at(at + 8 + 6), user);

	target_calls(write_user, (void *)user);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	at = seen.data + 8 + size;
	KUNIT_EXPECT_EQ(test, word_at(at), 2);
	KUNIT_EXPECT_MEMEQ(test, at + 8, "\3\0now\0\0\2\0no", 11);
	KUNIT_EXPECT_EQ(test, word_at(at + 8 + 11), user);

	/* What is there is that of the entry. */
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)user, "was", 4), 0);
	target_calls(write_user, (void *)user);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	at = seen.data + 8 + size;
	KUNIT_EXPECT_EQ(test, word_at(at), 0);
	KUNIT_EXPECT_MEMEQ(test, at + 8, "\3\0was\3\0was\2\0wa", 14);
	KUNIT_EXPECT_EQ(test, seen.head.size, ALIGN(16 + 8 + size + 8 + 14 + 8, 8));
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, counts.counts.faults, 2);
	KUNIT_EXPECT_EQ(test, hits(&counts), 3);
	session_remove_all(session);
}

/* User memory that is not there at entry is read at return where that is wanted, and nothing else is. */
static void what_comes_later(struct kunit *test)
{
	expect_what_comes_later(test, ARGTRACE_TYPE_U16, 2);
	expect_what_comes_later(test, ARGTRACE_TYPE_U64, 8);
}

static u64 five = 5, nine = 9;

static u64 leave_pointer(void *pointer)
{
	return 2;
}

static u64 set_pointer(void *pointer)
{
	*(u64 **)pointer = &nine;
	return 2;
}

static u64 clear_pointer(void *pointer)
{
	*(u64 **)pointer = NULL;
	return 2;
}

/* Behind a pointer that may be NULL, on the quick way from the second call on. */
static void numbers_at_entry_and_return(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .loads = 2, .width = 8, .mask = ALL, OUT(8) },
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .loads = 2, .width = 8, .mask = ALL, OUT(4), AT_RETURN },
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .loads = 2, .width = 8, .mask = ALL, OUT(1) },
		{ .source = ARGTRACE_SOURCE_RETURN, .mask = ALL, OUT(2), AT_RETURN },
	};
	static const struct {
		u64 *before;
		u64 (*function)(void *pointer);
		struct { u16 value; u64 unreadable, entered; u32 returned; u8 entered_byte; u16 again; } __packed expected;
	} calls[] = {
		{ &five, leave_pointer, { 3, 0, 5, 5, 5, 3 } },
		{ NULL, set_pointer, { 3, 5, 0, 9, 0, 3 } },
		{ &five, clear_pointer, { 3, 2, 5, 0, 5, 3 } },
		{ NULL, leave_pointer, { 3, 7, 0, 0, 0, 3 } },
		{ &nine, leave_pointer, { 3, 0, 9, 9, 9, 3 } },
	};
	struct made_probe *probe = make_return_probe(test, target_calls, 0, ARGTRACE_TYPE_U16, 2, 0);
	struct argtrace_session *session;
	struct argtrace_return_counts counts;
	struct seen seen;
	u64 *pointer;
	u32 i;

	set_filters(probe, insns, ARRAY_SIZE(insns), 0, 0);
	add_output(probe, ARGTRACE_TYPE_U64, 8);
	add_output(probe, ARGTRACE_TYPE_U32, 4);
	add_output(probe, ARGTRACE_TYPE_U8, 1);
	add_output(probe, ARGTRACE_TYPE_U16, 2);
	session = follow(test, probe, ARGTRACE_FORMAT_NO_CALLER);
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		pointer = calls[i].before;
		KUNIT_EXPECT_EQ(test, target_calls(calls[i].function, &pointer), 3);
		KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
		KUNIT_EXPECT_EQ(test, seen.head.size, ALIGN(16 + 8 + sizeof(calls[i].expected), 8));
		KUNIT_EXPECT_MEMEQ(test, seen.data + 8, &calls[i].expected, sizeof(calls[i].expected));
	}
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, counts.counts.faults, 3);
	KUNIT_EXPECT_EQ(test, counts.counts.records, ARRAY_SIZE(calls));
	KUNIT_EXPECT_EQ(test, hits(&counts), ARRAY_SIZE(calls));
}

static __maybe_unused void more_than_the_kernel_keeps(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);
	struct made_probe *probe = make_text_probe(test, target_value, 0, 3, 0, 7);

	probe->head.flags |= FOLLOWED_BY;
	KUNIT_EXPECT_EQ(test, session_add(test, session, probe), -E2BIG);
	KUNIT_EXPECT_EQ(test, session->catalog.nr_ids, 0);
}

/* Each has its own, however deep they are inside each other. */
static void values_inside_each_other(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ .source = ARGTRACE_SOURCE_STACK, .loads = 1, .width = 8, .mask = ALL, OUT(8) },
		{ .source = ARGTRACE_SOURCE_REG, .mask = ALL, OUT(1) },
		{ .source = ARGTRACE_SOURCE_STACK, .mask = ALL, OUT(8) },
	};
	struct made_probe *probe = make_return_probe(test, target_recursive, 0, ARGTRACE_TYPE_U64, 8, 0);
	struct seen *seen = kunit_kcalloc(test, 21, sizeof(*seen), GFP_KERNEL);
	struct argtrace_session *session;
	u64 stack, below = 0;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	set_filters(probe, insns, ARRAY_SIZE(insns), 0, 0);
	add_output(probe, ARGTRACE_TYPE_U64, 8);
	add_output(probe, ARGTRACE_TYPE_U8, 1);
	add_output(probe, ARGTRACE_TYPE_U64, 8);
	session = follow(test, probe, 0);
	target_recursive(20);
	KUNIT_ASSERT_EQ(test, read_records(test, session, seen, 21), 21);
	for (i = 0; i <= 20; i++) {
		u64 words[5];

		memcpy(words, seen[i].data, sizeof(words));
		if (ARGTRACE_FIRST_STACK_WORD)
			KUNIT_EXPECT_EQ_MSG(test, words[4], words[0], "the caller is what the stack pointer points to, %u", i);
		KUNIT_EXPECT_EQ(test, seen[i].data[40], i);
		memcpy(&stack, seen[i].data + 41, sizeof(stack));
		KUNIT_EXPECT_TRUE(test, object_is_on_stack((void *)stack));
		KUNIT_EXPECT_GT_MSG(test, stack, below, "%u", i);
		below = stack;
	}
}

static void sampled_and_capped(struct kunit *test)
{
	struct made_probe *probe = make_return_probe(test, target_value, 3, ARGTRACE_TYPE_U64, 8, 0);
	struct argtrace_program *head = (void *)probe->program;
	struct argtrace_return_counts counts;
	bool in_time = false;
	u32 i, tries;

	set_filters(probe, NULL, 0, 0, 0);
	head->sample = 4;
	head->max_rate = 3;
	/* All in one second, unless the machine stands still meanwhile. */
	for (tries = 0; tries < 10 && !in_time; tries++) {
		struct argtrace_session *session = follow(test, probe, 0);
		const u64 begun = get_jiffies_64();

		for (i = 0; i < 40; i++)
			call_value(i, 2, 3);
		in_time = get_jiffies_64() - begun < HZ;
		counts = return_counts(session, 1);
		session_remove_all(session);
	}
	KUNIT_ASSERT_TRUE(test, in_time);
	KUNIT_EXPECT_EQ(test, counts.counts.records, 3);
	KUNIT_EXPECT_EQ(test, counts.counts.sampled, 30);
	KUNIT_EXPECT_EQ(test, counts.counts.capped, 7);
	KUNIT_EXPECT_EQ(test, hits(&counts), 40);
}

static void faults_of_filters(struct kunit *test)
{
	static const struct argtrace_insn insn = {
		.source = ARGTRACE_SOURCE_REG, .loads = 1, .width = 8, .mask = ALL, ACCEPT_IF(0, 1)
	};
	u64 readable = 1, unwanted = 2;
	u32 i, round;

	for (i = 0; i < 2; i++) {
		struct made_probe *probe = make_return_probe(test, target_value, 3, ARGTRACE_TYPE_U64, 8, 0);
		struct argtrace_return_counts counts;
		struct argtrace_session *session;

		set_filters(probe, &insn, 1, !i, i);
		session = follow(test, probe, 0);
		for (round = 0; round < 3; round++) {
			call_value(0x10, 2, 3);
			call_value((u64)&readable, 2, 3);
			call_value((u64)&unwanted, 2, 3);
		}
		counts = return_counts(session, 1);
		KUNIT_EXPECT_EQ_MSG(test, counts.counts.records, 3, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, counts.counts.filtered, 6, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, counts.counts.faults, 3, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, hits(&counts), 9, "%u", i);
		session_remove_all(session);
	}
}

static struct kunit_case return_program_cases[] = {
	KUNIT_CASE_PARAM(filters, clock_gen_params),
	KUNIT_CASE_PARAM(filter_on_the_duration, clock_gen_params),
	KUNIT_CASE(values_at_entry_and_return),
	KUNIT_CASE(what_comes_later),
	KUNIT_CASE(numbers_at_entry_and_return),
	KUNIT_CASE(values_inside_each_other),
	KUNIT_CASE(sampled_and_capped),
	KUNIT_CASE(faults_of_filters),
#if FOLLOWED_BY
	KUNIT_CASE(more_than_the_kernel_keeps),
#endif
	{ }
};

static struct kunit_suite return_program_suite = {
	.name = SUITE,
	.init = begin_following,
	.test_cases = return_program_cases,
};
kunit_test_suite(return_program_suite);
